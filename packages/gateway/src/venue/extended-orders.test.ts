/** Orders with all their terms, amendments, batches and margin, as a client sees them. */

import { verify } from "@perpgate/venue";
import { afterAll, describe, expect, test } from "vitest";
import { StreamClient } from "../ws/testing/stream-client.js";
import { recoverWallet } from "./testing/recover-wallet.js";
import { newFolder, runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const HOUR_MS = 3_600_000;
const shared = await runVenue({}, afterAll);
const SIZED = { symbol: "BTCUSD", side: "long", type: "limit", size: 0.01, leverage: 5 };
const BID = { ...SIZED, price: 60_000 };

function limitOf(changes: object, nonce = 1): object {
  return { ...BID, nonce, ...changes };
}

describe("terms that do not go together", () => {
  const stop = { type: "stop", price: 70_000 };
  const cases: readonly [name: string, terms: object, field: string, code?: string][] = [
    ["neither margin nor size", { size: undefined }, "margin"],
    ["no leverage", { leverage: undefined }, "leverage"],
    ["size off the lot", { size: 0.000_015 }, "size", "size_not_on_lot"],
    ["size 0", { size: 0 }, "size"],
    ["market gtc", { type: "market", price: undefined, timeInForce: "gtc" }, "timeInForce"],
    [
      "market fok without size",
      { type: "market", price: undefined, size: undefined, margin: 10, timeInForce: "fok" },
      "size",
    ],
    ["stop gtc without limitPrice", { ...stop, timeInForce: "gtc" }, "timeInForce"],
    ["stop fok", { ...stop, timeInForce: "fok", limitPrice: 70_100 }, "timeInForce"],
    ["postOnly with ioc", { postOnly: true, timeInForce: "ioc" }, "postOnly"],
    ["postOnly stop", { ...stop, postOnly: true }, "postOnly", "post_only_needs_limit"],
    ["expiry of an ioc", { timeInForce: "ioc", expiresAt: 1 }, "expiresAt"],
    ["expiry in the past", { expiresAt: 1 }, "expiresAt", "expiry_out_of_range"],
    ["trigger of a limit order", { trigger: "takeProfit" }, "trigger"],
    ["limitPrice of a limit order", { limitPrice: 61_000 }, "limitPrice"],
    [
      "limitPrice off the tick",
      { ...stop, limitPrice: 70_000.05 },
      "limitPrice",
      "price_not_on_tick",
    ],
    ["closePosition of a limit order", { closePosition: true }, "closePosition"],
    ["closePosition with size", { ...stop, closePosition: true }, "size"],
    ["a client id with a space", { clientOrderId: "a b" }, "clientOrderId"],
    ["a client id of 37", { clientOrderId: "x".repeat(37) }, "clientOrderId"],
    ["an unknown self-trade rule", { selfTrade: "allow" }, "selfTrade"],
    ["an unknown field", { stopPrice: 1 }, "stopPrice"],
    ["validUntil in the past", { validUntil: 1 }, "validUntil", "too_late"],
  ];
  test.each(cases)("%s: refused, with the field", async (_, terms, field, code) => {
    const trader = await Trader.enter(shared);
    const { status, body } = await trader.signed("/v1/orders", limitOf(terms));
    expect([status, body.code, body.field]).toEqual([400, code ?? "invalid_request", field]);
    expect(String(body.message)).not.toMatch(/\^\[|must match/);
    expect(await trader.list("/v1/orders?status=all")).toEqual([]);
  });
});

describe("one order through its life", () => {
  test("placed by size with a client id, amended, canceled by it: the same id all along", async () => {
    const trader = await Trader.enter(shared);
    const placed = await trader.signed("/v1/orders", limitOf({ clientOrderId: "bid-1" }));
    expect(placed.body).toMatchObject({ status: "resting", clientOrderId: "bid-1" });
    const { orderId } = placed.body;
    expect(await trader.list("/v1/orders")).toMatchObject([
      { orderId, clientOrderId: "bid-1", timeInForce: "gtc", size: 0.01, closePosition: false },
    ]);
    const twice = await trader.signed("/v1/orders", limitOf({ clientOrderId: "bid-1" }, 2));
    expect([twice.status, twice.body.code]).toEqual([409, "client_order_id_in_use"]);

    const path = `/v1/orders/${orderId}/amend`;
    const amendment = { clientOrderId: "bid-1", price: 60_100, size: 0.02, nonce: 3 };
    const amended = await trader.signed(path, amendment);
    expect(amended.body).toMatchObject({ orderId, status: "resting", remainingSize: 0.02 });
    expect(Number(amended.body.ackNonce)).toBeGreaterThan(Number(orderId));
    const again = await trader.signed(path, amendment);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect(again.body.ackNonce).toBe(amended.body.ackNonce);
    const other = await trader.signed("/v1/orders/1/amend", { ...amendment, nonce: 4 });
    expect([other.status, other.body.field]).toEqual([400, "orderId"]);

    const canceled = await trader.send("/v1/orders/cancel", { clientOrderId: "bid-1" });
    expect(canceled.body).toEqual({
      orderId,
      status: "canceled",
      remainingSize: 0.02,
      ackNonce: expect.stringMatching(/^[0-9]+$/),
      expectedBlock: expect.any(Number),
      time: expect.any(Number),
    });
    const gone = await trader.send("/v1/orders/cancel", { clientOrderId: "bid-1" });
    expect([gone.status, gone.body.code]).toEqual([404, "order_not_found"]);
    const late = await trader.signed(path, { orderId, price: 60_200, nonce: 5 });
    expect([late.status, late.body.code]).toEqual([409, "order_not_amendable"]);
  });

  test("looked up by its client id: the open one, or all that had it, newest first", async () => {
    const [trader, other] = [await Trader.enter(shared), await Trader.enter(shared)];
    const ids: unknown[] = [];
    for (let nonce = 1; nonce <= 3; nonce++) {
      const { body } = await trader.signed("/v1/orders", limitOf({ clientOrderId: "bid" }, nonce));
      ids.unshift(body.orderId);
      if (nonce < 3) await trader.send("/v1/orders/cancel", { clientOrderId: "bid" });
    }
    await trader.signed("/v1/orders", limitOf({ clientOrderId: "bid-2" }, 4));
    const find = async (query: string, by = trader): Promise<unknown[]> =>
      (await by.list(`/v1/orders?clientOrderId=bid${query}`)).map(({ orderId }) => orderId);
    expect(await find("")).toEqual([ids[0]]);
    expect(await find("&status=all")).toEqual(ids);
    expect(await find("&status=all&limit=2")).toEqual(ids.slice(0, 2));
    expect(await find(`&status=all&before=${ids[1]}`)).toEqual([ids[2]]);
    expect(await find(`&status=all&after=${ids[2]}`)).toEqual([ids[1], ids[0]]);
    expect(await find("&status=all&nonce=2")).toEqual([ids[1]]);
    expect(await find("&status=all&symbol=ETHUSD")).toEqual([]);
    expect(await find("-3&status=all")).toEqual([]);
    expect(await find("&status=all", other)).toEqual([]);
    expect((await trader.get("/v1/orders?clientOrderId=a%20b")).status).toBe(400);
  });

  test("looked up by its client id and a time, behind a thousand newer ones", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const ioc = { ...BID, timeInForce: "ioc", clientOrderId: "bid" };
    const ether = { ...ioc, symbol: "ETHUSD", price: 3_000, size: 0.1 };
    const bitcoin = (await trader.signed("/v1/orders", { ...ioc, nonce: 1 })).body.orderId;
    const first = (await trader.signed("/v1/orders", { ...ether, nonce: 2 })).body.orderId;
    await at.advance(1_000);
    const operations = Array.from({ length: 50 }, () => ({ op: "place", ...ioc }));
    let nonce = 3;
    const crowd = async (batches: number): Promise<void> => {
      const placed = Array.from({ length: batches }, () =>
        trader.signed("/v1/orders/batch", { nonce: nonce++, operations }),
      );
      for (const { status } of await Promise.all(placed)) expect(status).toBe(200);
    };
    const ask = (query: string) => trader.get(`/v1/orders?status=all&clientOrderId=bid${query}`);
    const find = async (query: string): Promise<unknown[]> => {
      const { text } = await ask(query);
      return JSON.parse(text).map(({ orderId }: Record<string, unknown>) => orderId);
    };
    await crowd(21);
    const to = at.nowMs();
    expect(await find(`&to=${to}`)).toEqual([first, bitcoin]);
    expect(await find(`&to=${to}&limit=1`)).toEqual([first]);
    expect(await find(`&from=${to - 1_000}&to=${to}&after=${bitcoin}`)).toEqual([first]);
    expect(await find("&symbol=ETHUSD")).toEqual([first]);
    expect(await find("&nonce=1")).toEqual([bitcoin]);
    expect(await find("&nonce=1&symbol=ETHUSD")).toEqual([]);
    expect(await find(`&from=${to}`)).toHaveLength(1_000);

    // Behind more than one request reads: never a page that seems to be the last.
    for (let i = 0; i < 9; i++) await crowd(20);
    const { status, body } = await ask("&symbol=ETHUSD");
    expect([status, body.code]).toEqual([400, "too_many_rows"]);
    const { next } = Object(body).details;
    expect(body.message).toContain(`send before=${next}`);
    expect(await find(`&symbol=ETHUSD&before=${next}`)).toEqual([first]);
    const ascending = await ask("&symbol=ETHUSD&after=0");
    expect(ascending.body).toMatchObject({ code: "too_many_rows", details: { found: 1 } });
    expect(ascending.body.message).toContain("send limit=1");
    expect(await find("&symbol=ETHUSD&after=0&limit=1")).toEqual([first]);
  });

  test("an amendment is proven like an order, under its own ackNonce", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const { orderId } = (await trader.signed("/v1/orders", limitOf({}))).body;
    const path = `/v1/orders/${orderId}/amend`;
    const { ackNonce } = (await trader.signed(path, { orderId, price: 60_500, nonce: 2 })).body;
    await at.advance(200);
    const proof = await trader.get(`/v1/preconfirms/${ackNonce}`);
    expect(proof.body.ack).toMatchObject({ ackNonce, orderId });
  });
});

