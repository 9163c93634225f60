/**
 * Paradex, 19 January 2026. During a database upgrade a service restarted while data was being
 * written; funding indices came back as zero. Positions then owed the funding of a market's whole
 * life, and were liquidated by the thousand. The chain was rolled back.
 *
 * Here: the cumulative rate and each position's settled rate are primary state of the snapshot.
 * A restored venue owes what it owed before, to the micro-dollar. An index of zero is refused, and
 * one near zero is held.
 */
import { describe, expect, test } from "vitest";
import { sha256 } from "../replay/recording.js";
import { Venue } from "../scenarios/venue.js";
import { BTC, wealth } from "./scene.js";

const HOUR_MS = 3_600_000;

/** Quotes above the index, so that longs pay in every hour. */
function venueWithPremium() {
  const venue = new Venue();
  const maker = venue.trader("maker", 1_000_000);
  maker.sells("limit", { margin: 50_000, price: 50_200 });
  maker.buys("limit", { margin: 50_000, price: 50_150 });
  return { venue, maker };
}

function passesHour(venue: Venue): number {
  const next = (Math.floor(venue.now / HOUR_MS) + 1) * HOUR_MS;
  for (let i = 0; i < 5; i++) {
    venue.refreshesIndex();
    venue.tick();
  }
  venue.skipsTo(next);
  venue.tick();
  return venue.happened("FundingApplied")[0]?.rate ?? 0;
}

describe("a restart in the middle of funding", () => {
  test("a restored venue owes what it owed before, and each new hour once", () => {
    const { venue } = venueWithPremium();
    const early = venue.trader("early", 10_000);
    early.buys("market", { margin: 1_000, leverage: 20 });
    const rates = [1, 2, 3, 4, 5].map(() => passesHour(venue));
    expect(Math.min(...rates)).toBeGreaterThan(0);
    // Opens after five hours, so it owes nothing of them.
    const late = venue.trader("late", 10_000);
    late.buys("market", { margin: 1_000, leverage: 20 });
    const before = { hash: venue.engine.stateHash(sha256), wealth: wealth(early, late) };

    venue.restarts();
    expect(venue.engine.stateHash(sha256)).toBe(before.hash);
    venue.refreshesIndex();
    venue.tick();
    expect(venue.happened("Liquidated")).toEqual([]);
    expect(wealth(early, late)).toBe(before.wealth);

    const rate = passesHour(venue);
    expect(venue.happened("Liquidated")).toEqual([]);
    // Both close: what they paid is settled.
    for (const trader of [early, late]) {
      trader.sells("market", { margin: 100_000, leverage: 10, reduceOnly: true });
    }
    const hourOf = (each: number): number => (0.398 * 50_000 * each) / 1e9;
    const all = [...rates, rate].reduce((sum, each) => sum + hourOf(each), 0);
    expect(early.fundingPaid()).toBeCloseTo(all, 0);
    expect(late.fundingPaid()).toBeCloseTo(hourOf(rate), 0);
  });

  test("an engine restored after every hour and one that ran through agree", () => {
    const through = venueWithPremium();
    const restored = venueWithPremium();
    for (const { venue } of [through, restored]) {
      venue.trader("long", 10_000).buys("market", { margin: 1_000, leverage: 20 });
    }
    for (let hour = 0; hour < 6; hour++) {
      passesHour(through.venue);
      passesHour(restored.venue);
      restored.venue.restarts();
      expect(restored.venue.engine.stateHash(sha256)).toBe(through.venue.engine.stateHash(sha256));
    }
  });

  test("an index of zero is refused, one near zero is held: nobody is liquidated", () => {
    const { venue } = venueWithPremium();
    const long = venue.trader("long", 10_000);
    long.buys("market", { margin: 1_000, leverage: 20 });
    const size = long.position().size;
    venue.index(0, BTC);
    expect(venue.refusal).toBe("index_invalid");
    venue.index(0.1, BTC);
    for (let i = 0; i < 5; i++) venue.tick();
    venue.index(50_000, BTC);
    for (let i = 0; i < 5; i++) venue.tick();
    expect(long.position().size).toBe(size);
    expect(venue.mark()).toBeGreaterThan(49_000);
  });
});
