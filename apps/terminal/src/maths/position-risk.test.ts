/** The margin ratio and the liquidation price say the same. */

import { BTC, SOL } from "@perpgate/engine/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unitsOf } from "../testing/engine-fixture.js";
import { applyFill, type Direction, NO_HOLDING } from "./position-maths.js";
import { riskOf } from "./position-risk.js";

describe.each([
  ["BTCUSD", BTC],
  ["SOLUSD", SOL],
] as const)("risk, %s", (_, listing) => {
  const units = unitsOf(listing);

  test("the ratio reaches 1 at the liquidation price, and is below 1 a tick before it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Direction>(1, -1),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 10, max: 5_000 }),
        (direction, leverage, lots) => {
          const ticks = Math.round(listing.startPrice * listing.ticksPerDollar);
          const fill = { direction, lots, ticks, markTicks: ticks, leverage, feePpm: 500 };
          const { after } = applyFill(units, NO_HOLDING, fill);
          const risk = riskOf(units, after, ticks);
          expect(risk?.ratio).toBeLessThan(1);
          if (risk?.distance === null || risk === undefined) return;
          expect(Math.sign(risk.distance)).toBe(-direction);
          const liquidation = Math.round(ticks * (1 + risk.distance));
          expect(riskOf(units, after, liquidation)?.ratio).toBeGreaterThanOrEqual(1);
          expect(riskOf(units, after, liquidation + direction)?.ratio).toBeLessThan(1);
        },
      ),
    );
  });

  test("no position has no risk", () => {
    expect(riskOf(units, NO_HOLDING, 1_000)).toBeUndefined();
  });
});
