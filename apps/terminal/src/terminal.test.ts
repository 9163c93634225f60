/** What the page does with a real venue's answers, and without them. */

import { until } from "@perpgate/gateway/testing";
import type { Position } from "@perpgate/protocol";
import {
  type NewOrder,
  newPrivateKey,
  PerpgateClient,
  privateKeyAccount,
  type Session,
} from "@perpgate/sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { SortedLevels } from "./book/levels.js";
import { closeAll, marketClose, sendClose } from "./order/closing.js";
import { EMPTY_FORM, type OrderForm } from "./order/order-form-state.js";
import { orderNotes } from "./order/order-notes.js";
import { needsConfirmation } from "./order/order-settings.js";
import { estimate } from "./order/use-preview.js";
import { Terminal } from "./terminal.js";
import { GatewayProcess } from "./testing/gateway-process.js";
import { LossyNetwork } from "./testing/lossy-network.js";
import { t } from "./text/texts.js";
import { viewOf } from "./venue/market-view.js";
import { StillPendingError } from "./venue/unsettled-requests.js";

// Node has no frames.
vi.stubGlobal("requestAnimationFrame", (callback: () => void) => setTimeout(callback));

const ORDERS = "/v1/orders";
const BATCH = "/v1/orders/batch";
const TIME = "/v1/time";
const SIZE = 0.01;
const BID = { symbol: "BTCUSD", side: "long", type: "limit", size: SIZE, leverage: 5 } as const;

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = new GatewayProcess({ page: "", settings: { server: { page: false } } });
  await gateway.start();
});
afterAll(() => gateway.remove());

async function start() {
  const network = new LossyNetwork();
  const client = new PerpgateClient({ url: gateway.url, fetch: network.fetch, retries: 0 });
  onTestFinished(() => client.close());
  const account = privateKeyAccount(newPrivateKey());
  const signIn = () => client.signIn({ account });
  const maker = await client.signIn({ account: privateKeyAccount(newPrivateKey()) });
  onTestFinished(async () => {
    await maker.cancelAll();
  });
  const session = await signIn();
  const terminal = new Terminal(client);
  terminal.line.state.set("live");
  terminal.clock.note(await client.time());
  const views = (await client.markets()).map(viewOf);
  terminal.marketFeed.markets.set(views);
  const view = terminal.marketFeed.view("BTCUSD");
  if (view === undefined || view.market.markPrice === null) throw new Error("no mark");
  const mark = view.market.markPrice;
  const toasts = () => terminal.toasts.list.get();
  return { network, client, signIn, maker, session, terminal, view, mark, toasts };
}

/** The trader buys from the maker; then the book is empty. */
async function openPosition(maker: Session, session: Session, mark: number): Promise<Position> {
  const price = Math.round(mark);
  await maker.placeOrder({ ...BID, side: "short", price });
  await session.placeOrder({ ...BID, timeInForce: "ioc", price });
  const [position] = await session.positions();
  if (position === undefined) throw new Error("no position");
  return position;
}

/** Rests above the mark, so that a market sale is within its worst price. */
function bid(maker: Session, mark: number, size: number) {
  return maker.placeOrder({ ...BID, size, price: Math.round(mark * 1.002) });
}

describe("sending", () => {
  test("nothing is sent before the venue's time is known", async () => {
    const { network, client, session, terminal } = await start();
    const { orders } = terminal;
    const order: NewOrder = { ...BID, price: 60_000 };
    terminal.clock.forget();
    network.losesAnswersTo = TIME;
    await expect(orders.place(session, order)).rejects.toMatchObject({ outcome: "not_sent" });
    await expect(orders.cancel(session, "1")).rejects.toMatchObject({ outcome: "not_sent" });
    expect(network.bodies(ORDERS)).toEqual([]);
    network.losesAnswersTo = undefined;
    const before = await client.time();
    const { ack } = await orders.place(session, order);
    const after = await client.time();
    const [sent] = network.bodies(ORDERS);
    expect(sent?.validUntil).toBeGreaterThanOrEqual(before + 10_000);
    expect(sent?.validUntil).toBeLessThanOrEqual(after + 10_000);
    await orders.cancel(session, ack.orderId);
  });

  test("a line that is lost while the venue's time is asked for: nothing is sent", async () => {
    const { network, session, terminal } = await start();
    terminal.clock.forget();
    const answer = terminal.orders.place(session, { ...BID, price: 60_000 });
    terminal.line.state.set("reconnecting");
    await expect(answer).rejects.toMatchObject({ outcome: "not_sent" });
    expect(network.bodies(ORDERS)).toEqual([]);
  });
});

