import fc from "fast-check";
import { expect, test } from "vitest";
import { alignDecimals, decimalOf } from "./units.js";

test("decimalOf: reads back as the same double", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const { digits, scale } = decimalOf(value);
      expect(Number(`${digits}e${-scale}`)).toBe(value === 0 ? 0 : value);
    }),
    { numRuns: 10_000 },
  );
});

test("decimalOf: keeps the written decimal, with exponents too", () => {
  expect(decimalOf(0.1)).toEqual({ digits: 1n, scale: 1 });
  expect(decimalOf(1200)).toEqual({ digits: 12n, scale: -2 });
  expect(decimalOf(1.5e-9)).toEqual({ digits: 15n, scale: 10 });
  expect(decimalOf(2e21)).toEqual({ digits: 2n, scale: -21 });
  expect(decimalOf(-0.25)).toEqual({ digits: -25n, scale: 2 });
  expect(() => decimalOf(Number.NaN)).toThrow(RangeError);
});

test("alignDecimals: one scale for both", () => {
  expect(alignDecimals(decimalOf(1.5), decimalOf(0.25))).toEqual([150n, 25n]);
});
