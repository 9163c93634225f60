/** CCXT's calls about orders, on a live venue. */

import { until } from "@perpgate/gateway/testing";
import { errors, type Order } from "ccxt";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { expectOrder } from "./testing/structure.js";
import { live, quote, SYMBOL } from "./testing/venue.js";

const { venue, maker, newExchange } = await live();
const exchange = newExchange();
await exchange.loadMarkets();
await exchange.setLeverage(5, SYMBOL);

beforeEach(async () => {
  await exchange.cancelAllOrders();
  const { contracts } = await exchange.fetchPosition(SYMBOL);
  if (contracts !== 0) await exchange.closePosition(SYMBOL);
  await maker.cancelAll();
  await quote(maker);
});

test("limit order: created, fetched by id and by client id, edited, canceled", async () => {
  const created = await exchange.createOrder(SYMBOL, "limit", "buy", 0.01, 60_000, {
    clientOrderId: "grid-1",
    timeInForce: "GTC",
  });
  expectOrder(exchange, created);
  expect(created).toMatchObject({
    clientOrderId: "grid-1",
    symbol: SYMBOL,
    type: "limit",
    side: "buy",
    timeInForce: "GTC",
    price: 60_000,
    amount: 0.01,
    filled: 0,
    remaining: 0.01,
    status: "open",
  });
  const id = created.id ?? "";
  const fetched = await exchange.fetchOrder(id, SYMBOL);
  expectOrder(exchange, fetched);
  expect(fetched).toMatchObject({ id, status: "open", timestamp: venue.nowMs() });
  expect(await exchange.fetchOrder("", SYMBOL, { clientOrderId: "grid-1" })).toEqual(fetched);
  expect(await exchange.fetchOpenOrders(SYMBOL)).toEqual([fetched]);
  expect(await exchange.fetchOpenOrder(id)).toEqual(fetched);
  const edited = await exchange.editOrder(id, SYMBOL, "limit", "buy", 0.02, 60_100);
  expect(edited).toMatchObject({ id, price: 60_100, amount: 0.02, remaining: 0.02 });
  const canceled = await exchange.cancelOrder(id, SYMBOL);
  expect(canceled).toMatchObject({ id, symbol: SYMBOL, status: "canceled" });
  expect(await exchange.fetchOrder(id)).toMatchObject({ status: "canceled", filled: 0 });
  expect(await exchange.fetchOrder("", SYMBOL, { clientOrderId: "grid-1" })).toMatchObject({ id });
  const ended = await exchange.fetchCanceledOrders(SYMBOL);
  expect(ended.map((order) => order.id)).toContain(id);
  expect((await exchange.fetchClosedOrders(SYMBOL)).map((order) => order.id)).not.toContain(id);
});

test("market order: filled, with average, cost and fee; closed with closePosition", async () => {
  const order = await exchange.createMarketBuyOrder(SYMBOL, 0.01);
  expect(order).toMatchObject({
    type: "market",
    status: "closed",
    filled: 0.01,
    remaining: 0,
    average: 65_100,
    cost: 651,
    fee: { cost: 0.3255, currency: "USD" },
  });
  expect(await exchange.fetchOrder(order.id ?? "")).toMatchObject({ status: "closed", cost: 651 });
  expect(await exchange.closePosition(SYMBOL)).toMatchObject({ side: "sell", status: "closed" });
  expect(await exchange.fetchPositions()).toEqual([]);
  await expect(exchange.closePosition(SYMBOL)).rejects.toThrow(errors.OperationRejected);
  const closed = await exchange.fetchClosedOrders(SYMBOL, 1);
  expect(closed.map(({ side }) => side).slice(-2)).toEqual(["buy", "sell"]);
  expect(await exchange.fetchClosedOrders(SYMBOL, undefined, 1)).toMatchObject([{ side: "sell" }]);
});

