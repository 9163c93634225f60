import { describe, expect, test } from "vitest";
import { Random, randomAt, randomKey } from "./random.js";

describe("Random", () => {
  test("a seed and a name: always this sequence", () => {
    const btc = new Random(1, "BTCUSD");
    expect(Array.from({ length: 4 }, () => btc.uint32())).toEqual([
      934061828, 3744381603, 753902770, 1644938191,
    ]);
    const gusts = new Random(3_141_592_653, "ETHUSD/gusts");
    const draws = Array.from({ length: 3_000 }, () => gusts.uint32());
    expect(draws.slice(-4)).toEqual([1497481056, 1540461873, 3485503452, 871383047]);
  });

  test("next: even over the unit interval", () => {
    const random = new Random(42, "even");
    const bins = new Array<number>(10).fill(0);
    for (let i = 0; i < 100_000; i++) {
      const bin = Math.floor(random.next() * 10);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    for (const count of bins) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  test("normal: mean 0, deviation 1, always finite", () => {
    const random = new Random(42, "normal");
    const draws = Array.from({ length: 50_000 }, () => random.normal());
    const mean = draws.reduce((sum, value) => sum + value, 0) / draws.length;
    const variance = draws.reduce((sum, value) => sum + value ** 2, 0) / draws.length;
    expect(mean).toBeCloseTo(0, 1);
    expect(variance).toBeCloseTo(1, 1);
    expect(draws.every(Number.isFinite)).toBe(true);
  });

  test("int, below, between: all values within their bounds, both ends of int included", () => {
    const random = new Random(7);
    const ints = Array.from({ length: 1_000 }, () => random.int(-2, 2));
    expect(new Set(ints)).toEqual(new Set([-2, -1, 0, 1, 2]));
    const below = Array.from({ length: 1_000 }, () => random.below(3));
    expect(new Set(below)).toEqual(new Set([0, 1, 2]));
    const between = Array.from({ length: 1_000 }, () => random.between(5, 6));
    expect(between.every((x) => x >= 5 && x < 6)).toBe(true);
  });

  test("weighted: as often as the weights say, never a weight of 0", () => {
    const random = new Random(7);
    const draws = Array.from({ length: 10_000 }, () => random.weighted({ a: 3, b: 0, c: 1 }));
    const share = draws.filter((key) => key === "a").length / draws.length;
    expect(share).toBeCloseTo(0.75, 1);
    expect(draws).not.toContain("b");
  });

  test("nothing to choose from: throws", () => {
    expect(() => new Random(1).pick([])).toThrow(RangeError);
    expect(() => new Random(1).weighted({})).toThrow(RangeError);
  });
});

test("randomAt: a function of key and place", () => {
  const key = randomKey(1, "ladder/BTCUSD");
  expect(key).toBe(-1438510702);
  expect(randomAt(key, 650_000) * 2 ** 32).toBe(3908595344);
  expect(randomAt(5, 2 ** 40 + 7) * 2 ** 32).toBe(3889062252);
});
