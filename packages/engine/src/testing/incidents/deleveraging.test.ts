/**
 * 10 October 2025, several venues. In the largest day of liquidations, automatic deleveraging closed
 * far more of the winners' positions than the bankrupt ones left open; studies of the day put the
 * excess in the hundreds of millions.
 *
 * Here: lots deleveraged never exceed those of the positions that were due, as they were before the
 * tick, less what was bid in the book; nobody is flipped, and nobody is deleveraged while the backstop
 * may still take.
 */
import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import {
  BACKSTOP_ACCOUNT,
  TRADE_ADL,
  TRADE_BACKSTOP,
  TRADE_LIQUIDATION,
} from "../../events/event-table.js";
import { Venue } from "../scenarios/venue.js";
import { gapsTo, THIN } from "./scene.js";

class CountingVenue extends Venue {
  readonly sums = { book: 0, backstop: 0, deleveraged: 0, fees: 0 };
  /** By account: its lots before the tick that first liquidated it. */
  readonly due = new Map<number, number>();

  get dueLots(): number {
    return [...this.due.values()].reduce((sum, lots) => sum + lots, 0);
  }

  override tick() {
    const before = this.holdings();
    const events = super.tick();
    for (const { tradeKind, takerAccount, lots } of this.happened("Traded")) {
      if (tradeKind === TRADE_LIQUIDATION) this.sums.book += lots;
      if (tradeKind === TRADE_ADL) this.sums.deleveraged += lots;
      // What the backstop gives away is lots that it did not keep.
      if (tradeKind === TRADE_ADL && takerAccount === BACKSTOP_ACCOUNT) this.sums.backstop -= lots;
    }
    for (const { account, backstopLots, feeMicros, dustMicros } of this.happened("Liquidated")) {
      this.sums.backstop += backstopLots;
      this.sums.fees += feeMicros + dustMicros;
      const { lots, cost, margin } = before.get(account)!;
      const value = lots * this.market().mark;
      // Of the first tier.
      expect(margin + value - cost).toBeLessThanOrEqual(Math.ceil(0.025 * Math.abs(value)));
      if (!this.due.has(account)) this.due.set(account, Math.abs(lots));
    }
    return events;
  }

  /** Positions by account; a lot is worth a micro-dollar a tick. */
  private holdings(): Map<number, { lots: number; cost: number; margin: number }> {
    const { positions } = this.market();
    return new Map(
      positions.openRows().map((row) => {
        const [lots, cost] = [positions.lots(row), positions.cost(row)];
        return [positions.account(row), { lots, cost, margin: positions.margin(row) }];
      }),
    );
  }
}

interface Crash {
  readonly venue: CountingVenue;
  /** Before the gap: the lots of all longs, and of the bids, which no long's bankruptcy is above. */
  readonly longLots: number;
  readonly bidLots: number;
}

/** Twenty longs of all sizes and leverages against twenty shorts, some bids, and a gap. */
function crash(seed: number, to: number, fundSeedMicros: number): Crash {
  const random = new Random(seed, "deleveraging");
  const venue = new CountingVenue({ markets: [THIN], config: { fundSeedMicros } });
  let longLots = 0;
  for (let i = 0; i < 20; i++) {
    const long = venue.trader(`long ${i}`, 5_000);
    const short = venue.trader(`short ${i}`, 50_000);
    const size = random.int(500, 15_000) / 100;
    long.buys("limit", { size, leverage: random.int(5, 20), price: 100 });
    short.sells("market", { size, leverage: random.int(1, 10) });
    longLots += Math.round(long.position().size * THIN.lotsPerCoin);
  }
  const bidder = venue.trader("bidder", 100_000);
  bidder.buys("limit", { margin: random.int(1, 20_000), leverage: 1, price: 95 });
  const { bids } = venue.market();
  expect([bids.count, bids.bestTicks()]).toEqual([1, 95_000]);
  const bidLots = bids.lotsAt(0);
  gapsTo(venue, to, THIN);
  return { venue, longLots, bidLots };
}

describe("deleveraging closes what is missing, not more", () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    test(`an empty fund, a gap of 35 %: seed ${seed}`, () => {
      const { venue, longLots, bidLots } = crash(seed, 65, 0);
      const { sums, dueLots } = venue;
      expect(dueLots).toBe(longLots);
      expect(sums.book).toBe(Math.min(bidLots, dueLots));
      expect(sums.deleveraged).toBeGreaterThan(0);
      expect(sums.deleveraged + sums.backstop).toBeLessThanOrEqual(dueLots - bidLots);
      // The fund has fees alone. Bankrupt at $80 or above, a lot costs it 14,000 micros or more.
      expect(sums.backstop * 14_000).toBeLessThanOrEqual(1.02 * sums.fees);
    });

    test(`a full fund, a fall of 9 %: seed ${seed}`, () => {
      const { venue, bidLots } = crash(seed, 91, 50_000_000_000_000);
      const { sums, dueLots } = venue;
      expect(dueLots).toBeGreaterThan(0);
      // $4 a coin at most, of $300,000: within the budget of $1,000,000, and so is a further fall.
      expect(sums.deleveraged).toBe(0);
      expect(sums.backstop).toBeLessThanOrEqual(Math.max(0, dueLots - bidLots));
    });
  }

  test("a backstop that may take everything: nobody is deleveraged", () => {
    const venue = new CountingVenue({ markets: [THIN] });
    const long = venue.trader("long", 5_000);
    const short = venue.trader("short", 50_000);
    long.buys("limit", { margin: 1_000, leverage: 20, price: 100 });
    short.sells("market", { margin: 10_000, leverage: 2 });
    venue.index(96);
    venue.tick();
    expect(venue.sums.deleveraged).toBe(0);
    expect(venue.happened("Traded").map(({ tradeKind }) => tradeKind)).toEqual([TRADE_BACKSTOP]);
    expect(short.position().size).toBeCloseTo(-200, 3);
  });
});
