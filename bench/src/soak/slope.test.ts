import { expect, test } from "vitest";
import { lowest, slopeOf } from "./slope.js";

const line = (count: number, y: (x: number) => number) =>
  Array.from({ length: count }, (_, x) => ({ x, y: y(x) }));

test("slope: a straight line has its own, outliers or not", () => {
  expect(slopeOf(line(20, (x) => 3 * x + 7))).toBe(3);
  expect(slopeOf(line(21, (x) => (x % 5 === 4 ? 1_000 : 3 * x)))).toBe(3);
});

test("slope: noise around a level has next to none", () => {
  expect(Math.abs(slopeOf(line(100, (x) => 50 + (x % 2))))).toBeLessThan(0.02);
});

test("slope: one point, or none, has none", () => {
  expect(slopeOf([])).toBe(0);
  expect(slopeOf([{ x: 1, y: 9 }])).toBe(0);
});

test("lowest: a sawtooth becomes its floor", () => {
  const floor = lowest(
    line(40, (x) => 100 + (x % 10)),
    10,
  );
  expect(floor).toEqual([
    { x: 0, y: 100 },
    { x: 10, y: 100 },
    { x: 20, y: 100 },
    { x: 30, y: 100 },
  ]);
});