test("time in force: IOC, FOK and post-only do what they say", async () => {
  const ioc = { timeInForce: "IOC" };
  expect(await exchange.createLimitBuyOrder(SYMBOL, 0.5, 65_100, ioc)).toMatchObject({
    status: "canceled",
    filled: 0.4,
    remaining: 0.1,
    timeInForce: "IOC",
  });
  const fok = { timeInForce: "FOK" };
  expect(await exchange.createLimitSellOrder(SYMBOL, 0.5, 64_900, fok)).toMatchObject({
    status: "canceled",
    filled: 0,
  });
  await expect(
    exchange.createOrder(SYMBOL, "limit", "sell", 0.01, 64_900, { postOnly: true }),
  ).rejects.toThrow(errors.OrderImmediatelyFillable);
  expect(
    await exchange.createOrder(SYMBOL, "limit", "sell", 0.01, 65_200, { timeInForce: "PO" }),
  ).toMatchObject({ status: "open", postOnly: true, timeInForce: "PO" });
  const expiresAt = venue.nowMs() + 60_000;
  const dated = { timeInForce: "GTD", expiresAt };
  const order = await exchange.createOrder(SYMBOL, "limit", "buy", 0.01, 60_000, dated);
  expect((await exchange.fetchOrder(order.id ?? "")).info).toMatchObject({ expiresAt });
  await expect(
    exchange.createOrder(SYMBOL, "limit", "buy", 0.01, 60_000, { timeInForce: "DAY" }),
  ).rejects.toThrow(errors.NotSupported);
});

test("reduce-only: never opens", async () => {
  await expect(exchange.createReduceOnlyOrder(SYMBOL, "market", "sell", 0.01)).rejects.toThrow(
    errors.InvalidOrder,
  );
  await exchange.createOrder(SYMBOL, "market", "buy", 0.01);
  const closed = await exchange.createOrder(SYMBOL, "market", "sell", 5, undefined, {
    reduceOnly: true,
  });
  expect(closed).toMatchObject({ status: "closed", filled: 0.01, reduceOnly: true });
});

test("triggers: direction by the mark or as given, stop-limit, stop-loss, take-profit", async () => {
  const above = await exchange.createTriggerOrder(SYMBOL, "market", "buy", 0.01, undefined, 66_000);
  const below = await exchange.createTriggerOrder(SYMBOL, "limit", "buy", 0.01, 64_000, 64_100);
  expect(above).toMatchObject({ status: "open", type: "market", triggerPrice: 66_000 });
  expect(above.info).toMatchObject({ status: "pending" });
  expect(below).toMatchObject({ type: "limit", price: 64_000, triggerPrice: 64_100 });
  const infos = (await exchange.fetchOpenOrders(SYMBOL)).map(({ info }) => info.trigger);
  expect(infos).toEqual(["stop", "takeProfit"]);
  const down = { triggerPrice: 66_500, triggerDirection: "descending" };
  await expect(
    exchange.createOrder(SYMBOL, "market", "buy", 0.01, undefined, down),
  ).rejects.toThrow(errors.OrderImmediatelyFillable);
  await exchange.cancelAllOrders(SYMBOL);

  await exchange.createOrder(SYMBOL, "market", "buy", 0.01);
  const loss = await exchange.createStopLossOrder(
    SYMBOL,
    "market",
    "sell",
    0.01,
    undefined,
    62_000,
  );
  expect(loss).toMatchObject({ stopLossPrice: 62_000, reduceOnly: true, status: "open" });
  const gain = await exchange.createTakeProfitOrder(SYMBOL, "limit", "sell", 0.01, 67_900, 68_000);
  expect(gain).toMatchObject({ takeProfitPrice: 68_000, price: 67_900, reduceOnly: true });
  const id = loss.id ?? "";
  const moved = { stopLossPrice: 62_500 };
  const edited = await exchange.editOrder(
    id,
    SYMBOL,
    "market",
    "sell",
    undefined,
    undefined,
    moved,
  );
  expect(edited).toMatchObject({ id, stopLossPrice: 62_500 });
});

test("attached stop-loss and take-profit: one order, two exits that go with the position", async () => {
  const entry = await exchange.createOrderWithTakeProfitAndStopLoss(
    SYMBOL,
    "market",
    "buy",
    0.01,
    undefined,
    70_000,
    61_000,
  );
  const { id } = entry;
  expect(entry).toMatchObject({ status: "closed", filled: 0.01 });
  expect(entry).toMatchObject({ takeProfitPrice: 70_000, stopLossPrice: 61_000 });
  expectOrder(exchange, entry);
  const exits = await exchange.fetchOpenOrders(SYMBOL);
  const exit = { side: "sell", reduceOnly: true, amount: 0.01, info: { parentOrderId: id } };
  expect(exits).toMatchObject([
    { id: `${id}.1`, takeProfitPrice: 70_000, ...exit },
    { id: `${id}.2`, stopLossPrice: 61_000, ...exit },
  ]);
  for (const one of exits) expectOrder(exchange, one);
  expect(await exchange.fetchOrder(`${id}.2`)).toEqual(exits[1]);
  expect(await exchange.fetchOrderTrades(`${id}.2`)).toEqual([]);
  const moved = { stopLossPrice: 62_000 };
  const sell = [SYMBOL, "market", "sell", undefined, undefined] as const;
  expect(await exchange.editOrder(`${id}.2`, ...sell, moved)).toMatchObject(moved);
  expect(await exchange.cancelOrder(`${id}.1`, SYMBOL)).toMatchObject({ id: `${id}.1` });
  await exchange.closePosition(SYMBOL);
  expect(await exchange.fetchOpenOrders(SYMBOL)).toEqual([]);
});

