/**
 * One ring holds both sides. A price gap larger than the margin of its longs made the backstop take
 * them at their bankruptcy price: the longs lost their margin, the fund the rest, the ring's short
 * gained it all. $5M a side and a gap of 10 % took $392,000 of a fund of a million, before the fund had
 * a budget. Version 2 bounds what takeovers beyond the mark cost; the schemes below go around that.
 */
import { describe, expect, test } from "vitest";
import { gapsTo } from "../incidents/scene.js";
import { BTC } from "../scenarios/listing.js";
import type { Trader } from "../scenarios/trader.js";
import { Venue } from "../scenarios/venue.js";

const BUDGET = 20_000;

interface Straddle {
  readonly venue: Venue;
  readonly longs: readonly Trader[];
  readonly short: Trader;
}

/** Five longs of $1M at 50×, one short of $5M. */
function straddle(version = 3): Straddle {
  const venue = new Venue({ version });
  const short = venue.trader("short", 6_000_000);
  const longs = Array.from({ length: 5 }, (_, i) => venue.trader(`long ${i}`, 21_000));
  short.sells("limit", { margin: 5_000_000, leverage: 1, price: 50_000 });
  for (const long of longs) long.buys("limit", { margin: 20_000, leverage: 50, price: 50_000 });
  expect(short.position().size).toBe(-100);
  venue.tick();
  return { venue, longs, short };
}

function wealthOf(...traders: readonly Trader[]): number {
  return traders.reduce((sum, trader) => sum + trader.equityMicros(), 0) / 1e6;
}

function wealth({ longs, short }: Straddle): number {
  return wealthOf(...longs, short);
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
    // A coin at a loss of $4,000, and three times that for a further fall: $57,000 of a budget of $20,000.
    expect(ring.venue.backstop().size).toBe(1.05263);
    expect(ring.short.position().size).toBe(-1.05263);
  });

  test("the budget is one for the hour: a second gap in it finds nothing left", () => {
    const ring = straddle();
    ring.venue.index(45_000);
    ring.venue.tick();
    const before = worth(ring.venue);
    const late = ring.venue.trader("late", 30_000);
    ring.venue.index(45_000);
    ring.short.sells("limit", { margin: 40_000, leverage: 25, price: 45_000 });
    late.buys("limit", { margin: 20_000, leverage: 50, price: 45_000 });
    ring.venue.waits(5);
    ring.venue.index(41_000);
    ring.venue.tick();
    expect(late.position().size).toBe(0);
    expect(worth(ring.venue)).toBeGreaterThan(1_000_000 - BUDGET);
    expect(worth(ring.venue)).toBeLessThan(before);
  });

  test("a takeover at a price better than the mark: before, without budget; after, within it", () => {
    for (const [version, size] of [
      [2, 1],
      [3, 0],
    ] as const) {
      const venue = new Venue({ config: { fundLossPerHourPpm: 0 }, version });
      const bob = venue.trader("bob", 100_000);
      const alice = venue.trader("alice", 10_000);
      bob.sells("limit", { margin: 5_000, price: 50_000 });
      alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
      venue.index(49_400);
      venue.tick();
      expect(venue.backstop().size, `version ${version}`).toBe(size);
    }
  });
});

describe("the mark moves on after the hand-over", () => {
  // The loser goes over above the mark, the other side keeps winning.
  const rows: [after: number, before: number, most: number][] = [
    [10, 440_000, 0],
    [19.5, 900_000, 0],
  ];
  for (const [further, taken, most] of rows) {
    test(`a fall of 1.15 %, then ${further} %: before, the fund pays; after, within its budget`, () => {
      const gains = [2, 3].map((version) => {
        const ring = straddle(version);
        const before = wealth(ring);
        ring.venue.index(49_425);
        ring.venue.tick();
        // The guard compares with the last ten seconds.
        for (let i = 0; i < 3; i++) {
          ring.venue.waits(4);
          ring.venue.refreshesIndex();
        }
        ring.venue.index(49_425 * (1 - further / 100));
        ring.venue.tick();
        const gain = wealth(ring) - before;
        // What the ring gains is what the fund loses: nobody else is there.
        expect(1_000_000 - worth(ring.venue)).toBeGreaterThan(gain - 1);
        return gain;
      });
      expect(gains[0]).toBeGreaterThan(taken);
      expect(gains[1]).toBeLessThanOrEqual(most + BUDGET);
    });
  }

  test("nothing follows: before, it is bought back at the backstop's entry; after, at the index", () => {
    const results = [2, 3].map((version) => {
      const ring = straddle(version);
      const { venue, short } = ring;
      const fund = worth(venue);
      venue.index(49_425);
      venue.tick();
      short.buys("limit", { margin: 50_000, leverage: 1, price: 49_200 });
      for (let i = 0; i < 20; i++) {
        venue.refreshesIndex();
        venue.tick();
      }
      return { sold: venue.fund - fund, size: venue.backstop().size };
    });
    // 49,200 is above the entry of 49,000 and below the index.
    expect(results[0]!.sold).toBeGreaterThan(0);
    expect(results[1]!.sold).toBe(0);
  });

  test("its positions are bounded by the fund's worth, not only by the cap", () => {
    const ring = straddle();
    ring.venue.index(49_425);
    ring.venue.tick();
    const held = ring.venue.backstop().size * 49_425;
    const value = worth(ring.venue);
    // What it gained by taking over below the mark counts as not used.
    expect(held).toBeLessThanOrEqual(3 * (0.02 * value + (value - 1_000_000)));
    expect(held).toBeGreaterThan(2.9 * BUDGET);
  });

  test("what the budget no longer covers goes to the other side at mark", () => {
    const ring = straddle();
    ring.venue.index(49_425);
    ring.venue.tick();
    const { size } = ring.venue.backstop();
    // A fall of 12 % costs more than a third of the budget: four times what is left is less than it holds.
    ring.venue.index(43_500);
    ring.venue.tick();
    const [given] = ring.venue.happened("Traded");
    expect(given).toMatchObject({ tradeKind: 3, takerAccount: 0, priceTicks: 435_000 });
    expect(ring.venue.backstop().size).toBeLessThan(size);
    expect(worth(ring.venue)).toBeGreaterThan(1_000_000 - BUDGET);
  });
});

