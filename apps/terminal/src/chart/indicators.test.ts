import type { Candle } from "@perpgate/protocol";
import { expect, test } from "vitest";
import { INDICATORS, type Values } from "./indicators.js";

const MINUTE_MS = 60_000;
const MIDNIGHT_MS = Date.parse("2026-03-01T00:00:00Z");

function candlesOf(closes: readonly number[], begin = MIDNIGHT_MS): Candle[] {
  return closes.map((close, at) => ({
    time: begin + at * MINUTE_MS,
    open: close,
    high: close + 1,
    low: close - 1,
    close,
    volume: at + 1,
    trades: 1,
  }));
}

/** The values at each candle; each is first given with another close, as a live one is. */
function valuesOf(name: string, candles: readonly Candle[]): Values[] {
  const steps = INDICATORS.find((indicator) => indicator.name === name)!.begin();
  return candles.map((candle) => {
    steps.next({ ...candle, close: candle.close * 1.5, volume: candle.volume * 3 });
    return steps.again(candle);
  });
}

/** A walk that rises and falls. */
const CLOSES = Array.from({ length: 60 }, (_, i) => 100 + 10 * Math.sin(i / 3) + (i % 4));

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

test("moving averages: of the last 7 and 25 closes, from the first full window on", () => {
  const values = valuesOf("averages", candlesOf(CLOSES));
  for (const [at, [short, long]] of values.entries()) {
    const expected = [7, 25].map((length) =>
      at + 1 < length ? undefined : meanOf(CLOSES.slice(at + 1 - length, at + 1)),
    );
    for (const [i, value] of [short, long].entries()) {
      if (expected[i] === undefined) expect(value).toBeUndefined();
      else expect(value).toBeCloseTo(expected[i], 9);
    }
  }
});

test("exponential average: begins with a mean, then 2/21 of each close", () => {
  const values = valuesOf("ema", candlesOf(CLOSES)).flat();
  expect(values.slice(0, 19)).toEqual(Array.from({ length: 19 }, () => undefined));
  let expected = meanOf(CLOSES.slice(0, 20));
  for (const [i, close] of CLOSES.entries()) {
    if (i < 19) continue;
    if (i > 19) expected = (close * 2) / 21 + (expected * 19) / 21;
    expect(values[i]).toBeCloseTo(expected, 9);
  }
});

test("Bollinger bands: two population deviations around the mean", () => {
  const values = valuesOf("bollinger", candlesOf([...Array(19).fill(10), 30, 10]));
  expect(values[18]).toEqual([undefined, undefined, undefined]);
  // Mean 11, deviation √19.
  const [upper, middle, lower] = values[19]!;
  expect(middle).toBeCloseTo(11, 9);
  expect(upper).toBeCloseTo(11 + 2 * Math.sqrt(19), 9);
  expect(lower).toBeCloseTo(11 - 2 * Math.sqrt(19), 9);
});

test("VWAP: by volume since midnight", () => {
  const before = candlesOf([50, 60], MIDNIGHT_MS - 2 * MINUTE_MS);
  const after = candlesOf([100, 400]);
  // Volumes 1 and 2; highs and lows are a dollar off the close.
  expect(valuesOf("vwap", [...before, ...after])).toEqual([[50], [170 / 3], [100], [300]]);
  const still = [{ ...after[0]!, volume: 0 }];
  expect(valuesOf("vwap", still)).toEqual([[undefined]]);
});

test("RSI: 100 in a rise, 0 in a fall, 50 where nothing moves, smoothed as Wilder did", () => {
  const last = (closes: readonly number[]) => valuesOf("rsi", candlesOf(closes)).at(-1)?.[0];
  const walk = (step: number) => Array.from({ length: 30 }, (_, i) => 100 + i * step);
  expect([last(walk(1)), last(walk(-1)), last(walk(0))]).toEqual([100, 0, 50]);
  expect(valuesOf("rsi", candlesOf(walk(1)))[13]).toEqual([undefined]);
  expect(valuesOf("rsi", candlesOf(walk(1)))[14]).toEqual([100]);
  // Fourteen rises of 1, then a fall of 14: averages 13/14 and 1.
  const rise = 13 / 14;
  expect(last([...walk(1).slice(0, 15), 100])).toBeCloseTo((100 * rise) / (rise + 1), 9);
});
