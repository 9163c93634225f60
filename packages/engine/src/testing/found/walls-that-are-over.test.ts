/**
 * Found with 30,000 one-lot bids at the best price that expire together: each that a taker met counted as one
 * of its makers. Market orders ended with `fill_limit` and nothing filled for four ticks, a stop and a
 * liquidation waited for five, and nobody had traded with the wall.
 */
import { describe, expect, test } from "vitest";
import { LightVenue } from "../rules/light-venue.js";
import { BTC, MICROS } from "../scenarios/listing.js";
import type { Terms, Trader } from "../scenarios/trader.js";

const LOT = 0.00001;
const WALL = 49_310;

/** A stop, a position that is due, and a wall of that many bids that are over, in front of one that is not. */
function scene(orders: number, end: "expire" | "switch", index = 50_000) {
  const venue = new LightVenue({
    markets: [BTC],
    config: { attestorKind: "dev", devCreditMicros: 1_000_000 * MICROS },
  });
  venue.trader("seller").sells("limit", { size: 20, leverage: 10, price: 50_000 });
  const stopped = venue.trader("stopped");
  stopped.buys("market", { size: 0.1, leverage: 1 });
  stopped.sells("stop", { size: 0.1, leverage: 1, price: 49_500, reduceOnly: true });
  const due = venue.trader("due");
  due.buys("market", { size: 0.1, leverage: 50 });
  venue.trader("deep").buys("limit", { size: 5, leverage: 10, price: WALL - 10 });
  venue.tick();
  const endsAt = venue.now + 3_000;
  const makers: Trader[] = [];
  const terms: Terms = { size: LOT, leverage: 1, price: WALL };
  for (let i = 0; i < orders / 500; i++) {
    const maker = venue.trader(`wall ${i}`);
    makers.push(maker);
    const bid = maker.order(1, "limit", end === "expire" ? { ...terms, expiresAt: endsAt } : terms);
    for (let nonce = 1; nonce <= 500; nonce++) venue.apply({ ...bid, nonce });
  }
  while (venue.now < endsAt - 200) {
    for (const { session } of makers) {
      const after = { kind: "CancelAfter", session, afterMs: endsAt - venue.now } as const;
      if (end === "switch" && venue.now === endsAt - 1_000)
        venue.apply({ ...after, stampMs: venue.now });
    }
    venue.refreshesIndex();
    venue.tick();
  }
  venue.index(index);
  return { venue, stopped, due, taker: venue.trader("taker") };
}

describe.each(["expire", "switch"] as const)("a wall of bids that are over (%s)", (end) => {
  test("of 4,500: an order, a stop and a liquidation behind it are served with the tick and after it", () => {
    const { venue, stopped, due, taker } = scene(4_500, end, 49_460);
    venue.tick();
    expect(stopped.position().size).toBe(0);
    const { account } = due;
    expect(venue.happened("Liquidated")).toContainEqual(expect.objectContaining({ account }));
    expect(due.position().size).toBe(0);
    expect(taker.sells("market", { size: 0.01, leverage: 10 }).status).toBe("filled");
  });
});

test.each([
  { orders: 1_500, ended: 1_500, filled: 1_000, units: [] },
  // The units that count for nobody, and then those of the order.
  { orders: 4_500, ended: 4_000, filled: 0, units: [8_000] },
])("$orders in the way of an order: $ended end, its account pays for $units units", (row) => {
  const { venue, taker } = scene(row.orders, "expire");
  const order = taker.order(-1, "market", { size: 0.01, leverage: 10 });
  venue.apply({ ...order, stampMs: venue.now + 200 });
  expect(venue.happened("OrderEnded")).toHaveLength(row.ended);
  expect(venue.happened("OrderAcknowledged")[0]!.filledLots).toBe(row.filled);
  expect(venue.happened("WorkDone").map(({ units }) => units)).toEqual(row.units);
});

test("a fok order that fails leaves them, and is charged for them", () => {
  const { venue, taker } = scene(500, "expire");
  const fok = { size: 10, leverage: 10, price: WALL - 10, timeInForce: "fok" } as const;
  venue.apply({ ...taker.order(-1, "limit", fok), stampMs: venue.now + 200 });
  expect(venue.happened("OrderEnded")).toEqual([]);
  expect(venue.happened("WorkDone")[0]!.units).toBeGreaterThan(2 * 4 * 500);
});