describe("a close that the book does not fill", () => {
  test.each([
    { offered: 0, outcome: "not filled" },
    { offered: 0.004, outcome: "partly filled" },
    { offered: SIZE, outcome: "executed" },
  ])("of all positions, answer lost, $offered offered: $outcome", async ({ offered, outcome }) => {
    const { network, maker, session, terminal, mark } = await start();
    const position = await openPosition(maker, session, mark);
    if (offered > 0) await bid(maker, mark, offered);
    network.losesAnswersTo = BATCH;
    const closing = closeAll(terminal, session, [position]);
    await expect(closing).rejects.toMatchObject({ outcome: "unknown" });
    network.losesAnswersTo = undefined;
    const title = "Close of all positions";
    expect(await terminal.orders.unsettled.settle()).toMatchObject([{ title, outcome }]);
  });

  test("of one order, answer lost: not filled", async () => {
    const { network, maker, session, terminal, view, mark } = await start();
    const position = await openPosition(maker, session, mark);
    const order = marketClose(terminal, view, position, SIZE);
    network.losesAnswersTo = ORDERS;
    const closing = sendClose(terminal, session, order);
    await expect(closing).rejects.toMatchObject({ outcome: "unknown" });
    network.losesAnswersTo = undefined;
    const title = "Sell market BTCUSD";
    expect(await terminal.orders.unsettled.settle()).toMatchObject([
      { title, outcome: "not filled" },
    ]);
  });

  test("of all positions, one of them refused: the one that was not filled is shown too", async () => {
    const { maker, session, terminal, mark, toasts } = await start();
    const position = await openPosition(maker, session, mark);
    const missing = { ...position, symbol: "ETHUSD" };
    const closing = closeAll(terminal, session, [missing, position]);
    await expect(closing).rejects.toMatchObject({ outcome: "refused" });
    const text = expect.stringMatching(/^BTCUSD: The book is empty/);
    expect(toasts()).toMatchObject([{ kind: "bad", title: "Not everything was closed", text }]);
  });

  test.each([
    { offered: 0, titles: ["Not everything was closed"] },
    { offered: 0.004, titles: ["Not everything was closed"] },
    { offered: SIZE, titles: [] },
  ])("of one position, $offered offered: notices $titles", async ({ offered, titles }) => {
    const { maker, session, terminal, view, mark, toasts } = await start();
    const position = await openPosition(maker, session, mark);
    if (offered > 0) await bid(maker, mark, offered);
    await sendClose(terminal, session, marketClose(terminal, view, position, SIZE));
    expect(toasts().map(({ title }) => title)).toEqual(titles);
  });
});

test.each([
  { entry: "refused", amount: "900000", code: "insufficient_margin" },
  { entry: "not filled", amount: "100", code: undefined },
])("an order with a stop loss that is $entry: the position keeps its own", async (each) => {
  const { amount, code } = each;
  const { maker, session, terminal, mark } = await start();
  await openPosition(maker, session, mark);
  const [before, after] = [Math.round(mark * 0.9), Math.round(mark * 0.92)];
  const position = { symbol: "BTCUSD", side: "long" } as const;
  await session.protect({ ...position, stopLoss: before });
  const terms = termsOf(terminal, { amount, hasExits: true, stopLoss: `${after}` });
  const refusal = await terminal.orders.place(session, terms.order).catch((error) => error);
  expect(refusal?.code).toBe(code);
  expect((await session.openOrders()).map(({ price }) => price)).toEqual([before]);
});

