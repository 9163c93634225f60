import type { Candle } from "@perpgate/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { baseOf, beginOf, INTERVALS, MADE_INTERVALS, made, madeOf, stepMsOf } from "./intervals.js";

const MINUTE_MS = 60_000;
const candle = (time: number, price: number, volume = 1): Candle => ({
  time,
  open: price,
  high: price + 2,
  low: price - 2,
  close: price + 1,
  volume,
  trades: 1,
});

test("made candles: open of the first part, close of the last, extremes and sums of all", () => {
  const parts = [candle(180_000, 10, 0.1), candle(240_000, 14, 0.2), candle(360_000, 5, 0.3)];
  expect(madeOf(parts, "3m", true)).toEqual([
    { time: 180_000, open: 10, high: 16, low: 8, close: 15, volume: 0.3, trades: 2 },
    { time: 360_000, open: 5, high: 7, low: 3, close: 6, volume: 0.3, trades: 1 },
  ]);
});

test("made candles: the first one is left out while its beginning may not be loaded", () => {
  const parts = [candle(240_000, 14), candle(360_000, 5)];
  expect(madeOf(parts, "3m", false).map(({ time }) => time)).toEqual([360_000]);
  expect(madeOf(parts, "3m", true).map(({ time }) => time)).toEqual([180_000, 360_000]);
});

test("intervals: weeks begin on Monday, all others with the epoch; each is whole candles of the venue", () => {
  const at = Date.parse("2026-11-19T17:31:00Z");
  const begins = new Map(
    INTERVALS.map((each) => [each, new Date(beginOf(at, each)).toISOString().slice(5, 16)]),
  );
  expect(begins.get("1w")).toBe("11-16T00:00");
  expect(begins.get("12h")).toBe("11-19T12:00");
  expect(begins.get("30m")).toBe("11-19T17:30");
  for (const each of MADE_INTERVALS) expect(stepMsOf(each) % stepMsOf(baseOf(each))).toBe(0);
});

test("made candles, live: the same as those of the whole list, however it arrives", () => {
  const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { minLength: 2, maxLength: 25 });
  fc.assert(
    fc.property(minutes, fc.nat({ max: 24 }), (some, loaded) => {
      const all = some.toSorted((a, b) => a - b).map((at) => candle(at * MINUTE_MS, 100 + at));
      let shown: readonly Candle[] = [];
      const grown = made("3m", {
        replaced: (candles) => {
          shown = candles;
        },
        updated: (last) => {
          const isNew = shown.at(-1)?.time !== last.time;
          shown = isNew ? [...shown, last] : shown.with(-1, last);
        },
      });
      grown.replaced(all.slice(0, loaded), 0, true);
      for (const each of all.slice(loaded)) {
        grown.updated({ ...each, close: each.close - 1 });
        grown.updated(each);
      }
      expect(shown).toEqual(madeOf(all, "3m", true));
    }),
  );
});
