import { expect, test } from "vitest";
import { curveOf, depthRange } from "./depth-curve.js";
import { SortedLevels } from "./levels.js";

test("levels: at most the requested depth, or all", () => {
  const book = {
    depth: () => 1_000,
    copyLevels: (_: string, ticks: Float64Array, lots: Float64Array) => {
      const count = Math.min(1_000, ticks.length, lots.length);
      for (let at = 0; at < count; at++) [ticks[at], lots[at]] = [5_000 - at, at + 1];
      return count;
    },
  };
  const levels = new SortedLevels();
  expect([...levels.read(book, "bid", 2)]).toEqual([
    [5_000, 1],
    [4_999, 2],
  ]);
  expect(levels.read(book, "bid").count).toBe(1_000);
  expect(levels.ticks[999]).toBe(4_001);
});

test("depth: as wide as the shorter side, cumulative at every price", () => {
  const bids = { ticks: [100, 90, 10], lots: [1, 2, 4], count: 3 };
  const asks = { ticks: [110, 120], lots: [3, 5], count: 2 };
  const wide = { ...bids, ticks: [10_000, 9_990, 9_800], count: 3 };
  expect(depthRange({ ticks: [], lots: [], count: 0 }, { ticks: [], lots: [], count: 0 })).toBe(
    undefined,
  );
  expect(depthRange(wide, { ...asks, ticks: [10_010, 10_020] })).toEqual({
    low: 9_990,
    high: 10_020,
    middle: 10_005,
  });
  const curve = curveOf(bids, 50);
  expect([curve.total, curve.at(100), curve.at(95), curve.at(50), curve.at(105)]).toEqual([
    3, 1, 1, 3, 0,
  ]);
});
