/**
 * Found with thousands of triggered closePosition stops that the book cannot take, and one bid within the band:
 * every tick looked at all of them to choose the 64 that it tries again. Ticks look at some, which take turns.
 */
import { expect, test } from "vitest";
import { RULE_SETS } from "../../versions.js";
import { LightVenue } from "../rules/light-venue.js";
import { BTC, MICROS } from "../scenarios/listing.js";
import type { Trader } from "../scenarios/trader.js";

const LOT = 0.00001;
const LOOKS = 2;

/** Positions of 10, 20, … lots, each with a stop that is triggered and finds nobody. */
function triggered(count: number): { venue: LightVenue; holders: Trader[]; bidder: Trader } {
  const venue = new LightVenue({
    markets: [BTC],
    config: { attestorKind: "dev", devCreditMicros: 100_000 * MICROS },
    ruleSets: RULE_SETS.map((rules) => ({ ...rules, looksAgainPerTick: LOOKS })),
  });
  venue.trader("seller").sells("limit", { size: 1, leverage: 10, price: 50_000 });
  const holders = Array.from({ length: count }, (_, i) => {
    const holder = venue.trader(`holder ${i}`);
    holder.buys("market", { size: (i + 1) * 10 * LOT, leverage: 1 });
    holder.sells("stop", { price: 49_900, closePosition: true });
    return holder;
  });
  venue.index(49_800);
  venue.tick();
  expect(venue.happened("StopTriggered")).toHaveLength(count);
  return { venue, holders, bidder: venue.trader("bidder") };
}

test("a tick looks at the next two of five, and tries them by size", () => {
  const { venue, holders, bidder } = triggered(5);
  const closing: number[] = [];
  for (let tick = 0; tick < 6; tick++) {
    bidder.buys("limit", { size: LOT, leverage: 1, price: 49_700 });
    if (tick === 3) venue.restarts();
    venue.refreshesIndex();
    venue.tick();
    const [trade] = venue.happened("Traded");
    closing.push(holders.findIndex(({ account }) => account === trade?.takerAccount) + 1);
  }
  // 1 and 2, 3 and 4, 5 and 1, and so on: the larger of both has the one lot that is there.
  expect(closing).toEqual([2, 4, 5, 3, 5, 2]);
});

test("one that ends is passed over, and where there are few a tick looks at all of them", () => {
  const { venue, holders, bidder } = triggered(2);
  bidder.buys("limit", { size: 100 * LOT, leverage: 1, price: 49_700 });
  venue.refreshesIndex();
  venue.tick();
  expect(holders.map((holder) => holder.position().size)).toEqual([0, 0]);
  expect(venue.engine.state.markets[0]!.stopLines.isAnyTriggered).toBe(false);
});