test("an order with take profit and stop loss: one order with two exits of its own", async () => {
  const { maker, session, terminal, mark } = await start();
  await openPosition(maker, session, mark);
  const price = Math.round(mark * 0.95);
  const { order } = termsOf(terminal, {
    type: "limit",
    amount: "100",
    price: `${price}`,
    hasExits: true,
    takeProfit: `${price + 500}`,
    stopLoss: `${price - 500}`,
  });
  const { ack } = await terminal.orders.place(session, order);
  const open = await session.openOrders();
  expect(open.map((each) => [each.price, each.parentOrderId])).toEqual([
    [price, undefined],
    [price + 500, ack.orderId],
    [price - 500, ack.orderId],
  ]);
  await session.cancelAll();
});

test("Cancel all: the exit of the position stays, unless it is chosen", async () => {
  const { network, maker, session, terminal, mark, toasts } = await start();
  await openPosition(maker, session, mark);
  const stopLoss = Math.round(mark * 0.9);
  await session.protect({ symbol: "BTCUSD", side: "long", stopLoss });
  for (const price of [59_000, 60_000]) await session.placeOrder({ ...BID, price });
  const showOpen = async () => {
    const [orders, positions] = await Promise.all([session.openOrders(), session.positions()]);
    terminal.account.orders.set(new Map(orders.map((order) => [order.orderId, order])));
    terminal.account.positions.set(new Map(positions.map((each) => [each.symbol, each])));
    return orders.map(({ price }) => price);
  };
  await showOpen();
  await terminal.cancelOpen(session, "orders");
  expect(toasts().at(-1)?.title).toBe("2 orders canceled, 1 exit left");
  expect(network.bodies(BATCH)).toHaveLength(2);
  expect(await showOpen()).toEqual([stopLoss]);
  await terminal.cancelOpen(session, "all");
  expect(toasts().at(-1)?.title).toBe("1 order canceled");
  expect(await showOpen()).toEqual([]);
});

test("orders above the trader's value are confirmed without a book too", async () => {
  const { terminal, mark } = await start();
  const isAsked = (form: Partial<OrderForm>) =>
    needsConfirmation(readOrder(terminal, form).valueMicros / 1e6);
  expect(isAsked({ amount: "20001" })).toBe(true);
  expect(isAsked({ amount: "19999" })).toBe(false);
  const size = String(Math.ceil(101_000 / mark));
  expect(isAsked({ unit: "size", amount: size })).toBe(true);
  // Sold near the mark, whatever its limit is.
  expect(isAsked({ unit: "size", amount: size, type: "limit", side: "short", price: "1" })).toBe(
    true,
  );
});

function termsOf(terminal: Terminal, form: Partial<OrderForm>) {
  const { terms, missing } = readOrder(terminal, form).read;
  if (terms === undefined) throw new Error(missing);
  return terms;
}

test.each([
  { side: "long", far: 0.5, near: 0.99 },
  { side: "short", far: 1.5, near: 1.01 },
] as const)("$side, a stop loss beyond the liquidation price: the form says so", async (each) => {
  const { side, far, near } = each;
  const { terminal, view, mark } = await start();
  terminal.book.show("BTCUSD");
  await until(() => terminal.book.state.get() !== undefined);
  const notesAt = (share: number) => {
    const stopLoss = String(Math.round(mark * share));
    const price = String(Math.round(mark));
    const form = { side, type: "limit", price, amount: "100", hasExits: true, stopLoss } as const;
    const notes = orderNotes(view, { ...EMPTY_FORM, ...form }, readOrder(terminal, form));
    return notes.map(({ text }) => text);
  };
  expect(notesAt(far)).toContain(t.notes.beyondLiquidation);
  expect(notesAt(near)).not.toContain(t.notes.beyondLiquidation);
});