test("stops: a limit before and after it triggers, and a closePosition, are amended", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const stop = { symbol: "BTCUSD", side: "long", type: "stop", price: 66_000, size: 0.01 };
  const placed = await trader.signed("/v1/orders", {
    ...stop,
    leverage: 5,
    limitPrice: 66_100,
    nonce: 1,
  });
  const { orderId } = placed.body;
  const amend = (id: unknown, changes: object, nonce: number) =>
    trader.signed(`/v1/orders/${id}/amend`, { orderId: id, ...changes, nonce });
  const expiresAt = at.nowMs() + HOUR_MS;
  await amend(orderId, { price: 65_500, limitPrice: 65_600, expiresAt }, 2);
  const closing = { side: "short", type: "stop", price: 60_000, closePosition: true };
  const exit = await trader.signed("/v1/orders", { symbol: "BTCUSD", ...closing, nonce: 3 });
  const moved = await amend(exit.body.orderId, { price: 61_000, expiresAt }, 4);
  expect(moved.body).toMatchObject({ status: "pending", orderId: exit.body.orderId });
  expect(await trader.list("/v1/orders")).toMatchObject([
    { orderId, status: "pending", price: 65_500, limitPrice: 65_600, expiresAt },
    { closePosition: true, price: 61_000, expiresAt },
  ]);
  await at.setIndex("BTCUSD", 65_500);
  await at.advance(200);
  const rested = await amend(orderId, { limitPrice: 65_400 }, 5);
  expect(rested.body).toMatchObject({ status: "resting", orderId, remainingSize: 0.01 });
  // The price stays the trigger, as its owner set it.
  const [order] = await trader.list("/v1/orders");
  expect(order).toMatchObject({ type: "stop", price: 65_500, limitPrice: 65_400, expiresAt });
  expect((await trader.get("/v1/markets/BTCUSD/book")).body).toMatchObject({
    bids: [[65_400, 0.01]],
  });
  const late = await amend(orderId, { price: 65_700 }, 6);
  expect([late.status, late.body.code]).toEqual([409, "order_not_amendable"]);
  const far = await amend(orderId, { limitPrice: 90_000 }, 7);
  expect([far.status, far.body.code]).toEqual([400, "price_outside_band"]);
  expect(String(far.body.message)).toContain("90000");
});

