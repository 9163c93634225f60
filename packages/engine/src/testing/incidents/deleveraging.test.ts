/**
 * 10 October 2025, several venues. In the largest day of liquidations, automatic deleveraging closed
 * far more of the winners' positions than the bankrupt ones left open; studies of the day put the
 * excess in the hundreds of millions.
 *
 * Here: lots deleveraged never exceed the lots that neither book nor backstop took, by more than one
 * lot a step; nobody is flipped, and nobody is deleveraged while the backstop may still take.
 */
import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import { TRADE_ADL, TRADE_BACKSTOP, TRADE_LIQUIDATION } from "../../events/event-table.js";
import { Venue } from "../scenarios/venue.js";
import { gapsTo, THIN } from "./scene.js";

interface Sums {
  /** Lots that left liquidated positions. */
  closed: number;
  book: number;
  backstop: number;
  deleveraged: number;
  steps: number;
}

class CountingVenue extends Venue {
  readonly sums: Sums = { closed: 0, book: 0, backstop: 0, deleveraged: 0, steps: 0 };

  override tick() {
    const { positions } = this.market();
    const sizes = (): Map<number, number> =>
      new Map(positions.openRows().map((row) => [positions.account(row), positions.lots(row)]));
    const before = sizes();
    const events = super.tick();
    const after = sizes();
    for (const { tradeKind, lots } of this.happened("Traded")) {
      if (tradeKind === TRADE_LIQUIDATION) this.sums.book += lots;
      if (tradeKind === TRADE_ADL) this.sums.deleveraged += lots;
      if (tradeKind === TRADE_ADL) this.sums.steps++;
    }
    for (const { account, backstopLots } of this.happened("Liquidated")) {
      this.sums.closed += Math.abs(before.get(account) ?? 0) - Math.abs(after.get(account) ?? 0);
      this.sums.backstop += backstopLots;
    }
    return events;
  }
}

/** Twenty longs of all sizes and leverages against twenty shorts, some bids, and a gap. */
function crash(seed: number, to: number, fundSeedMicros: number): CountingVenue {
  const random = new Random(seed, "deleveraging");
  const venue = new CountingVenue({ markets: [THIN], config: { fundSeedMicros } });
  for (let i = 0; i < 20; i++) {
    const long = venue.trader(`long ${i}`, 5_000);
    const short = venue.trader(`short ${i}`, 50_000);
    const notional = random.int(500, 15_000);
    const fast = random.int(5, 20);
    long.buys("limit", { margin: notional / fast, leverage: fast, price: 100 });
    const slow = random.int(1, 10);
    short.sells("market", { margin: notional / slow, leverage: slow });
  }
  const bidder = venue.trader("bidder", 100_000);
  bidder.buys("limit", { margin: random.int(1, 20_000), leverage: 1, price: 95 });
  gapsTo(venue, to, THIN);
  return venue;
}

describe("deleveraging closes what is missing, not more", () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    test(`an empty fund, a gap of 35 %: seed ${seed}`, () => {
      const { sums } = crash(seed, 65, 0);
      const missing = sums.closed - sums.book - sums.backstop;
      expect(sums.deleveraged).toBeGreaterThan(0);
      expect(sums.deleveraged).toBeLessThanOrEqual(missing + sums.steps);
    });

    test(`a full fund, a fall of 9 %: seed ${seed}`, () => {
      const { sums } = crash(seed, 91, 1_000_000_000_000);
      const missing = sums.closed - sums.book - sums.backstop;
      expect(sums.deleveraged).toBeLessThanOrEqual(missing + sums.steps);
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