describe("between the index and the tick", () => {
  /** After a gap the short sells its profit on to a fresh short of little margin, which cannot pay. */
  function hides(version: number): { gain: number; refusal: string; worth: number } {
    const ring = straddle(version);
    const { venue, short, longs } = ring;
    const fresh = Array.from({ length: 5 }, (_, i) => venue.trader(`fresh ${i}`, 21_000));
    const before = wealthOf(short, ...longs, ...fresh);
    venue.index(40_500);
    let refusal = "";
    for (const each of fresh) {
      const sale = each.sells("limit", { size: 20, leverage: 50, price: 40_500 });
      refusal = sale.reason;
      short.buys("limit", { size: 20, leverage: 1, price: 40_500 });
    }
    venue.tick();
    return { gain: wealthOf(short, ...longs, ...fresh) - before, refusal, worth: worth(venue) };
  }

  test("a gap of 19 %: before, the fund pays what the fresh ones cannot; after, orders wait", () => {
    const [before, after] = [hides(2), hides(3)];
    expect(before.gain).toBeGreaterThan(600_000);
    expect(before.worth).toBeLessThan(400_000);
    expect(after.refusal).toBe("index_held");
    expect(after.gain).toBeLessThanOrEqual(BUDGET);
    expect(after.worth).toBeGreaterThanOrEqual(1_000_000 - BUDGET);
  });

  test("a jump within the lowest maintenance keeps nobody waiting; a tick ends the wait", () => {
    const { venue, short } = straddle();
    venue.index(50_500);
    expect(short.buys("limit", { margin: 50, leverage: 1, price: 50_000 }).status).toBe("resting");
    venue.index(50_600);
    expect(short.buys("limit", { margin: 50, leverage: 1, price: 50_000 }).reason).toBe(
      "index_held",
    );
    expect(short.changesMargin(-1)).toBe("index_held");
    venue.tick();
    expect(short.buys("limit", { margin: 50, leverage: 1, price: 50_000 }).status).toBe("resting");
  });
});

/** The ring holds its winning side at 1×; ten honest shorts hold $1M each at 10×, honest longs at 1×. */
describe("honest winners next to a ring", () => {
  function gap(version: number, part: number) {
    const { venue, longs, short } = straddle(version);
    const honest = Array.from({ length: 10 }, (_, i) => venue.trader(`honest ${i}`, 200_000));
    const buyer = venue.trader("honest long", 20_000_000);
    for (const each of honest) {
      each.sells("limit", { margin: 100_000, leverage: 10, price: 50_000 });
      buyer.buys("limit", { margin: 1_000_000, leverage: 1, price: 50_000 });
    }
    const before = [wealthOf(short, ...longs), wealthOf(...honest)] as const;
    gapsTo(venue, 50_000 * (1 - part), BTC);
    return {
      ring: wealthOf(short, ...longs) - before[0],
      honest: wealthOf(...honest) - before[1],
      worth: worth(venue),
    };
  }

  test("a gap of 10 %: before, the honest ones pay all; after, the ring's winners pay their part", () => {
    const [before, after] = [gap(2, 0.1), gap(3, 0.1)];
    // They gain $1M less what they are closed short of.
    expect(before.honest).toBeLessThan(640_000);
    expect(before.ring).toBeGreaterThan(370_000);
    // A third of the winners' lots are the ring's: it pays a third of the $400,000 that its longs lack.
    expect(after.honest).toBeGreaterThan(735_000);
    expect(after.ring).toBeLessThan(270_000);
    expect(after.worth).toBeGreaterThanOrEqual(1_000_000 - BUDGET);
  });
});
