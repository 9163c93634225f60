/**
 * "The units of each command are an event, and the gateway charges its account (and its address budget) for
 * them": an account whose commands make the engine work is limited, one with ordinary orders is not.
 */

import { expect, test } from "vitest";
import type { LimitSettings } from "../limits/limit-settings.js";
import type { Answer } from "../testing/running-gateway.js";
import { type RunningVenue, runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const MAKERS = 8;
const ORDERS_EACH = 50;
const SIZE = 0.0001;
/** Four for each maker that a fill-or-kill order meets, twice because it is undone. */
const UNITS = 2 * 4 * MAKERS * ORDERS_EACH;

/** A venue with 400 small asks at one price. */
async function venueWithWall(limits: Partial<LimitSettings>): Promise<RunningVenue> {
  const at = await runVenue({ limits });
  for (let i = 0; i < MAKERS; i++) {
    const maker = await Trader.enter(at);
    const ask = { symbol: "BTCUSD", side: "short", type: "limit", price: 65_100 };
    const order = { op: "place", ...ask, size: SIZE, leverage: 5 };
    const body = { nonce: 1, operations: Array.from({ length: ORDERS_EACH }, () => order) };
    const { status, text } = await maker.signed("/v1/orders/batch", body);
    expect([status, text.match(/"resting"/g)?.length]).toEqual([200, ORDERS_EACH]);
  }
  return at;
}

/** An order for a lot more than the wall has: it meets all of it, and is undone. */
function kill(trader: Trader): Promise<Answer> {
  const size = SIZE * (MAKERS * ORDERS_EACH + 1);
  const terms = { side: "long", type: "limit", price: 65_100, leverage: 5, timeInForce: "fok" };
  const { margin: _, ...order } = trader.order();
  return trader.place({ ...order, ...terms, size });
}

function rest(trader: Trader): Promise<Answer> {
  return trader.place(trader.limit("long", 60_000, { margin: 1 }));
}

test("orders that are undone: the account's rate limit pays for their work, nobody else's does", async () => {
  const at = await venueWithWall({ ordersPerSecond: 0.01, ordersBurst: 200 });
  const [attacker, honest] = [await Trader.enter(at), await Trader.enter(at)];
  const statuses: number[] = [];
  const remaining: string[] = [];
  for (let i = 0; i < 10; i++) {
    const { status, headers } = await kill(attacker);
    statuses.push(status);
    if (status === 429) expect(headers.get("retry-after")).not.toBeNull();
    const answer = await rest(honest);
    expect(answer.status).toBe(200);
    remaining.push(answer.headers.get("ratelimit")?.match(/r=(\d+)/)?.[1] ?? "");
  }
  // An order and 40 more each: the fifth begins with what is left of 200.
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429, 429]);
  expect(Number(remaining.at(-1))).toBeGreaterThanOrEqual(190);
  // Cancels have a limit of their own.
  expect((await attacker.send("/v1/orders/cancel-all", {})).status).toBe(200);
});

test("the cost budget of the account pays for the units, too", async () => {
  const at = await venueWithWall({ accountCostMsPerSecond: 1, accountCostBurstMs: 8 });
  const [attacker, honest] = [await Trader.enter(at), await Trader.enter(at)];
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) {
    const { status, body } = await kill(attacker);
    statuses.push(status);
    if (status === 429) expect(body).toMatchObject({ details: { limit: "cost" } });
  }
  expect(UNITS).toBe(3_200);
  // 3.2 ms and the cost of a request each, of 8 ms.
  expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
  for (let i = 0; i < 6; i++) expect((await rest(honest)).status).toBe(200);
});

test("operations of a batch count as orders, a cancel-all as cancels", async () => {
  const at = await venueWithWall({
    ordersPerSecond: 0.01,
    ordersBurst: 200,
    cancelsPerSecond: 0.01,
    cancelsBurst: 200,
  });
  const left = ({ headers }: Answer) => Number(headers.get("ratelimit")?.match(/r=(\d+)/)?.[1]);
  const trader = await Trader.enter(at);
  const order = { op: "place", side: "long", type: "limit", leverage: 5, symbol: "BTCUSD" };
  const operations = Array.from({ length: 50 }, () => ({ ...order, size: SIZE, price: 60_000 }));
  for (const nonce of [101, 102]) await trader.signed("/v1/orders/batch", { nonce, operations });
  const size = SIZE * (MAKERS * ORDERS_EACH + 1);
  const kills = { ...order, size, price: 65_100, timeInForce: "fok" };
  await trader.signed("/v1/orders/batch", { nonce: 103, operations: [kills] });
  // 101 operations, and 40 more for the last one's work.
  expect(left(await rest(trader))).toBe(200 - 101 - 40 - 1);
  // 101 orders are four units each: 404 are five cancels more.
  expect(left(await trader.send("/v1/orders/cancel-all", {}))).toBe(199);
  expect(left(await trader.send("/v1/orders/cancel-all", {}))).toBe(199 - 5 - 1);
});