test("attached exits: with limits, over the socket, of many orders; a wrong price refuses the order", async () => {
  const exits = {
    takeProfit: { triggerPrice: 70_000, price: 69_900 },
    stopLoss: { triggerPrice: 61_000, price: 60_900, type: "limit" },
  };
  const limits = [
    { takeProfitPrice: 70_000, price: 69_900, type: "limit" },
    { stopLossPrice: 61_000, price: 60_900, type: "limit" },
  ];
  const open = () => exchange.fetchOpenOrders(SYMBOL);
  await exchange.createOrderWs(SYMBOL, "market", "buy", 0.01, undefined, exits);
  expect(await open()).toMatchObject(limits);
  await exchange.closePosition(SYMBOL);
  const buy = { symbol: SYMBOL, type: "market", side: "buy", amount: 0.01 } as const;
  await exchange.createOrders([{ ...buy, params: exits }]);
  expect(await open()).toMatchObject(limits);
  await exchange.closePosition(SYMBOL);
  const wrong = { stopLoss: { triggerPrice: 70_000 } };
  const refused = exchange.createOrder(SYMBOL, "market", "buy", 0.01, undefined, wrong);
  await expect(refused).rejects.toThrow(errors.InvalidOrder);
  await expect(refused).rejects.toThrow(/exit_price/);
  expect(await exchange.fetchPositions([SYMBOL])).toEqual([]);
  expect(await open()).toEqual([]);
});

test("attached exits of an entry that the book does not fill end with it", async () => {
  const entry = await exchange.createOrder(SYMBOL, "limit", "buy", 0.01, 60_000, {
    timeInForce: "IOC",
    stopLoss: { triggerPrice: 59_000 },
  });
  expect(entry).toMatchObject({ status: "canceled", filled: 0 });
  expect(await exchange.fetchOpenOrders(SYMBOL)).toEqual([]);
});

test("validUntil: with exits and of many orders it is that of the batch", async () => {
  const [late, ahead] = [{ validUntil: 1 }, { validUntil: venue.nowMs() + 60_000 }];
  const stopLoss = { triggerPrice: 61_000 };
  const enter = (params: object) =>
    exchange.createOrder(SYMBOL, "market", "buy", 0.01, undefined, { stopLoss, ...params });
  await expect(enter(late)).rejects.toThrow(/too_late/);
  expect(await enter(ahead)).toMatchObject({ status: "closed" });
  const bid = { symbol: SYMBOL, type: "limit", side: "buy", amount: 0.001, price: 60_000 } as const;
  const refused = { status: "rejected", info: { code: "too_late" } };
  expect(await exchange.createOrders([bid, bid], late)).toMatchObject([refused, refused]);
  expect(await exchange.createOrders([{ ...bid, params: ahead }])).toMatchObject([
    { status: "open" },
  ]);
  await expect(exchange.createOrders([{ ...bid, params: ahead }, bid])).rejects.toThrow(
    errors.BadRequest,
  );
});

test("many orders: at most 50 are created, canceled in batches, refusals in place", async () => {
  const bid = { symbol: SYMBOL, type: "limit", side: "buy", amount: 0.001 } as const;
  const requests = Array.from({ length: 60 }, (_, at) => ({ ...bid, price: 60_000 + at }));
  await expect(exchange.createOrders(requests)).rejects.toThrow(errors.BadRequest);
  expect(await exchange.fetchOpenOrders()).toEqual([]);
  const first = await exchange.createOrders([...requests.slice(0, 49), { ...bid, price: 1 }]);
  expect(first[49]).toMatchObject({ status: "rejected", info: { code: "price_too_far" } });
  const orders = [...first.slice(0, 49), ...(await exchange.createOrders(requests.slice(49)))];
  expect(orders).toHaveLength(60);
  expect(orders.every(({ status }) => status === "open")).toBe(true);
  const ids = orders.slice(0, 52).map(({ id }) => id ?? "");
  const canceled = await exchange.cancelOrders([...ids, "1"], SYMBOL);
  expect(canceled.slice(0, 52).every(({ status }) => status === "canceled")).toBe(true);
  expect(canceled.slice(52)).toMatchObject([{ status: "rejected" }]);
  expect(await exchange.cancelAllOrders(SYMBOL)).toHaveLength(8);
  expect(await exchange.cancelAllOrdersAfter(60_000)).toMatchObject({
    cancelAt: expect.any(Number),
  });
  await exchange.cancelAllOrdersAfter(0);
});