test("closePosition, filled in part: as large as its fills, nothing less than nothing remains", async () => {
  const at = await runVenue();
  const [trader, other] = [await Trader.enter(at), await Trader.enter(at)];
  await other.signed("/v1/orders", { ...SIZED, side: "short", price: 65_000, nonce: 1 });
  await trader.signed("/v1/orders", { ...SIZED, price: 65_000, nonce: 1 });
  const closing = { symbol: "BTCUSD", side: "short", type: "stop", price: 64_000 };
  const exit = await trader.signed("/v1/orders", { ...closing, closePosition: true, nonce: 2 });
  const client = await StreamClient.connect(at.url, trader.token);
  const { orderId } = exit.body;
  const shown = async () => (await trader.get(`/v1/orders/${orderId}`)).body;
  expect(await shown()).toMatchObject({ size: 0, filledSize: 0, remainingSize: 0 });
  expect(await shown()).not.toHaveProperty("triggered");
  await client.ask({ op: "subscribe", streams: ["orders"] });
  await other.signed("/v1/orders", { ...SIZED, size: 0.004, price: 63_900, nonce: 2 });
  await at.setIndex("BTCUSD", 64_000);
  await at.advance(200);
  const parts = { size: 0.004, filledSize: 0.004, remainingSize: 0 };
  const inPart = { status: "pending", triggered: true, ...parts };
  expect(await shown()).toMatchObject(inPart);
  const update = await client.take(({ t, d }) => t === "orders" && d.type === "update");
  expect(update.d).toMatchObject({ orders: [inPart] });
  await other.signed("/v1/orders", { ...SIZED, price: 63_900, nonce: 3 });
  await at.advance(200);
  const whole = { status: "filled", size: 0.01, filledSize: 0.01, remainingSize: 0 };
  expect(await shown()).toMatchObject(whole);
});