test("a plain stop that reduces, beyond the liquidation price of its position: the form says so", async () => {
  const { maker, session, terminal, view, mark } = await start();
  const position = await openPosition(maker, session, mark);
  terminal.account.positions.set(new Map([[position.symbol, position]]));
  terminal.book.show("BTCUSD");
  await until(() => terminal.book.state.get() !== undefined);
  const notesAt = (price: number) => {
    const terms = { side: "short", type: "stop", reduceOnly: true } as const;
    const form = { ...terms, unit: "size", amount: String(SIZE), price: String(price) } as const;
    const notes = orderNotes(view, { ...EMPTY_FORM, ...form }, readOrder(terminal, form));
    return notes.map(({ text }) => text);
  };
  const liquidation = position.liquidationPrice ?? 0;
  expect(notesAt(liquidation)).toContain(t.notes.beyondLiquidation);
  expect(notesAt(Math.ceil(liquidation) + 1)).not.toContain(t.notes.beyondLiquidation);
});

test("an order larger than the position of the other side: the form says what it opens", async () => {
  const { maker, session, terminal, view, mark } = await start();
  const position = await openPosition(maker, session, mark);
  terminal.account.positions.set(new Map([[position.symbol, position]]));
  terminal.book.show("BTCUSD");
  await until(() => terminal.book.state.get() !== undefined);
  const notesOf = (size: number) => {
    const price = String(Math.round(mark));
    const form = {
      side: "short",
      type: "limit",
      price,
      unit: "size",
      amount: String(size),
    } as const;
    const notes = orderNotes(view, { ...EMPTY_FORM, ...form }, readOrder(terminal, form));
    return notes.map(({ text }) => text);
  };
  const flip = "It closes your long position and opens a short one of 0.00500 BTC.";
  expect(notesOf(SIZE + 0.005)).toContain(flip);
  expect(notesOf(SIZE)).toEqual([]);
});

test.each([
  ["long", 1],
  ["short", -1],
] as const)("%s, exits in percent: prices on ticks, on the right side", async (side, direction) => {
  const { terminal, view, mark } = await start();
  const price = String(Math.round(mark));
  const exits = { hasExits: true, exitUnit: "roi", takeProfit: "10", stopLoss: "5" } as const;
  const form = { side, type: "limit", price, amount: "100", leverage: "5", ...exits } as const;
  const { order } = termsOf(terminal, form);
  const at = Math.round(mark);
  const tick = view.market.tickSize;
  expect(Math.abs((order.takeProfit?.price ?? 0) - at * (1 + direction * 0.02))).toBeLessThan(tick);
  expect(Math.abs((order.stopLoss?.price ?? 0) - at * (1 - direction * 0.01))).toBeLessThan(tick);
});

/** Without a book. */
function readOrder(terminal: Terminal, form: Partial<OrderForm>) {
  const view = terminal.marketFeed.view("BTCUSD");
  if (view === undefined) throw new Error("no market");
  return estimate(terminal, view, { ...EMPTY_FORM, ...form }, new SortedLevels());
}

