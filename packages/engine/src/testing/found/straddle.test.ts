/**
 * One ring holds both sides. A price gap larger than the margin of its longs made the backstop take
 * them at their bankruptcy price: the longs lost their margin, the fund the rest, the ring's short
 * gained it all. $5M a side and a gap of 10 % took $392,000 of a fund of a million.
 */
import { describe, expect, test } from "vitest";
import type { Trader } from "../scenarios/trader.js";
import { Venue } from "../scenarios/venue.js";

const BUDGET = 20_000;

interface Straddle {
  readonly venue: Venue;
  readonly longs: readonly Trader[];
  readonly short: Trader;
}

/** Five longs of $1M at 50×, one short of $5M. */
function straddle(): Straddle {
  const venue = new Venue();
  const short = venue.trader("short", 1_000_000);
  const longs = Array.from({ length: 5 }, (_, i) => venue.trader(`long ${i}`, 21_000));
  short.sells("limit", { margin: 200_000, leverage: 25, price: 50_000 });
  for (const long of longs) long.buys("limit", { margin: 20_000, leverage: 50, price: 50_000 });
  expect(short.position().size).toBe(-100);
  return { venue, longs, short };
}

function wealth({ longs, short }: Straddle): number {
  return [...longs, short].reduce((sum, trader) => sum + trader.equityMicros(), 0) / 1e6;
}

/** The fund with the backstop's position at mark. */
function worth(venue: Venue): number {
  const { size, cost } = venue.backstop();
  return venue.fund + size * venue.mark() - cost;
}

describe("a ring that holds both sides", () => {
  test("a gap of 10 %: it gains at most the fund's budget of the hour, its margin is spent first", () => {
    const ring = straddle();
    const before = wealth(ring);
    ring.venue.index(45_000);
    ring.venue.tick();
    expect(wealth(ring) - before).toBeLessThanOrEqual(BUDGET);
    expect(worth(ring.venue)).toBeGreaterThanOrEqual(1_000_000 - BUDGET);
    for (const long of ring.longs) {
      // All of the margin is gone; what is left is what was never staked.
      expect(long.position()).toEqual({ size: 0, cost: 0, margin: 0 });
      expect(long.wallet).toBe(500);
    }
    // 5 coins at a loss of $4,000 each are the budget of $20,000; the others are deleveraged.
    expect(ring.venue.backstop().size).toBe(5);
    expect(ring.short.position().size).toBe(-5);
  });

  test("the budget is one for the hour: a second gap in it finds nothing left", () => {
    const ring = straddle();
    ring.venue.index(45_000);
    ring.venue.tick();
    const size = ring.venue.backstop().size;
    const late = ring.venue.trader("late", 30_000);
    ring.venue.index(45_000);
    ring.short.sells("limit", { margin: 40_000, leverage: 25, price: 45_000 });
    late.buys("limit", { margin: 20_000, leverage: 50, price: 45_000 });
    ring.venue.waits(5);
    ring.venue.index(41_000);
    ring.venue.tick();
    expect(late.position().size).toBe(0);
    expect(ring.venue.backstop().size).toBe(size);
  });

  test("an hour later there is a budget again, of what the fund is worth then", () => {
    const ring = straddle();
    ring.venue.index(45_000);
    ring.venue.tick();
    // The next minute is sampled, and an hour passes.
    for (const minutes of [1, 61]) {
      ring.venue.skipsTo(ring.venue.now + minutes * 60_000);
      ring.venue.tick();
    }
    const before = worth(ring.venue);
    const late = ring.venue.trader("late", 30_000);
    ring.short.sells("limit", { margin: 40_000, leverage: 25, price: 45_000 });
    late.buys("limit", { margin: 20_000, leverage: 50, price: 45_000 });
    ring.venue.index(43_000);
    ring.venue.tick();
    expect(late.position().size).toBe(0);
    // The five coins that it held already lose $10,000 with the gap, which counts as used; what is
    // left pays for some coins at a loss of $1,100 each.
    expect(ring.venue.backstop().size).toBeGreaterThan(12);
    expect(worth(ring.venue) - before).toBeGreaterThanOrEqual(-0.02 * before);
  });

  test("a takeover at a price better than the mark needs no budget", () => {
    const venue = new Venue({ config: { fundLossPerHourPpm: 0 } });
    const bob = venue.trader("bob", 100_000);
    const alice = venue.trader("alice", 10_000);
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
    venue.index(49_400);
    venue.tick();
    expect(venue.backstop().size).toBe(1);
  });
});