test("terms that only the engine can refuse: 400, alone and as the last of a batch, never 500", async () => {
  const trader = await Trader.enter(shared);
  const stop = { symbol: "BTCUSD", side: "long", type: "stop", price: 70_000, size: 0.01 };
  const { orderId } = (await trader.signed("/v1/orders", limitOf({}))).body;
  const pending = await trader.signed("/v1/orders", { ...stop, leverage: 5, nonce: 2 });
  const expiresAt = shared.nowMs() + HOUR_MS;
  const cases = [
    { orderId, limitPrice: 60_500 },
    { orderId: String(pending.body.orderId), expiresAt },
    { orderId: String(pending.body.orderId), limitPrice: 70_100 },
  ];
  let nonce = 10;
  for (const change of cases) {
    const path = `/v1/orders/${change.orderId}/amend`;
    const alone = await trader.signed(path, { ...change, nonce: nonce++ });
    expect([alone.status, alone.body.code]).toEqual([400, "invalid_request"]);
    const operations = [
      { op: "place", ...BID },
      { op: "amend", ...change },
    ];
    const { body } = await trader.signed("/v1/orders/batch", { nonce: nonce++, operations });
    expect(Object(body).results).toMatchObject([{ status: 200 }, { status: alone.status }]);
  }
  const both = { ...stop, leverage: 5, limitPrice: 70_100, timeInForce: "ioc", nonce: nonce++ };
  const placed = await trader.signed("/v1/orders", both);
  expect([placed.status, placed.body.status]).toEqual([200, "pending"]);
});

