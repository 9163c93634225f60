import { expect, test } from "vitest";
import { lastAverage, movingAverage } from "./moving-average.js";

test("moving average: of the last closes, from the first full window on", () => {
  const candles = [1, 2, 3, 4, 10].map((close, at) => ({ time: at * 60_000, close }));
  expect(movingAverage(candles, 3)).toEqual([
    { time: 120_000, value: 2 },
    { time: 180_000, value: 3 },
    { time: 240_000, value: 17 / 3 },
  ]);
  expect(lastAverage(candles, 3)).toEqual({ time: 240_000, value: 17 / 3 });
  expect(movingAverage(candles, 6)).toEqual([]);
  expect(lastAverage(candles, 6)).toBeUndefined();
});
