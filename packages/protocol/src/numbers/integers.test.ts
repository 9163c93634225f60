import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  divCeil,
  divFloor,
  IntegerOverflow,
  mulDivCeil,
  mulDivFloor,
  mulDivTrunc,
  mulExact,
} from "./integers.js";

const MAX = Number.MAX_SAFE_INTEGER;
/** Safe integers of every magnitude: fast-check alone rarely draws the ones near 2^53. */
const magnitude = fc
  .tuple(fc.maxSafeNat(), fc.integer({ min: 0, max: 52 }))
  .map(([n, shift]) => Math.floor(n / 2 ** shift));
const positive = magnitude.map((n) => Math.max(1, n));

function exactFloor(a: number, b: number, c: number): bigint {
  return (BigInt(a) * BigInt(b)) / BigInt(c);
}
function exactCeil(a: number, b: number, c: number): bigint {
  return (BigInt(a) * BigInt(b) + BigInt(c) - 1n) / BigInt(c);
}
function agrees(actual: () => number, exact: bigint): void {
  if (exact > BigInt(MAX)) expect(actual).toThrow(IntegerOverflow);
  else expect(BigInt(actual())).toBe(exact);
}

describe("mulDiv", () => {
  test("mulDivFloor: equals BigInt for every magnitude, or throws", () => {
    fc.assert(
      fc.property(magnitude, magnitude, positive, (a, b, c) => {
        agrees(() => mulDivFloor(a, b, c), exactFloor(a, b, c));
      }),
      { numRuns: 20_000 },
    );
  });
  test("mulDivCeil: equals BigInt for every magnitude, or throws", () => {
    fc.assert(
      fc.property(magnitude, magnitude, positive, (a, b, c) => {
        agrees(() => mulDivCeil(a, b, c), exactCeil(a, b, c));
      }),
      { numRuns: 20_000 },
    );
  });
  test("mulDiv: quotients one step either side of an integer", () => {
    fc.assert(
      fc.property(positive, positive, fc.integer({ min: -1, max: 1 }), (q, c, off) => {
        const product = BigInt(q) * BigInt(c) + BigInt(off);
        // Any factorisation works; powers of two keep both factors exact.
        let a = product;
        let b = 1n;
        while (a % 2n === 0n && a > BigInt(MAX)) {
          a /= 2n;
          b *= 2n;
        }
        fc.pre(product > 0n && a <= BigInt(MAX) && b <= BigInt(MAX));
        agrees(() => mulDivFloor(Number(a), Number(b), c), product / BigInt(c));
      }),
      { numRuns: 20_000 },
    );
  });
  test("mulDivTrunc: cuts toward zero on both sides", () => {
    expect(mulDivTrunc(-7, 1, 2)).toBe(-3);
    expect(mulDivTrunc(7, 1, 2)).toBe(3);
    expect(Object.is(mulDivTrunc(-1, 1, 2), 0)).toBe(true);
  });
});

describe("division and product", () => {
  test("divFloor and divCeil: exact up to 2^53", () => {
    fc.assert(
      fc.property(magnitude, positive, (x, c) => {
        expect(BigInt(divFloor(x, c))).toBe(BigInt(x) / BigInt(c));
        expect(BigInt(divCeil(x, c))).toBe((BigInt(x) + BigInt(c) - 1n) / BigInt(c));
      }),
      { numRuns: 20_000 },
    );
  });
  test("mulExact: throws for a product beyond the safe integers", () => {
    expect(mulExact(2 ** 26, 2 ** 26)).toBe(2 ** 52);
    expect(() => mulExact(2 ** 27, 2 ** 27)).toThrow(IntegerOverflow);
  });
});
