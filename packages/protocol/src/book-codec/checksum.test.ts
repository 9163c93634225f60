import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Random } from "../numbers/random.js";
import { sampleBooks } from "../testing/sample-books.js";
import { BookChecksum, mix32 } from "./checksum.js";
import type { BookSide, Level } from "./layout.js";

const tick = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const lots = fc.integer({ min: 1, max: 2 ** 31 - 1 });

function sumOf(side: BookSide, levels: readonly Level[]): number {
  return levels.reduce((sum, [at, size]) => (sum + mix32(side, at, size)) >>> 0, 0);
}

describe("mix32", () => {
  test("one level with another size or another price: another value, always", () => {
    fc.assert(
      fc.property(tick, tick, lots, lots, (tickA, tickB, lotsA, lotsB) => {
        fc.pre(tickA !== tickB && lotsA !== lotsB);
        expect(mix32("bid", tickA, lotsA)).not.toBe(mix32("bid", tickA, lotsB));
        expect(mix32("ask", tickA, lotsA)).not.toBe(mix32("ask", tickB, lotsA));
      }),
      { numRuns: 5_000 },
    );
  });

  test("sides swapped, ticks swapped, tick and lots exchanged: another sum", () => {
    fc.assert(
      fc.property(tick, tick, lots, lots, (tickA, tickB, lotsA, lotsB) => {
        fc.pre(tickA !== tickB && lotsA !== lotsB && tickA !== lotsA);
        const sum = sumOf("bid", [
          [tickA, lotsA],
          [tickB, lotsB],
        ]);
        expect(sum).not.toBe(
          sumOf("ask", [
            [tickA, lotsA],
            [tickB, lotsB],
          ]),
        );
        expect(sum).not.toBe(
          sumOf("bid", [
            [tickB, lotsA],
            [tickA, lotsB],
          ]),
        );
        expect(mix32("bid", tickA, lotsA)).not.toBe(mix32("bid", lotsA, tickA));
      }),
      { numRuns: 5_000, seed: 20_261_115 },
    );
  });

  test("bits above 2^32: count, in ticks and in lots", () => {
    expect(mix32("bid", 5, 7)).not.toBe(mix32("bid", 5 + 2 ** 32, 7));
    expect(mix32("bid", 5, 7)).not.toBe(mix32("bid", 5, 7 + 2 ** 32));
    expect(mix32("bid", 5 + 2 ** 32, 7)).not.toBe(mix32("bid", 5, 7 + 2 ** 32));
  });

  test("a million levels: as many equal values as chance would have", () => {
    const random = new Random(20_261_115);
    const values = new Uint32Array(1_000_000);
    for (let i = 0; i < values.length; i++) {
      const size = 1 + random.below(2 ** 31);
      values[i] = mix32(i % 2 === 0 ? "bid" : "ask", 600_000 + (i >> 1), size);
    }
    // n² / 2 pairs, each equal with a chance of 2^-32: 116 are expected, with a deviation of 11.
    const equal = values.length - new Set(values).size;
    expect(equal).toBeGreaterThan(60);
    expect(equal).toBeLessThan(180);
  });

  test("avalanche: a flipped input bit flips each output bit about half the time", () => {
    const random = new Random(20_261_115);
    const samples = 2_000;
    for (const word of ["tick", "lots"] as const) {
      for (let bit = 0; bit < 33; bit++) {
        const flips = new Float64Array(32);
        for (let i = 0; i < samples; i++) {
          const at = random.below(2 ** 30);
          const size = random.below(2 ** 30);
          const flipped = (value: number) =>
            Math.floor(value / 2 ** bit) % 2 === 0 ? value + 2 ** bit : value - 2 ** bit;
          const other =
            word === "tick" ? mix32("bid", flipped(at), size) : mix32("bid", at, flipped(size));
          const difference = mix32("bid", at, size) ^ other;
          for (let out = 0; out < 32; out++) flips[out]! += (difference >>> out) & 1;
        }
        for (const count of flips) expect(Math.abs(count / samples - 0.5)).toBeLessThan(0.06);
      }
    }
  });
});

describe("BookChecksum", () => {
  test("after changes: the sum over the remaining levels", () => {
    const random = new Random(7);
    const checksum = new BookChecksum();
    const book = new Map<number, number>();
    for (let i = 0; i < 20_000; i++) {
      const at = 650_000 + random.below(500);
      const before = book.get(at) ?? 0;
      const after = random.next() < 0.4 ? 0 : 1 + random.below(1_000_000);
      checksum.set("ask", at, before, after);
      if (after === 0) book.delete(at);
      else book.set(at, after);
    }
    expect(checksum.value).toBe(sumOf("ask", [...book]));
    for (const [at, size] of book) checksum.set("ask", at, size, 0);
    expect(checksum.value).toBe(0);
  });

  test("any one level of a book gone or different: another sum", () => {
    const { bids } = sampleBooks(5)[0]!;
    const whole = sumOf("bid", bids);
    for (const [at, size] of bids) {
      const checksum = new BookChecksum();
      checksum.set("bid", at, size, 0);
      expect((whole + checksum.value) >>> 0).not.toBe(whole);
      checksum.set("bid", at, 0, size + 1);
      expect((whole + checksum.value) >>> 0).not.toBe(whole);
    }
  });
});