test("the calls that end in Ws: the same over the socket", async () => {
  const sent = vi.spyOn(exchange, "fetch");
  onTestFinished(() => sent.mockRestore());
  const posts = () => sent.mock.calls.filter(([, method]) => method === "POST");
  const named = { clientOrderId: "socket" };
  const placed = await exchange.createOrderWs(SYMBOL, "limit", "buy", 0.01, 60_000, named);
  expect(placed).toMatchObject({ clientOrderId: "socket", status: "open", amount: 0.01 });
  const id = placed.id ?? "";
  const edited = await exchange.editOrderWs(id, SYMBOL, "limit", "buy", 0.02, 60_100);
  expectOrder(exchange, edited);
  expect(edited).toMatchObject({ id, amount: 0.02, price: 60_100 });
  const late = exchange.cancelOrderWs(id, SYMBOL, { validUntil: 1 });
  await expect(late).rejects.toThrow(/too_late/);
  expect(await exchange.cancelOrderWs("", SYMBOL, named)).toMatchObject({ id, status: "canceled" });
  await expect(exchange.cancelOrderWs(id, SYMBOL)).rejects.toThrow(errors.OrderNotFound);
  const bid = { symbol: SYMBOL, type: "limit", side: "buy", amount: 0.001, price: 60_000 } as const;
  const [first, refused] = await exchange.createOrdersWs([bid, { ...bid, price: 1 }]);
  expect(refused).toMatchObject({ status: "rejected", info: { code: "price_too_far" } });
  expect(await exchange.cancelOrdersWs([first?.id ?? ""], SYMBOL)).toMatchObject([
    { status: "canceled" },
  ]);
  const exit = { stopLoss: { triggerPrice: 61_000 } };
  await exchange.createOrderWs(SYMBOL, "market", "buy", 0.01, undefined, exit);
  const [stop] = await exchange.fetchOpenOrders(SYMBOL);
  expect(await exchange.cancelAllOrdersWs(SYMBOL)).toMatchObject([{ id: stop?.id }]);
  await expect(exchange.createOrderWs(SYMBOL, "limit", "buy", 10, 60_000)).rejects.toThrow(
    errors.InsufficientFunds,
  );
  expect(posts()).toEqual([]);
});

test("editOrders: one batch, refusals in place", async () => {
  const bid = { symbol: SYMBOL, type: "limit", side: "buy", amount: 0.001 } as const;
  const stop = { ...bid, type: "market", params: { triggerPrice: 66_000, clientOrderId: "stop" } };
  const [first, second] = await exchange.createOrders([{ ...bid, price: 60_000 }, stop]);
  const id = first?.id ?? "";
  const moved = {
    ...stop,
    amount: undefined,
    params: { clientOrderId: "stop", triggerPrice: 66_500 },
  };
  const edits = await exchange.editOrders([
    { ...bid, id, amount: 0.002, price: 60_100 },
    moved,
    { ...bid, id, price: 1 },
    { ...bid, id: "999999", price: 60_000 },
  ]);
  expect(edits).toMatchObject([
    { id, amount: 0.002, price: 60_100, status: "open" },
    { id: second?.id, triggerPrice: 66_500, amount: 0.001 },
    { id, status: "rejected", info: { code: "price_too_far" } },
    { id: "999999", status: "rejected", info: { code: "order_not_found" } },
  ]);
  for (const order of edits.slice(0, 2)) expectOrder(exchange, order);
  // An edit that fills its order: read although it is not open any more.
  const crossing = { ...bid, id, amount: 0.002, price: 65_200 };
  expect(await exchange.editOrders([crossing])).toMatchObject([{ id, status: "closed" }]);
  expect(await exchange.editOrders([])).toEqual([]);
  const late = await exchange.editOrders([moved], { validUntil: 1 });
  expect(late).toMatchObject([{ status: "rejected", info: { code: "too_late" } }]);
  for (const wrong of [
    [{ ...moved, side: "sell" }],
    [{ ...moved, params: { ...moved.params, postOnly: true } }],
    [moved, { ...moved, params: { ...moved.params, validUntil: 1 } }],
    Array.from({ length: 51 }, () => moved),
  ]) {
    await expect(exchange.editOrders(wrong)).rejects.toThrow(errors.BadRequest);
  }
});

