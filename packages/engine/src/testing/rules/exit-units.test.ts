/** "Every order that is moved because of it is 1", that ends 2: exits cost what is touched of them, however many there are. */
import { expect, test } from "vitest";
import type { Trader } from "../scenarios/trader.js";
import { LightVenue } from "./light-venue.js";

const LOT = 0.00001;
const PAIRS = 120;

/** One lot for each pair, and one order more that sells. */
function holder(pairs: number): {
  readonly venue: LightVenue;
  readonly alice: Trader;
  readonly bob: Trader;
} {
  const venue = new LightVenue();
  const alice = venue.trader("alice", 1_000_000);
  const bob = venue.trader("bob", 1_000_000);
  bob.sells("limit", { size: pairs * LOT, price: 50_000 });
  for (let i = 0; i < pairs; i++) {
    const order = { size: LOT, profitAt: 55_000, lossAt: 45_000 };
    expect(alice.buys("market", order).status).toBe("filled");
  }
  expect(alice.openOrders()).toBe(2 * pairs);
  return { venue, alice, bob };
}

/** Units of a sale of that many lots to one bid. */
function unitsToSell(pairs: number, lots: number): number {
  const { venue, alice, bob } = holder(pairs);
  bob.buys("limit", { size: lots * LOT, price: 50_000 });
  expect(alice.sells("market", { size: lots * LOT }).filled).toBeCloseTo(lots * LOT);
  expect(alice.openOrders()).toBe(2 * (pairs - lots));
  return venue.engine.state.scratch.work.spent;
}

test("a reduction: three units for each exit that it ends, whatever other pairs there are", () => {
  expect(unitsToSell(5, 1)).toBe(4 + 2 * 3);
  expect(unitsToSell(PAIRS, 1)).toBe(4 + 2 * 3);
  expect(unitsToSell(PAIRS, 50)).toBe(4 + 50 * 2 * 3);
});

test("a fill-or-kill order that is undone: twice, and no exit has changed", () => {
  const { venue, alice, bob } = holder(PAIRS);
  alice.sells("limit", { size: 60 * LOT, price: 50_000 });
  const answer = bob.buys("limit", { size: 61 * LOT, price: 50_000, timeInForce: "fok" });
  expect(answer.status).toBe("canceled");
  const once = 4 + 60 * 2 * 3;
  expect(venue.engine.state.scratch.work.spent).toBeGreaterThanOrEqual(2 * once);
  expect(alice.openOrders()).toBe(2 * PAIRS + 1);
});

/** With the end of the command each is a stop: as much work as its end. Once a unit, of 1.6 µs to 0.2. */
test("a maker whose exits begin to cover lots: three units for each, and three where they wait again", () => {
  const venue = new LightVenue();
  const alice = venue.trader("alice", 1_000_000);
  const bob = venue.trader("bob", 1_000_000);
  alice.buys("limit", { size: 3 * LOT, price: 49_900, profitAt: 55_000, lossAt: 45_000 });
  const spent = (): number => venue.engine.state.scratch.work.spent;
  bob.sells("market", { size: LOT });
  expect(spent()).toBe(4 + 2 * 3);
  bob.sells("market", { size: LOT });
  expect(spent()).toBe(4 + 2);
  bob.buys("limit", { size: 2 * LOT, price: 50_000 });
  alice.sells("market", { size: 2 * LOT, reduceOnly: true });
  expect(spent()).toBe(4 + 2 * 3);
  expect(alice.openOrders()).toBe(3);
});
