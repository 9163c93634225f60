import fc from "fast-check";
import { expect, test } from "vitest";
import { priceFor, sizeFor } from "./rounding.js";

const MARKET = { tickSize: 0.1, lotSize: 0.00001 };

test("prices: a buy never pays more, a sale never gets less, and both are on the tick", () => {
  expect(priceFor(MARKET, "long", 64_999.97)).toBe(64_999.9);
  expect(priceFor(MARKET, "short", 64_999.91)).toBe(65_000);
  // Noise of sums is no remainder.
  expect(priceFor(MARKET, "long", 0.1 + 0.2)).toBe(0.3);
  expect(priceFor(MARKET, "short", 0.1 + 0.2)).toBe(0.3);
  fc.assert(
    fc.property(fc.double({ min: 1, max: 200_000, noNaN: true }), (price) => {
      const [bid, ask] = [priceFor(MARKET, "long", price), priceFor(MARKET, "short", price)];
      expect(bid).toBeLessThanOrEqual(price * (1 + 1e-8));
      expect(ask).toBeGreaterThanOrEqual(price * (1 - 1e-8));
      expect(ask - bid).toBeLessThan(0.1 + 1e-9);
      expect(Math.round(bid * 10) / 10).toBe(bid);
    }),
  );
});

test("sizes: whole lots, never more than asked", () => {
  expect(sizeFor(MARKET, 0.012_349)).toBe(0.01234);
  expect(sizeFor(MARKET, 0.1 + 0.2)).toBe(0.3);
  expect(sizeFor(MARKET, 0.000_009)).toBe(0);
  expect(sizeFor({ lotSize: 5 }, 14)).toBe(10);
});