test("triggerPriceType: mark is what it is; another price is refused, not dropped", async () => {
  const mark = { triggerPriceType: "mark" };
  const terms = { triggerPrice: 66_000, ...mark };
  const create = (params: object) =>
    exchange.createOrder(SYMBOL, "market", "buy", 0.01, undefined, params);
  const { id = "" } = await create(terms);
  const edit = (params: object) =>
    exchange.editOrder(id, SYMBOL, "market", "buy", undefined, undefined, params);
  expect(await edit({ triggerPrice: 66_100, ...mark })).toMatchObject({ triggerPrice: 66_100 });
  const entry = await create({ stopLoss: { triggerPrice: 61_000, ...mark, type: "market" } });
  expect(entry).toMatchObject({ status: "closed" });
  for (const triggerPriceType of ["last", "index"]) {
    for (const order of [
      () => create({ triggerPrice: 66_000, triggerPriceType }),
      () => create({ stopLoss: { triggerPrice: 61_000, triggerPriceType } }),
      () => create({ takeProfit: { triggerPrice: 70_000, priceType: triggerPriceType } }),
      () => edit({ triggerPrice: 66_200, triggerPriceType }),
    ]) {
      await expect(order()).rejects.toThrow(errors.NotSupported);
    }
  }
  for (const stopLoss of [
    { triggerPrice: 61_000, price: 60_900, type: "market" },
    { triggerPrice: 61_000, type: "limit" },
  ]) {
    await expect(create({ stopLoss })).rejects.toThrow(errors.BadRequest);
  }
  for (const other of [{ amount: 0.005 }, { type: "stop" }]) {
    const stopLoss = { triggerPrice: 61_000, ...other };
    await expect(create({ stopLoss })).rejects.toThrow(errors.NotSupported);
  }
});

test("amounts: what is filled and what is left, also of an order by margin or a clamped exit", async () => {
  const byMargin = { margin: 100 };
  const nothing: unknown[] = [SYMBOL, "market", "buy", undefined, undefined, byMargin];
  const bought: Order = await Reflect.apply(exchange.createOrder, exchange, nothing);
  const closed = await exchange.createOrder(SYMBOL, "market", "sell", 5, undefined, {
    reduceOnly: true,
  });
  const part = await exchange.createOrder(SYMBOL, "limit", "buy", 0.5, 65_100);
  for (const order of [bought, closed, part]) {
    expectOrder(exchange, order);
    const fetched = await exchange.fetchOrder(order.id ?? "");
    expectOrder(exchange, fetched);
    const { amount, filled, remaining, timestamp } = order;
    expect(fetched).toMatchObject({ amount, filled, remaining, timestamp });
  }
  expect(closed).toMatchObject({ amount: bought.filled, remaining: 0 });
});

test("leverage and margin", async () => {
  await expect(exchange.setLeverage(51, SYMBOL)).rejects.toThrow(errors.BadRequest);
  await exchange.setLeverage(10, SYMBOL);
  expect(await exchange.fetchLeverage(SYMBOL)).toMatchObject({ longLeverage: 10 });
  await exchange.createOrder(SYMBOL, "market", "buy", 0.01);
  const { collateral = 0 } = await exchange.fetchPosition(SYMBOL);
  expect(collateral).toBeLessThan(70);
  const added = await exchange.addMargin(SYMBOL, 20);
  expect(added).toMatchObject({ type: "add", amount: 20, total: collateral + 20, code: "USD" });
  expect(await exchange.reduceMargin(SYMBOL, 5)).toMatchObject({ total: collateral + 15 });
  expect((await exchange.setMargin(SYMBOL, 100)).total).toBeCloseTo(100, 6);
  await expect(exchange.reduceMargin(SYMBOL, 99)).rejects.toThrow(errors.InsufficientFunds);
  const once = { leverage: 2 };
  const order = await exchange.createOrder(SYMBOL, "limit", "buy", 0.01, 60_000, once);
  expect((await exchange.fetchOrder(order.id ?? "")).info).toMatchObject({ leverage: 2 });
  expect(await exchange.fetchMarginMode(SYMBOL)).toMatchObject({ marginMode: "isolated" });
  expect(await exchange.setMarginMode("isolated", SYMBOL)).toMatchObject({ symbol: SYMBOL });
  await expect(exchange.setMarginMode("cross", SYMBOL)).rejects.toThrow(errors.NotSupported);
  await expect(exchange.setMarginMode("portfolio", SYMBOL)).rejects.toThrow(errors.BadRequest);
  await expect(exchange.setMarginMode("isolated")).rejects.toThrow(errors.ArgumentsRequired);
  expect(await exchange.setPositionMode(false)).toMatchObject({ hedged: false });
  await expect(exchange.setPositionMode(true)).rejects.toThrow(errors.NotSupported);
});

