import { Engine } from "@perpgate/engine";
import { genesis } from "@perpgate/engine/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { venueConfigOf } from "../listing/venue-config.js";
import { TEST_MARKETS } from "../testing/test-venue.js";
import { liquidationOf } from "./position-view.js";

const engine = new Engine();
engine.apply(genesis(1_800_000_000_000, venueConfigOf(TEST_MARKETS)));
const market = engine.state.markets[0]!;

const position = fc.record({
  side: fc.constantFrom(1, -1),
  lots: fc.integer({ min: 1, max: 3_000 }),
  entry: fc.integer({ min: 2, max: 4_000 }),
  /** Odd costs and margins, as funding and rounding produce. */
  odd: fc.integer({ min: -3, max: 3 }),
  leverage: fc.integer({ min: 1, max: 50 }),
});

test("liquidation price: the first tick from the safe side at which the rule holds", () => {
  fc.assert(
    fc.property(position, ({ side, lots, entry, odd, leverage }) => {
      const cost = side * (lots * entry + odd);
      const margin = Math.ceil((lots * entry) / leverage);
      const isDue = (ticks: number): boolean => {
        const value = side * lots * ticks;
        return margin + value - cost <= market.maintenance.of(Math.abs(value));
      };
      const ticks = liquidationOf(market, side * lots, cost, margin);
      if (ticks === null) {
        expect(side).toBe(1);
        expect(isDue(1)).toBe(false);
        return;
      }
      expect(isDue(ticks)).toBe(true);
      // One tick to the safe side it is not due, nor anywhere beyond.
      for (let step = 1; step <= 400; step++) {
        if (side < 0 && ticks - step < 1) break;
        expect(isDue(ticks + side * step)).toBe(false);
      }
    }),
    { numRuns: 400 },
  );
});
