/** What a program gets wrong: CCXT's exception for it, and nothing sent that was not meant. */

import { runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import { ERROR_TABLE } from "@perpgate/protocol";
import { PerpgateClient, privateKeyAccount } from "@perpgate/sdk";
import { errors } from "ccxt";
import { expect, onTestFinished, test, vi } from "vitest";
import { LOCAL_URL } from "./describe.js";
import { exceptionOf } from "./exceptions.js";
import { live, quote, SYMBOL } from "./testing/venue.js";

const { venue, maker, newExchange } = await live();
await quote(maker);
const exchange = newExchange();
await exchange.loadMarkets();

const limit = (side: string, amount: number, price: number, params = {}) =>
  exchange.createOrder(SYMBOL, "limit", side, amount, price, params);
const market = (side: string, amount: number, params: object) =>
  exchange.createOrder(SYMBOL, "market", side, amount, undefined, params);

test("a side that is neither buy nor sell: refused, not bought", async () => {
  for (const side of ["short", "long", "", "undefined"]) {
    await expect(limit(side, 0.01, 60_000)).rejects.toThrow(errors.InvalidOrder);
  }
  expect(await exchange.fetchOrders(SYMBOL)).toEqual([]);
  expect(await limit("SELL", 0.01, 70_000)).toMatchObject({ side: "sell", status: "open" });
  await exchange.cancelAllOrders();
});

test("amounts and prices that are no positive numbers", async () => {
  for (const wrong of [0, -0.01, Number.NaN, Number.POSITIVE_INFINITY, 0.000001]) {
    await expect(limit("buy", wrong, 60_000), `${wrong}`).rejects.toThrow(errors.InvalidOrder);
  }
  for (const wrong of [0, -1, Number.NaN]) {
    await expect(limit("buy", 0.01, wrong), `${wrong}`).rejects.toThrow(errors.InvalidOrder);
    const stop = { triggerPrice: wrong };
    await expect(market("buy", 0.01, stop), `${wrong}`).rejects.toThrow(errors.InvalidOrder);
  }
  const nothing: unknown[] = [SYMBOL, "market", "buy"];
  await expect(Reflect.apply(exchange.createOrder, exchange, nothing)).rejects.toThrow(
    errors.ArgumentsRequired,
  );
});

test("off the lot and the tick: rounded, also triggers and attached exits", async () => {
  expect(await limit("buy", 0.0123456, 60_000.07)).toMatchObject({
    amount: 0.01234,
    price: 60_000.1,
  });
  const stop = await market("buy", 0.01, { triggerPrice: 66_000.123 });
  expect(stop).toMatchObject({ triggerPrice: 66_000.1, status: "open" });
  const moved = { triggerPrice: 66_100.18 };
  const edited = exchange.editOrder(stop.id ?? "", SYMBOL, "market", "buy", 0.01, undefined, moved);
  expect(await edited).toMatchObject({ triggerPrice: 66_100.2 });
  await exchange.cancelAllOrders();
  await market("buy", 0.01, {
    stopLoss: { triggerPrice: 61_000.123 },
    takeProfit: { triggerPrice: 70_000.456 },
  });
  const exits = await exchange.fetchOpenOrders(SYMBOL);
  expect(exits).toMatchObject([{ takeProfitPrice: 70_000.5 }, { stopLossPrice: 61_000.1 }]);
  await exchange.closePosition(SYMBOL);
});

test("terms that contradict each other or lack a part: refused, none dropped", async () => {
  const both = { stopLossPrice: 62_000, takeProfitPrice: 70_000 };
  await expect(market("sell", 0.01, both)).rejects.toThrow(errors.NotSupported);
  const two = { stopLossPrice: 62_000, triggerPrice: 63_000 };
  await expect(market("sell", 0.01, two)).rejects.toThrow(errors.NotSupported);
  await expect(limit("buy", 0.01, 60_000, { timeInForce: "GTD" })).rejects.toThrow(
    errors.ArgumentsRequired,
  );
  expect(await exchange.fetchOpenOrders()).toEqual([]);
});

test("parameters do not replace arguments; an undefined reduceOnly leaves an exit reduce-only", async () => {
  const before = await exchange.fetchOrders();
  for (const params of [
    { symbol: "ETHUSD" },
    { side: "short" },
    { type: "market" },
    { size: 1 },
    { price: 64_000 },
    { trigger: "stop" },
    { limitPrice: 64_000 },
  ]) {
    const order = limit("buy", 0.01, 60_000, params);
    await expect(order, JSON.stringify(params)).rejects.toThrow(errors.BadRequest);
  }
  expect(await exchange.fetchOrders()).toEqual(before);
  await market("buy", 0.01, { clientOrderId: undefined, price: undefined });
  const exit = await market("sell", 0.01, { stopLossPrice: 62_000, reduceOnly: undefined });
  expect(exit).toMatchObject({ reduceOnly: true, stopLossPrice: 62_000 });
  expect(await exchange.fetchOrder(exit.id ?? "")).toMatchObject({ reduceOnly: true });
  await exchange.cancelAllOrders();
  await exchange.closePosition(SYMBOL);
});

test("editOrder: what it cannot change is refused, not dropped; validUntil is sent", async () => {
  const { id = "" } = await limit("buy", 0.01, 60_000);
  const edit = (type: string, side: string, params = {}, symbol = SYMBOL) =>
    exchange.editOrder(id, symbol, type, side, 0.02, 60_100, params);
  for (const params of [
    { postOnly: true },
    { leverage: 3 },
    { stopLoss: { triggerPrice: 50_000 } },
    { triggerPrice: 61_000 },
  ]) {
    const edited = edit("limit", "buy", params);
    await expect(edited, JSON.stringify(params)).rejects.toThrow(errors.BadRequest);
  }
  await expect(edit("market", "buy")).rejects.toThrow(errors.BadRequest);
  await expect(edit("limit", "sell")).rejects.toThrow(errors.BadRequest);
  await expect(edit("limit", "buy", {}, "ETH/USD:USD")).rejects.toThrow(errors.BadRequest);
  await expect(edit("limit", "buy", { validUntil: 1 })).rejects.toThrow(/too_late/);
  expect(await exchange.fetchOrder(id)).toMatchObject({ amount: 0.01, price: 60_000 });
  const terms = { validUntil: venue.nowMs() + 60_000, postOnly: undefined };
  expect(await edit("limit", "BUY", terms)).toMatchObject({ amount: 0.02, price: 60_100 });
});

test("cancelOrder and cancelOrders with a validUntil that has passed: refused", async () => {
  const { id = "" } = await limit("buy", 0.01, 60_000);
  const late = { validUntil: 1 };
  await expect(exchange.cancelOrder(id, SYMBOL, late)).rejects.toThrow(/too_late/);
  const [kept] = await exchange.cancelOrders([id], SYMBOL, late);
  expect(kept).toMatchObject({ status: "rejected", info: { code: "too_late" } });
  expect(await exchange.fetchOrder(id)).toMatchObject({ status: "open" });
  await exchange.cancelAllOrders();
});

test("orders that are unknown, over, or have no name", async () => {
  for (const id of ["abc", "-1", "1e3", "../account", "9".repeat(24), "999999"]) {
    await expect(exchange.fetchOrder(id), id).rejects.toThrow(errors.OrderNotFound);
    await expect(exchange.cancelOrder(id, SYMBOL), id).rejects.toThrow(errors.OrderNotFound);
    await expect(exchange.editOrder(id, SYMBOL, "limit", "buy", 1, 60_000), id).rejects.toThrow(
      errors.OrderNotFound,
    );
  }
  await expect(exchange.fetchOrder("")).rejects.toThrow(errors.ArgumentsRequired);
  await expect(exchange.cancelOrder("")).rejects.toThrow(errors.ArgumentsRequired);
  await expect(exchange.cancelOrders(["abc"])).rejects.toThrow(errors.OrderNotFound);
  const { id = "" } = await market("buy", 0.01, {});
  await expect(exchange.cancelOrder(id)).rejects.toThrow(errors.OrderNotFound);
  await expect(exchange.editOrder(id, SYMBOL, "limit", "buy", 0.02, 60_000)).rejects.toThrow(
    errors.OrderNotFound,
  );
  const named = { clientOrderId: "once" };
  await limit("buy", 0.01, 60_000, named);
  await exchange.cancelOrder("", SYMBOL, named);
  await expect(exchange.cancelOrder("", SYMBOL, named)).rejects.toThrow(errors.OrderNotFound);
  await expect(
    exchange.editOrder("", SYMBOL, "limit", "buy", 1, 60_000, { clientOrderId: "none" }),
  ).rejects.toThrow(errors.OrderNotFound);
});

test("editOrder by client id: the price of a waiting limit order is its limit, not its trigger", async () => {
  const named = { clientOrderId: "waiting" };
  await limit("buy", 0.01, 66_100, { ...named, triggerPrice: 66_000 });
  const edited = await exchange.editOrder("", SYMBOL, "limit", "buy", 0.02, 66_200, named);
  expect(edited).toMatchObject({ triggerPrice: 66_000, price: 66_200, amount: 0.02 });
  await exchange.cancelAllOrders();
});

test("fetchOpenOrders with until: later orders are left out", async () => {
  const { id } = await limit("buy", 0.01, 60_000);
  await venue.advance(1_000);
  const later = await limit("buy", 0.01, 60_001);
  const [first, second] = await exchange.fetchOpenOrders(SYMBOL);
  expect([first?.id, second?.id]).toEqual([id, later.id]);
  const until = first?.timestamp;
  const found = await exchange.fetchOpenOrders(SYMBOL, undefined, undefined, { until });
  expect(found.map((order) => order.id)).toEqual([id]);
  await exchange.cancelAllOrders();
});

test("urls.api of one kind of call is that of all; two gateways are refused", async () => {
  for (const api of [{ public: venue.url }, { private: venue.url }]) {
    expect(await newExchange({ urls: { api } }).fetchBalance()).toMatchObject({ free: {} });
  }
  for (const kind of ["public", "private"]) {
    const exchange = newExchange({ urls: {} });
    const { api }: { api: Record<string, string> } = exchange.urls;
    api[kind] = venue.url;
    expect(await exchange.fetchBalance()).toMatchObject({ free: {} });
  }
  for (const other of ["http://127.0.0.1:9", LOCAL_URL]) {
    const two = newExchange({ urls: { api: { public: venue.url, private: other } } });
    await expect(two.fetchBalance(), other).rejects.toThrow(errors.NotSupported);
    await expect(two.fetchTime(), other).rejects.toThrow(errors.NotSupported);
  }
});

test("setSandboxMode: the venue of urls.test, in either form, and back", async () => {
  const nowhere = "http://127.0.0.1:9";
  for (const [api, test] of [
    [nowhere, venue.url],
    [nowhere, { public: venue.url, private: venue.url }],
    [{ public: nowhere, private: nowhere }, venue.url],
  ]) {
    const exchange = newExchange({ urls: { api, test } });
    await expect(exchange.fetchTime()).rejects.toThrow(errors.NetworkError);
    exchange.setSandboxMode(true);
    // Twice is once.
    exchange.setSandboxMode(true);
    expect(await exchange.fetchBalance()).toMatchObject({ USD: { total: 10_000 } });
    exchange.setSandboxMode(false);
    await expect(exchange.fetchTime()).rejects.toThrow(errors.NetworkError);
  }
  const testnet = newExchange({ urls: { api: nowhere, test: venue.url }, sandbox: true });
  expect(testnet.isSandboxModeEnabled).toBe(true);
  expect(await testnet.fetchTime()).toBe(venue.nowMs());
  const plain = newExchange({ urls: {} });
  plain.setSandboxMode(true);
  expect(plain.urls.api).toBe(LOCAL_URL);
});

test("setSandboxMode on an open exchange: watches end, the session and the markets are left", async () => {
  const exchange = newExchange({ urls: { api: venue.url, test: "http://127.0.0.1:9" } });
  await exchange.watchBalance();
  const waiting = expect(exchange.watchBalance()).rejects.toThrow(errors.ExchangeClosedByUser);
  await new Promise(setImmediate);
  exchange.setSandboxMode(true);
  await waiting;
  await expect(exchange.loadMarkets()).rejects.toThrow(errors.NetworkError);
  await expect(exchange.fetchBalance()).rejects.toThrow(errors.NetworkError);
  await expect(exchange.watchBalance()).rejects.toThrow(errors.NetworkError);
});

test("setSandboxMode during a sign-in: the session of the other venue is not taken for this one's", async () => {
  const other = await runVenue({ startMs: startAheadOfClients() });
  const exchange = newExchange({ urls: { api: other.url, test: venue.url } });
  const send = exchange.fetch.bind(exchange);
  let switched: Promise<unknown> | undefined;
  vi.spyOn(exchange, "fetch").mockImplementation(async (url, ...request) => {
    const answer = await send(url, ...request);
    if (url !== `${other.url}/v1/auth/siwe`) return answer;
    // While this answer is in flight, the program switches and signs in there.
    exchange.setSandboxMode(true);
    switched = exchange.fetchBalance();
    await switched;
    return answer;
  });
  await exchange.signIn();
  expect(await switched).toMatchObject({ USD: { total: 10_000 } });
  await endSessionsOf(exchange.privateKey);
  await expect(exchange.fetchBalance()).rejects.toThrow(errors.AuthenticationError);
  expect(await exchange.fetchBalance()).toMatchObject({ USD: { total: 10_000 } });
});

test("last_request_url, headers and body: those of the last request", async () => {
  await limit("buy", 0.01, 60_000);
  const { last_request_url: url, last_request_body: body } = exchange;
  expect(url).toBe(`${venue.url}/v1/orders`);
  expect(JSON.parse(String(body))).toMatchObject({ symbol: "BTCUSD", price: 60_000 });
  expect(exchange.last_request_headers).toMatchObject({ "x-service-sig": expect.any(String) });
  await exchange.cancelAllOrders();
});

test("credentials that are none: AuthenticationError", async () => {
  const { AuthenticationError } = errors;
  for (const privateKey of ["abc", `0x${"00".repeat(32)}`, "zz".repeat(32)]) {
    await expect(newExchange({ privateKey }).fetchBalance()).rejects.toThrow(AuthenticationError);
    await expect(newExchange({ privateKey }).watchBalance()).rejects.toThrow(AuthenticationError);
  }
  const options = { session: { token: "unknown" } };
  await expect(newExchange({ options }).fetchBalance()).rejects.toThrow(AuthenticationError);
});

test("lists: trades of one moment in their order; the ledger is in dollars", async () => {
  for (let at = 0; at < 10; at++) await market(at % 2 === 0 ? "buy" : "sell", 0.001, {});
  const ids = (await exchange.fetchTrades(SYMBOL)).map(({ id }) => Number.parseInt(id ?? "", 10));
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
  expect(await exchange.fetchLedger("BTC")).toEqual([]);
  await expect(exchange.fetchLedger("XYZ")).rejects.toThrow(errors.ExchangeError);
});

test("a session that was ended elsewhere: the call says so, the next signs in again", async () => {
  const other = newExchange({ privateKey: exchange.privateKey });
  await other.watchBalance();
  const waiting = other.watchOrders(SYMBOL);
  const ended = expect(waiting).rejects.toThrow(errors.AuthenticationError);
  const client = new PerpgateClient({ url: venue.url });
  const session = await client.signIn({ account: privateKeyAccount(exchange.privateKey) });
  await session.endOtherSessions();
  await ended;
  const again = other.watchOrders(SYMBOL);
  await other.watchBalance();
  await other.createOrder(SYMBOL, "limit", "buy", 0.01, 60_000);
  expect(await again).toMatchObject([{ status: "open" }]);
});

test("an implicit method of a session that was ended elsewhere: the next call signs in again", async () => {
  const other = newExchange();
  await other.fetchBalance();
  await endSessionsOf(other.privateKey);
  await expect(other.privateGetV1AuthSessions()).rejects.toThrow(errors.AuthenticationError);
  expect(await other.privateGetV1AuthSessions()).toHaveLength(2);
});

test("an order beyond the caps: the session stays", async () => {
  const capped = newExchange({ options: { sessionCaps: { maxOrderNotional: 100 } } });
  for (let attempt = 0; attempt < 2; attempt++) {
    const order = capped.createOrder(SYMBOL, "limit", "buy", 0.01, 60_000);
    await expect(order).rejects.toThrow(errors.PermissionDenied);
  }
  expect(await capped.privateGetV1AuthSessions()).toHaveLength(1);
});

test("an error of a session that was replaced meanwhile: the new one stays", async () => {
  const other = newExchange();
  await other.fetchBalance();
  await endSessionsOf(other.privateKey);
  const send = other.fetch.bind(other);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  vi.spyOn(other, "fetch").mockImplementationOnce(async (...request) => {
    const refusal: unknown = await send(...request).catch((error: unknown) => error);
    await held;
    throw refusal;
  });
  const late = expect(other.fetchBalance()).rejects.toThrow(errors.AuthenticationError);
  await expect(other.fetchBalance()).rejects.toThrow(errors.AuthenticationError);
  expect(await other.privateGetV1AuthSessions()).toHaveLength(2);
  release();
  await late;
  expect(await other.privateGetV1AuthSessions()).toHaveLength(2);
});

/** Ends the account's sessions; one of another program is left. */
async function endSessionsOf(privateKey: string): Promise<void> {
  const client = new PerpgateClient({ url: venue.url });
  const session = await client.signIn({ account: privateKeyAccount(privateKey) });
  await session.endOtherSessions();
}

test("a session that is left, because it was ended elsewhere or by close(): its renewal is too", async () => {
  const set = vi.spyOn(globalThis, "setTimeout");
  const cleared = vi.spyOn(globalThis, "clearTimeout");
  onTestFinished(() => {
    set.mockRestore();
    cleared.mockRestore();
  });
  const other = newExchange();
  const client = new PerpgateClient({ url: venue.url });
  const session = await client.signIn({ account: privateKeyAccount(other.privateKey) });
  for (const leave of [
    async () => {
      await session.endOtherSessions();
      await expect(other.fetchBalance()).rejects.toThrow(errors.AuthenticationError);
    },
    () => other.close(),
  ]) {
    set.mockClear();
    await other.fetchBalance();
    // The only timer of hours.
    const index = set.mock.calls.findIndex(([, ms = 0]) => ms > 3_600_000);
    const renewal = set.mock.results[index]?.value;
    expect(renewal).toBeDefined();
    expect(cleared).not.toHaveBeenCalledWith(renewal);
    await leave();
    expect(cleared).toHaveBeenCalledWith(renewal);
  }
});

test("errors after which an order may have been executed: NetworkError", () => {
  const unsettled = Object.entries(ERROR_TABLE).filter(
    ([, { status }]) => status >= 500 || status === 408,
  );
  expect(unsettled.map(([code]) => code)).toContain("outcome_unknown");
  for (const [code, { status }] of unsettled) {
    expect(new (exceptionOf(code, status))(""), code).toBeInstanceOf(errors.NetworkError);
  }
  // A response that the SDK cannot read has the status of a success.
  const unread = new (exceptionOf("unexpected_answer", 200))("");
  expect(unread).toBeInstanceOf(errors.NetworkError);
});

test("every error of the venue: InvalidOrder for what an order breaks, others by their kind", () => {
  const classes = Object.entries(ERROR_TABLE).map(
    ([code, { status }]) => [code, exceptionOf(code, status).name] as const,
  );
  const ofOrders = classes.filter(([, name]) => name === "InvalidOrder").map(([code]) => code);
  expect(ofOrders.sort()).toEqual([
    "close_position_in_use",
    "exit_price",
    "expiry_out_of_range",
    "leverage_above_maximum",
    "leverage_above_tier",
    "leverage_limited",
    "limit_price_outside_band",
    "margin_too_small",
    "notional_limit",
    "notional_too_small",
    "open_order_limit",
    "position_limit",
    "post_only_needs_limit",
    "price_not_on_tick",
    "price_outside_band",
    "price_too_far",
    "reduce_only_without_position",
    "size_below_lot",
    "size_not_on_lot",
    "too_many_orders",
  ]);
  expect(venue.streamFaults).toEqual([]);
});