describe("batches", () => {
  const operations = [
    { op: "place", ...BID, clientOrderId: "a" },
    { op: "place", ...BID, price: 60_000.05, clientOrderId: "b" },
    { op: "amend", clientOrderId: "a", price: 60_100 },
    { op: "cancel", clientOrderId: "b" },
    { op: "place", ...BID, clientOrderId: "a" },
    { op: "cancel", clientOrderId: "a" },
  ];

  test("each operation succeeds or fails on its own; the same body returns the same results", async () => {
    const directory = newFolder();
    const before = await runVenue({ directory });
    const trader = await Trader.enter(before);
    const first = await trader.signed("/v1/orders/batch", { nonce: 1, operations });
    expect(first.status).toBe(200);
    const results: Record<string, Record<string, unknown>>[] = Object(first.body).results;
    expect(results.map(({ status, error }) => [status, error?.code])).toEqual([
      [200, undefined],
      [400, "price_not_on_tick"],
      [200, undefined],
      [404, "order_not_found"],
      [409, "client_order_id_in_use"],
      [200, undefined],
    ]);
    const [placed, , amended, , , canceled] = results;
    expect(Number(amended?.ack?.ackNonce) - Number(placed?.ack?.ackNonce)).toBe(2);
    expect(amended?.ack?.orderId).toBe(placed?.ack?.orderId);
    expect(canceled?.canceled).toMatchObject({ orderId: placed?.ack?.orderId, status: "canceled" });

    const shown = (body: unknown) =>
      JSON.stringify(body).replaceAll(
        /"elapsedMs":[\d.]+|"message":"[^"]*"|"details":\{[^}]*\}/g,
        "",
      );
    const replay = await trader.signed("/v1/orders/batch", { nonce: 1, operations });
    expect(replay.headers.get("idempotent-replay")).toBe("true");
    expect(shown(replay.body)).toBe(shown(first.body));
    const other = { nonce: 1, operations: operations.slice(1) };
    expect((await trader.signed("/v1/orders/batch", other)).body.code).toBe("nonce_conflict");
    expect((await trader.place(trader.order({ nonce: 1 }))).body.code).toBe("nonce_conflict");
    await before.stop();

    const after = await runVenue({ directory, startMs: before.nowMs() + 1_000 });
    const later = await trader.movedTo(after).signed("/v1/orders/batch", { nonce: 1, operations });
    expect(later.headers.get("idempotent-replay")).toBe("true");
    expect(shown(later.body)).toBe(shown(first.body));
  });

  test("orders of a batch by nonce, in pages", async () => {
    const trader = await Trader.enter(shared);
    const fifty = Array.from({ length: 50 }, () => ({ op: "place", ...BID, size: 0.001 }));
    await trader.signed("/v1/orders/batch", { nonce: 7, operations: fifty });
    await trader.signed("/v1/orders", limitOf({ size: 0.001 }, 8));
    const ids = (await trader.list("/v1/orders")).slice(0, 50).map(({ orderId }) => orderId);
    const page = async (query: string): Promise<unknown[]> =>
      (await trader.list(`/v1/orders?nonce=7&limit=20${query}`)).map(({ orderId }) => orderId);
    for (const status of ["&status=all", "&status=open"]) {
      expect(await page(`${status}&after=0`)).toEqual(ids.slice(0, 20));
      expect(await page(`${status}&after=${ids[19]}`)).toEqual(ids.slice(20, 40));
      expect(await page(`${status}&after=${ids[39]}`)).toEqual(ids.slice(40));
      expect(await page(`${status}&after=${ids[49]}`)).toEqual([]);
      expect(await page(status)).toEqual(ids.slice(30).reverse());
      expect(await page(`${status}&before=${ids[10]}`)).toEqual(ids.slice(0, 10).reverse());
    }
    await trader.cancel(ids[3]);
    expect(await page("&after=0&status=open")).toEqual([...ids.slice(0, 3), ...ids.slice(4, 21)]);
    expect(await page("&after=0&status=all&symbol=ETHUSD")).toEqual([]);
  });

  test("a nonce of which nothing succeeded is not used", async () => {
    const trader = await Trader.enter(shared);
    const failing = { nonce: 1, operations: [{ op: "cancel", orderId: "1" }] };
    const { results } = Object((await trader.signed("/v1/orders/batch", failing)).body);
    expect(results).toMatchObject([{ status: 404, error: { code: "order_not_found" } }]);
    expect((await trader.signed("/v1/orders", limitOf({}))).status).toBe(200);
  });

  test("too few tokens for all of it: refused whole, and nothing is executed", async () => {
    const at = await runVenue({ limits: { ordersPerSecond: 0.001, ordersBurst: 5 } });
    const trader = await Trader.enter(at);
    const six = Array.from({ length: 6 }, () => ({ op: "place", ...BID }));
    const refused = await trader.signed("/v1/orders/batch", { nonce: 1, operations: six });
    expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
    expect(await trader.list("/v1/orders")).toEqual([]);
    const five = { nonce: 2, operations: six.slice(1) };
    expect((await trader.signed("/v1/orders/batch", five)).status).toBe(200);
    expect(await trader.list("/v1/orders")).toHaveLength(5);
  });

  test("shape: an operation's mistake is named with its place", async () => {
    const trader = await Trader.enter(shared);
    const cases: readonly [operations: object[], field: string][] = [
      [[], "operations"],
      [Array.from({ length: 51 }, () => ({ op: "cancel", orderId: "1" })), "operations"],
      [[{ op: "move", orderId: "1" }], "operations.0"],
      [
        [
          { op: "cancel", orderId: "1" },
          { op: "place", ...BID, nonce: 1 },
        ],
        "operations.1.nonce",
      ],
      [[{ op: "place", ...BID, side: "up" }], "operations.0.side"],
    ];
    for (const [wrong, field] of cases) {
      const { status, body } = await trader.signed("/v1/orders/batch", {
        nonce: 1,
        operations: wrong,
      });
      expect([status, body.code]).toEqual([400, "invalid_request"]);
      expect(String(body.field)).toContain(field);
    }
  });
});

