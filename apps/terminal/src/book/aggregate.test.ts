import fc from "fast-check";
import { expect, test } from "vitest";
import { aggregate, stepsFor } from "./aggregate.js";

const anySide = fc
  .uniqueArray(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 200 })
  .chain((ticks) =>
    fc.record({
      ticks: fc.constant(ticks.toSorted((a, b) => b - a)),
      lots: fc.array(fc.integer({ min: 1, max: 1_000 }), {
        minLength: ticks.length,
        maxLength: ticks.length,
      }),
    }),
  );

test("rows: every lot in one row, at its price or better, with cumulative sums", () => {
  fc.assert(
    fc.property(anySide, fc.integer({ min: 1, max: 300 }), (bids, step) => {
      const asks = { ticks: bids.ticks.toReversed(), lots: bids.lots.toReversed() };
      for (const [side, levels] of [
        ["bid", bids],
        ["ask", asks],
      ] as const) {
        const rows = aggregate(side, { ...levels, count: levels.ticks.length }, step, 1_000);
        const total = levels.lots.reduce((sum, lots) => sum + lots, 0);
        expect(rows.at(-1)?.sumLots).toBe(total);
        expect(rows.reduce((sum, { lots }) => sum + lots, 0)).toBe(total);
        for (const { ticks, lots } of rows) {
          const inRow = levels.ticks.flatMap((tick, at) => {
            const distance = side === "bid" ? tick - ticks : ticks - tick;
            return distance >= 0 && distance < step ? [levels.lots[at] ?? 0] : [];
          });
          expect(ticks % step).toBe(0);
          expect(inRow.reduce((sum, one) => sum + one, 0)).toBe(lots);
        }
      }
    }),
  );
});

test("steps: from one tick up to half a percent of the price", () => {
  expect(stepsFor(650_000)).toEqual([1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000]);
  expect(stepsFor(1)).toEqual([1]);
});