describe("a page that is loaded again before the answer", () => {
  /** A tab's storage, which a reload keeps. */
  function stubStorage(): Map<string, string> {
    const kept = new Map<string, string>();
    vi.stubGlobal("sessionStorage", {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => kept.set(name, value),
    });
    onTestFinished(() => {
      vi.stubGlobal("sessionStorage", undefined);
    });
    return kept;
  }

  test("an order in flight: the next page asks for it, and sends no other meanwhile", async () => {
    const kept = stubStorage();
    const { network, client, session, terminal } = await start();
    terminal.orders.unsettled.resume(session);
    const order: NewOrder = { ...BID, price: 60_000 };
    network.losesAnswersTo = ORDERS;
    const pressed = terminal.orders.place(session, order);
    await until(() => network.bodies(ORDERS).length > 0);
    // What the next page finds, while this one still waits.
    const { clock, line, orders } = new Terminal(client);
    line.state.set("live");
    clock.note(await client.time());
    await expect(pressed).rejects.toMatchObject({ outcome: "unknown" });
    network.losesAnswersTo = undefined;
    const restored = client.restore(session.save());
    orders.unsettled.resume(restored);
    await expect(orders.place(restored, order)).rejects.toThrow(StillPendingError);
    expect(await orders.unsettled.settle()).toMatchObject([
      { title: "Buy limit BTCUSD", outcome: "executed" },
    ]);
    expect([orders.unsettled.list.get(), [...kept.values()]]).toEqual([[], ["[]"]]);
    expect(await restored.openOrders()).toHaveLength(1);
    await restored.cancelAll();
  });

  test("answers and refusals leave nothing; storage of another program is passed over", async () => {
    const kept = stubStorage();
    kept.set("perpgate.sent", '[{"nonce":"1"},7]');
    const { session, terminal } = await start();
    const { orders } = terminal;
    orders.unsettled.resume(session);
    expect(orders.unsettled.list.get()).toEqual([]);
    const { ack } = await orders.place(session, { ...BID, price: 60_000 });
    await expect(orders.place(session, { ...BID, price: 1 })).rejects.toThrow();
    await orders.cancel(session, ack.orderId);
    expect([...kept.values()]).toEqual(["[]"]);
  });
});