test("exceptions: CCXT's classes", async () => {
  const order = (amount: number, price: number, params = {}) =>
    exchange.createOrder(SYMBOL, "limit", "buy", amount, price, params);
  await expect(order(10, 60_000)).rejects.toThrow(errors.InsufficientFunds);
  await expect(order(0.0000001, 60_000)).rejects.toThrow(errors.InvalidOrder);
  await expect(order(0.01, 90_000)).rejects.toThrow(errors.InvalidOrder);
  await expect(order(0.01, 60_000, { trailingPercent: 1 })).rejects.toThrow(errors.NotSupported);
  await expect(order(0.01, 60_000, { marginMode: "cross" })).rejects.toThrow(errors.NotSupported);
  await expect(order(0.01, 60_000, { colour: "red" })).rejects.toThrow(errors.BadRequest);
  await order(0.01, 60_000, { clientOrderId: "twice" });
  await expect(order(0.01, 60_000, { clientOrderId: "twice" })).rejects.toThrow(
    errors.DuplicateOrderId,
  );
  await expect(exchange.createOrder(SYMBOL, "limit", "buy", 1)).rejects.toThrow(
    errors.ArgumentsRequired,
  );
  await expect(exchange.cancelOrder("1", SYMBOL)).rejects.toThrow(errors.OrderNotFound);
  await expect(exchange.fetchOrder("999999")).rejects.toThrow(errors.OrderNotFound);
  await expect(exchange.fetchTicker("NO/USD:USD")).rejects.toThrow(errors.BadSymbol);
  const anonymous = newExchange({ privateKey: undefined });
  await expect(anonymous.fetchBalance()).rejects.toThrow(errors.AuthenticationError);
  const elsewhere = newExchange({ urls: { api: "http://127.0.0.1:9" } });
  await expect(elsewhere.fetchTime()).rejects.toThrow(errors.NetworkError);
});

test("sessions: one sign-in for concurrent calls, caps, a saved session without the private key", async () => {
  const capped = newExchange({ options: { sessionCaps: { maxOrderNotional: 100 } } });
  const [first] = await Promise.all([
    capped.signIn(),
    capped.fetchBalance(),
    capped.fetchPositions(),
  ]);
  expect(await capped.privateGetV1AuthSessions()).toHaveLength(1);
  expect(first.address).toMatch(/^0x[0-9a-fA-F]{40}$/);
  await expect(capped.createOrder(SYMBOL, "limit", "buy", 0.01, 60_000)).rejects.toThrow(
    errors.PermissionDenied,
  );
  const saved = newExchange({ privateKey: undefined, options: { session: maker.save() } });
  expect((await saved.fetchOpenOrders(SYMBOL)).length).toBeGreaterThan(0);
  expect(await saved.publicGetV1Markets()).toHaveLength(3);
});

test("a venue without a log is asked for its log once, not with each order", async () => {
  const trader = newExchange();
  await trader.loadMarkets();
  const warned = vi.spyOn(console, "warn");
  onTestFinished(() => warned.mockRestore());
  const sent = vi.spyOn(trader, "fetch");
  for (let i = 0; i < 3; i++) {
    await trader.createOrder(SYMBOL, "limit", "buy", 0.01, 60_000 + i);
    // What is waiting is checked behind the answer.
    await until(() => honestyReads(sent.mock.calls) > 0);
    await trader.fetchBalance();
  }
  expect(honestyReads(sent.mock.calls)).toBe(1);
  expect(warned).not.toHaveBeenCalled();
});

function honestyReads(calls: readonly (readonly unknown[])[]): number {
  return calls.filter(([url]) => String(url).endsWith("/v1/honesty")).length;
}
