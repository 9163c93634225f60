import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decimalOf,
  fromMicros,
  fromSteps,
  microsPerTickLot,
  NotInUnits,
  stepOf,
  toMicrosFloor,
  toSteps,
} from "./units.js";

const MAX = Number.MAX_SAFE_INTEGER;
const steps = fc.constantFrom(0.1, 0.01, 0.001, 0.0001, 0.00001, 0.5, 0.25, 1, 2.5, 25, 100, 1e-8);

/** The value as an exact fraction of 10^-40: an independent reading of the same decimal text. */
function exactly(value: number): bigint {
  const { digits, scale } = decimalOf(value);
  return digits * 10n ** BigInt(40 - scale);
}

describe("steps", () => {
  test("fromSteps then toSteps: the same count for every step and magnitude", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 10_000_000_000 }), (size, count) => {
        const step = stepOf(size);
        expect(toSteps(fromSteps(count, step), step)).toBe(count);
      }),
      { numRuns: 20_000 },
    );
  });

  test("fromSteps: prints the shortest decimal, with no binary noise", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000_000 }), (count) => {
        const text = String(count).padStart(2, "0");
        const decimal = `${text.slice(0, -1)}.${text.slice(-1)}`;
        expect(fromSteps(count, stepOf(0.1))).toBe(Number(decimal));
      }),
    );
    expect(String(fromSteps(650001, stepOf(0.1)))).toBe("65000.1");
    expect(fromSteps(-3, stepOf(0.1))).toBe(-0.3);
  });

  test("toSteps: accepts exactly what is less than a billionth of a step away", () => {
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.double({ min: -1e-7, max: 1e-7, noNaN: true }),
        (size, count, offset) => {
          const step = stepOf(size);
          const value = fromSteps(count, step) + offset * size;
          fc.pre(value > 0);
          const difference = exactly(value) - BigInt(count) * exactly(size);
          const distance = difference < 0n ? -difference : difference;
          if (distance * 1_000_000_000n < exactly(size)) expect(toSteps(value, step)).toBe(count);
          else expect(() => toSteps(value, step)).toThrow(NotInUnits);
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test("toSteps: accepts float noise", () => {
    expect(toSteps(0.1 + 0.2, stepOf(0.1))).toBe(3);
    expect(toSteps(0.1 * 650001, stepOf(0.1))).toBe(650001);
    expect(toSteps(1.1 * 3, stepOf(0.1))).toBe(33);
  });

  test.each([
    [65000.05, 0.1, "off_step"],
    [65000.1000001, 0.1, "off_step"],
    [0.04, 0.1, "off_step"],
    [5e-324, 0.1, "off_step"],
    [0, 0.1, "not_positive"],
    [-1, 0.1, "not_positive"],
    [Number.NaN, 0.1, "not_finite"],
    [Number.POSITIVE_INFINITY, 0.1, "not_finite"],
    [Number.MAX_VALUE, 0.1, "out_of_range"],
    [1e16, 0.1, "out_of_range"],
  ])("toSteps: %d on a step of %d is rejected as %s", (value, size, rule) => {
    expect(() => toSteps(value, stepOf(size))).toThrow(expect.objectContaining({ rule }));
  });

  test("stepOf: rejects an unusable step", () => {
    for (const size of [0, -0.1, Number.NaN, Number.POSITIVE_INFINITY, 1e-30, 1e300]) {
      expect(() => stepOf(size)).toThrow(NotInUnits);
    }
  });

  test("fromSteps: rejects a product that is not an exact double", () => {
    expect(() => fromSteps(MAX, stepOf(25))).toThrow(NotInUnits);
    expect(() => fromSteps(0.5, stepOf(1))).toThrow(NotInUnits);
  });
});

describe("micros", () => {
  test("fromMicros then toMicrosFloor: the same for every amount a venue can hold", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 52 }), (micros) => {
        expect(toMicrosFloor(fromMicros(micros))).toBe(micros);
      }),
      { numRuns: 20_000 },
    );
  });

  test("toMicrosFloor: never more than the decimal that was written, less by under a micro", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (dollars) => {
        const micros = BigInt(toMicrosFloor(dollars));
        // Scaled by 10^340 so that even the smallest double is a whole number.
        const { digits, scale } = decimalOf(dollars);
        const written = digits * 10n ** BigInt(346 - scale);
        expect(micros * 10n ** 340n <= written).toBe(true);
        expect((micros + 1n) * 10n ** 340n > written).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  test("toMicrosFloor: floors the seventh decimal and keeps the sixth", () => {
    expect(toMicrosFloor(0.29)).toBe(290_000);
    expect(toMicrosFloor(1.0000019)).toBe(1_000_001);
    expect(toMicrosFloor(1e-7)).toBe(0);
    expect(toMicrosFloor(4_503_599_627.370496)).toBe(2 ** 52);
    expect(() => toMicrosFloor(1e10)).toThrow(NotInUnits);
    expect(() => toMicrosFloor(-1)).toThrow(NotInUnits);
    expect(() => toMicrosFloor(Number.NaN)).toThrow(NotInUnits);
  });

  test("microsPerTickLot: one micro for the default markets, an error below one", () => {
    expect(microsPerTickLot(stepOf(0.1), stepOf(0.00001))).toBe(1);
    expect(microsPerTickLot(stepOf(0.01), stepOf(0.0001))).toBe(1);
    expect(microsPerTickLot(stepOf(0.5), stepOf(0.001))).toBe(500);
    expect(() => microsPerTickLot(stepOf(0.01), stepOf(0.00001))).toThrow(NotInUnits);
  });
});