describe("a session that ends before the answer", () => {
  test.each([
    { lost: "answer", outcome: "executed" },
    { lost: "request", outcome: "not executed" },
  ] as const)(
    "$lost of an order lost: the account's next session shows $outcome",
    async ({ lost, outcome }) => {
      const { network, client, signIn, session, terminal } = await start();
      const { orders } = terminal;
      orders.unsettled.resume(session);
      if (lost === "answer") network.losesAnswersTo = ORDERS;
      else network.loses = ORDERS;
      const order: NewOrder = { ...BID, price: 60_000 };
      const pressedAt = await client.time();
      await expect(orders.place(session, order)).rejects.toMatchObject({ outcome: "unknown" });
      network.losesAnswersTo = undefined;
      network.loses = undefined;
      orders.forget();
      await session.signOut();
      expect(orders.unsettled.list.get()).toEqual([]);
      // Another account's session does not ask for it.
      orders.unsettled.resume(await client.signIn({ account: privateKeyAccount(newPrivateKey()) }));
      expect(orders.unsettled.list.get()).toEqual([]);
      orders.forget();
      const next = await signIn();
      orders.unsettled.resume(next);
      expect(orders.unsettled.list.get()).toHaveLength(1);
      // An order that is not found may be executed until the end of its validity.
      terminal.clock.note(pressedAt);
      if (lost === "request") expect(await orders.unsettled.settle()).toEqual([]);
      terminal.clock.note(pressedAt + 60_000);
      expect(await orders.unsettled.settle()).toMatchObject([
        { title: "Buy limit BTCUSD", outcome },
      ]);
      expect(orders.unsettled.list.get()).toEqual([]);
      await next.cancelAll();
    },
  );

  test("a log that stands still: an order that is not found stays unknown", async () => {
    const { network, client, signIn, session, terminal } = await start();
    const { orders } = terminal;
    orders.unsettled.resume(session);
    network.loses = ORDERS;
    const placing = orders.place(session, { ...BID, price: 60_000 });
    await expect(placing).rejects.toMatchObject({ outcome: "unknown" });
    network.loses = undefined;
    orders.forget();
    orders.unsettled.resume(await signIn());
    // The page's clock runs on; the log is where it was.
    const now = performance.now.bind(performance);
    const later = vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
    onTestFinished(() => later.mockRestore());
    expect(await orders.unsettled.settle()).toEqual([]);
    expect(orders.unsettled.list.get()).toHaveLength(1);
    terminal.clock.note((await client.time()) + 60_000);
    expect(await orders.unsettled.settle()).toMatchObject([{ outcome: "not executed" }]);
  });

  test("an order with its exit, which is gone by now: executed", async () => {
    const { network, maker, signIn, session, terminal, mark } = await start();
    const { orders } = terminal;
    orders.unsettled.resume(session);
    await openPosition(maker, session, mark);
    network.losesAnswersTo = BATCH;
    const exit = { op: "place", symbol: "BTCUSD", side: "short", type: "stop" } as const;
    const batch = orders.batch(
      session,
      [
        { op: "place", ...BID, price: 59_000 },
        { ...exit, closePosition: true, trigger: "stop", price: Math.round(mark * 0.9) },
      ],
      { subject: "exit", title: "An order with its exit" },
    );
    await expect(batch).rejects.toMatchObject({ outcome: "unknown" });
    network.losesAnswersTo = undefined;
    const stop = (await session.openOrders()).find(({ type }) => type === "stop");
    await session.cancelOrder(stop?.orderId ?? "");
    orders.forget();
    orders.unsettled.resume(await signIn());
    expect(await orders.unsettled.settle()).toMatchObject([{ outcome: "executed" }]);
  });

  test("an order with attached exits: executed, although they are listed with its nonce", async () => {
    const { network, signIn, session, terminal } = await start();
    const { orders } = terminal;
    orders.unsettled.resume(session);
    network.losesAnswersTo = ORDERS;
    const order = { ...BID, price: 60_000, stopLoss: { price: 59_000 } };
    await expect(orders.place(session, order)).rejects.toMatchObject({ outcome: "unknown" });
    network.losesAnswersTo = undefined;
    const [, exit] = await session.openOrders();
    await session.cancelOrder(exit?.orderId ?? "");
    orders.forget();
    const next = await signIn();
    orders.unsettled.resume(next);
    expect(await orders.unsettled.settle()).toMatchObject([{ outcome: "executed" }]);
    await next.cancelAll();
  });

  test("a batch with a refused order: partly executed; a change: outcome unknown", async () => {
    const { network, client, signIn, session, terminal } = await start();
    const { orders } = terminal;
    orders.unsettled.resume(session);
    const { orderId } = await session.placeOrder({ ...BID, price: 60_000 });
    network.losesAnswersTo = BATCH;
    const batch = orders.batch(
      session,
      [
        { op: "place", ...BID, price: 59_000 },
        { op: "place", ...BID, price: 59_000, size: 1_000 },
      ],
      { subject: "two", title: "Two orders" },
    );
    await expect(batch).rejects.toMatchObject({ outcome: "unknown" });
    network.losesAnswersTo = `${ORDERS}/${orderId}/amend`;
    const change = orders.amend(session, { orderId, price: 58_000 });
    await expect(change).rejects.toMatchObject({ outcome: "unknown" });
    network.losesAnswersTo = undefined;
    orders.forget();
    const next = await signIn();
    orders.unsettled.resume(next);
    expect(await orders.unsettled.settle()).toMatchObject([
      { title: "Two orders", outcome: "partly executed" },
    ]);
    // No list shows a change: until the end of its validity no other is sent.
    const again = orders.amend(next, { orderId, price: 58_000 });
    await expect(again).rejects.toThrow(StillPendingError);
    terminal.clock.note((await client.time()) + 60_000);
    expect(await orders.unsettled.settle()).toMatchObject([
      { title: `Change of order ${orderId}`, outcome: "outcome unknown" },
    ]);
    await next.cancelAll();
  });

  test("a request that was in flight at the end: settled by the account's next session", async () => {
    const { network, signIn, session, terminal } = await start();
    const { orders } = terminal;
    orders.unsettled.resume(session);
    network.losesAnswersTo = ORDERS;
    const placing = orders.place(session, { ...BID, price: 60_000 });
    orders.forget();
    await expect(placing).rejects.toMatchObject({ outcome: "unknown" });
    network.losesAnswersTo = undefined;
    expect(orders.unsettled.list.get()).toEqual([]);
    const next = await signIn();
    orders.unsettled.resume(next);
    expect(await orders.unsettled.settle()).toMatchObject([{ outcome: "executed" }]);
    await next.cancelAll();
  });
});
