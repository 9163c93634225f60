/**
 * Accomplices alone in a venue with a fixed index leave the backstop a long position, hold the other
 * side, and let funding flow. The backstop pays like any position: in no hour more than the fund's
 * budget for an hour.
 */
import { expect, test } from "vitest";
import type { Trader } from "../scenarios/trader.js";
import { START_MS, Venue } from "../scenarios/venue.js";

const HOUR_MS = 3_600_000;
const INDEX = 50_000;

function worth(venue: Venue): number {
  const { size, cost } = venue.backstop();
  return venue.fund + size * INDEX - cost;
}

/** Alice's long position of $1M has gone to the backstop; Bob is short as much. */
function handedOver(): { venue: Venue; carol: Trader; dave: Trader } {
  // Version 2: from version 3 on the fund takes over no more than three times its budget.
  const venue = new Venue({ version: 2 });
  const alice = venue.trader("alice", 30_000);
  const bob = venue.trader("bob", 300_000);
  const carol = venue.trader("carol", 1_000_000);
  const dave = venue.trader("dave", 1_000_000);
  bob.sells("limit", { margin: 200_000, leverage: 5, price: 50_000 });
  alice.buys("limit", { margin: 20_000, leverage: 50, price: 50_000 });
  venue.index(49_490);
  venue.tick();
  venue.index(INDEX);
  expect(venue.backstop().size).toBe(20);
  return { venue, carol, dave };
}

const ROWS: [what: string, bid: number, ask: number][] = [
  ["a premium quoted for one tick an hour", 52_400, 52_500],
  ["no premium, only interest", 47_600, 52_400],
];
for (const [what, bid, ask] of ROWS) {
  test(`funding, ${what}: the backstop pays within the budget of the hour`, () => {
    const { venue, carol, dave } = handedOver();
    let least = worth(venue);
    for (let hour = 1; hour <= 6; hour++) {
      venue.skipsTo(START_MS + hour * HOUR_MS);
      const before = worth(venue);
      const bought = carol.buys("limit", { margin: 20_010, leverage: 1, price: bid });
      const sold = dave.sells("limit", { margin: 20_010, leverage: 1, price: ask });
      venue.tick();
      expect(venue.happened("FundingApplied")[0]!.rate).toBeGreaterThan(0);
      least = Math.min(least, worth(venue) - before);
      carol.cancels(bought.orderId);
      dave.cancels(sold.orderId);
    }
    expect(least).toBeLessThan(0);
    // 2 % of a fund of $1M.
    expect(least).toBeGreaterThanOrEqual(-20_000);
  });
}