describe("margin of a position", () => {
  test("added, removed down to what it needs, once per nonce", async () => {
    const at = await runVenue();
    const [ann, bob] = [await Trader.enter(at), await Trader.enter(at)];
    await bob.place(bob.limit("short", 65_000, { margin: 1_000 }));
    const none = await ann.signed("/v1/positions/BTCUSD/margin", {
      symbol: "BTCUSD",
      amount: 5,
      nonce: 90,
    });
    expect([none.status, none.body.code]).toEqual([404, "position_not_found"]);
    const unlisted = { symbol: "DOGEUSD", amount: 5, nonce: 90 };
    const unknown = await ann.signed("/v1/positions/DOGEUSD/margin", unlisted);
    expect([unknown.status, unknown.body.code]).toEqual([404, "market_not_found"]);
    await ann.place(ann.order({ margin: 100, leverage: 5 }));
    const [before] = await ann.list("/v1/positions");
    const add = { symbol: "BTCUSD", amount: 50, nonce: 91 };
    const added = await ann.signed("/v1/positions/BTCUSD/margin", add);
    expect(added.body).toMatchObject({ amount: 50, margin: Number(before?.margin) + 50 });
    const again = await ann.signed("/v1/positions/BTCUSD/margin", add);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect(again.body).toEqual(added.body);
    const remove = { symbol: "BTCUSD", amount: -1_000, nonce: 92 };
    const refused = await ann.signed("/v1/positions/BTCUSD/margin", remove);
    expect([refused.status, refused.body.code]).toEqual([400, "margin_needed"]);
    const { largest } = Object(refused.body).details;
    const most = { ...remove, amount: -largest, nonce: 93 };
    expect((await ann.signed("/v1/positions/BTCUSD/margin", most)).status).toBe(200);
    const zero = await ann.signed("/v1/positions/BTCUSD/margin", { ...add, amount: 0, nonce: 94 });
    expect([zero.status, zero.body.field]).toEqual([400, "amount"]);
    const other = await ann.signed("/v1/positions/ETHUSD/margin", { ...add, nonce: 95 });
    expect([other.status, other.body.field]).toEqual([400, "symbol"]);
  });

  test("all of it paid as funding, and no other money: the position can still be closed", async () => {
    const at = await runVenue({ parameters: { impactNotional: 100 } });
    const [trader, quoter] = [await Trader.enter(at), await Trader.enter(at)];
    const sellers = [await Trader.enter(at), await Trader.enter(at), await Trader.enter(at)];
    for (const seller of sellers) {
      await seller.place(seller.limit("short", 65_000, { margin: 8_000, leverage: 10 }));
    }
    await trader.place(trader.order({ margin: 9_500, leverage: 20 }));
    for (const seller of sellers) await seller.send("/v1/orders/cancel-all", {});
    const account = async () => (await trader.get("/v1/account")).body;
    const add = { symbol: "BTCUSD", amount: (await account()).available, nonce: 100 };
    expect((await trader.signed("/v1/positions/BTCUSD/margin", add)).status).toBe(200);
    // A profit that keeps the position open, and a book so far above the index that longs pay the most.
    const index = 67_000;
    await at.setIndex("BTCUSD", index);
    await quoter.place(quoter.limit("long", 70_000, { margin: 500 }));
    await quoter.place(quoter.limit("short", 70_100, { margin: 500 }));
    for (let hours = 0; (await account()).balance !== 0; hours++) {
      expect(hours).toBeLessThan(12);
      at.skip(HOUR_MS - (at.nowMs() % HOUR_MS) - 1_000);
      await at.execute({ kind: "AskTime", stampMs: at.nowMs() });
      await at.setIndex("BTCUSD", index);
      await at.advance(1_200);
    }
    expect(await account()).toMatchObject({ available: 0, positionMargin: 0 });
    const exit = await trader.place(trader.order({ side: "short", reduceOnly: true }));
    expect([exit.status, exit.body.status]).toEqual([200, "filled"]);
  });
});

