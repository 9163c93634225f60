import { ApiError, fromSteps, stepOf } from "@perpgate/protocol/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ticksOf } from "./order-units.js";

function ticks(price: number, tickSize: number): number | string {
  try {
    return ticksOf(price, { symbol: "AAAUSD", tick: stepOf(tickSize) }, "price");
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

test.each([
  [0.5, 1e15],
  [0.5, 9_007_199_254_740_991],
  [0.25, 4e14],
  [5e-8, 1e8],
])("tick %d, price %d: refused, since it could not be read back", (tickSize, price) => {
  expect(ticks(price, tickSize)).toBe("invalid_request");
});

test("whatever is accepted is read back as the same number; the rest has a code", () => {
  const size = fc.constantFrom(0.5, 0.25, 0.05, 0.001, 5e-8, 1, 25);
  const price = fc.oneof(
    fc.double({ min: 5e-324, max: Number.MAX_SAFE_INTEGER, noNaN: true }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  );
  fc.assert(
    fc.property(price, size, (given, tickSize) => {
      const found = ticks(given, tickSize);
      if (typeof found === "string") {
        expect(["invalid_request", "price_not_on_tick"]).toContain(found);
        return;
      }
      const back = fromSteps(found, stepOf(tickSize));
      expect(Math.abs(back - given)).toBeLessThan(tickSize * 1e-8);
    }),
    { numRuns: 2_000 },
  );
});