test("verify: the signed bodies of all of it mean what the log has, refused operations included", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const maker = await Trader.enter(at);
  await maker.place(maker.limit("short", 65_000, { margin: 1_000 }));
  const exit = { symbol: "BTCUSD", side: "short", type: "stop", price: 60_000 };
  const [buy, close, stop] = [
    { ...SIZED, type: "market", margin: 200, selfTrade: "cancelTaker" },
    { ...exit, closePosition: true, margin: 7, leverage: 3 },
    { ...exit, size: 0.01, leverage: 2, limitPrice: 59_000, expiresAt: at.nowMs() + HOUR_MS },
  ];
  const statuses: unknown[] = [];
  for (const [i, order] of [buy, close, stop, { ...BID, clientOrderId: "a" }].entries()) {
    statuses.push((await trader.signed("/v1/orders", { ...order, nonce: 1 + i })).status);
  }
  const amendment = { clientOrderId: "a", price: 60_100, expiresAt: null, nonce: 5 };
  statuses.push((await trader.signed("/v1/orders/a/amend", amendment)).status);
  const margin = { symbol: "BTCUSD", amount: 1.000_000_9, nonce: 6 };
  statuses.push((await trader.signed("/v1/positions/BTCUSD/margin", margin)).status);
  const operations = [
    { op: "place", ...BID, price: 60_000.05 },
    { op: "place", ...BID, symbol: "NOPEUSD" },
    { op: "amend", clientOrderId: "nobody", price: 60_000 },
    { op: "place", ...BID },
    { op: "cancel", clientOrderId: "a" },
  ];
  const batch = await trader.signed("/v1/orders/batch", { nonce: 7, operations });
  statuses.push(...Object(batch.body).results.map((result: { status: number }) => result.status));
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 400, 400, 404, 200, 200]);
  await at.stop();
  const { fault } = await verify(at.directory, { signatures: recoverWallet });
  expect(fault).toBeNull();
});

test("the socket takes the same commands, with the same answers", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const client = await StreamClient.connect(at.url, trader.token);
  const signed = (op: string, body: object) => {
    const text = JSON.stringify(body);
    return client.ask({ op, body: text, sig: trader.signatureOf(text)["x-service-sig"] });
  };
  const expiresAt = at.nowMs() + 1_000;
  const placed = await signed("order", limitOf({ clientOrderId: "s-1", expiresAt }));
  expect(placed).toMatchObject({
    t: "ok",
    d: { ack: { status: "resting", clientOrderId: "s-1" } },
  });
  const amended = await signed("amend", { clientOrderId: "s-1", price: 60_050, nonce: 2 });
  expect(amended).toMatchObject({ t: "ok", d: { ack: { status: "resting" }, replayed: false } });
  const batch = { nonce: 3, operations: [{ op: "place", ...BID, clientOrderId: "s-2" }] };
  expect(await signed("batch", batch)).toMatchObject({
    t: "ok",
    d: { batch: { results: [{ status: 200 }] }, replayed: false },
  });
  expect(await signed("batch", batch)).toMatchObject({ d: { replayed: true } });
  expect(await signed("margin", { symbol: "BTCUSD", amount: 1, nonce: 4 })).toMatchObject({
    t: "error",
    d: { code: "position_not_found" },
  });
  const canceled = await client.ask({ op: "cancel", clientOrderId: "s-2" });
  expect(canceled).toMatchObject({ t: "ok", d: { canceled: { status: "canceled" } } });
  await at.advance(1_000);
  expect(await trader.list("/v1/orders?status=all")).toMatchObject([
    { clientOrderId: "s-2", reason: "requested" },
    { clientOrderId: "s-1", reason: "expired" },
  ]);
});
