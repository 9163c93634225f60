/**
 * Indicators of the chart. Each takes the candles in order, and the last one again when it changes, so
 * that a live candle costs one step however long the chart is.
 */

import type { Candle } from "@perpgate/protocol";
import { t } from "../text/texts.js";
import type { Colours } from "../theme/theme.js";

/** One value for each line; undefined while there are too few candles. */
export type Values = readonly (number | undefined)[];

export interface IndicatorSteps {
  next(candle: Candle): Values;
  /** The last candle has changed. */
  again(candle: Candle): Values;
}

export interface Indicator {
  readonly name: string;
  readonly title: string;
  /** Whether its values are no prices: it is drawn below the candles. */
  readonly isApart?: boolean;
  readonly lines: readonly { readonly label: string; readonly tone: keyof Colours }[];
  readonly begin: () => IndicatorSteps;
}

const DAY_MS = 86_400_000;

/** `step` must not change the state that it is given. */
function stepsOf<S>(
  start: S,
  step: (state: S, candle: Candle) => readonly [S, Values],
): IndicatorSteps {
  let before = start;
  let now = start;
  const take = (candle: Candle): Values => {
    const [state, values] = step(before, candle);
    now = state;
    return values;
  };
  return {
    next: (candle) => {
      before = now;
      return take(candle);
    },
    again: take,
  };
}

/** The last closes, at most `length`, the newest last. */
function windowed(
  length: number,
  valuesOf: (closes: readonly number[]) => Values,
): () => IndicatorSteps {
  const none = valuesOf([]).map(() => undefined);
  return () =>
    stepsOf<readonly number[]>([], (closes, { close }) => {
      const window = [...closes.slice(1 - length), close];
      return [window, window.length < length ? none : valuesOf(window)];
    });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Begins with the mean of the first `length` closes. */
function exponential(length: number): () => IndicatorSteps {
  const part = 2 / (length + 1);
  const start: { readonly first: readonly number[]; readonly value?: number } = { first: [] };
  return () =>
    stepsOf(start, ({ first, value }, { close }) => {
      if (value !== undefined) {
        const next = value + part * (close - value);
        return [{ first, value: next }, [next]];
      }
      const closes = [...first, close];
      if (closes.length < length) return [{ first: closes }, [undefined]];
      return [{ first: [], value: mean(closes) }, [mean(closes)]];
    });
}

/** The mean and two standard deviations around it. */
function bollinger(closes: readonly number[]): Values {
  const middle = mean(closes);
  const width = 2 * Math.sqrt(mean(closes.map((close) => (close - middle) ** 2)));
  return [middle + width, middle, middle - width];
}

/** The price of the volume since midnight, UTC. */
function volumeWeighted(): IndicatorSteps {
  return stepsOf({ day: 0, turnover: 0, volume: 0 }, (sums, { time, high, low, close, volume }) => {
    const day = Math.floor(time / DAY_MS);
    const { turnover, volume: earlier } = sums.day === day ? sums : { turnover: 0, volume: 0 };
    const total = {
      day,
      turnover: turnover + ((high + low + close) / 3) * volume,
      volume: earlier + volume,
    };
    return [total, [total.volume > 0 ? total.turnover / total.volume : undefined]];
  });
}

interface Strength {
  readonly close: number | undefined;
  readonly changes: number;
  /** Averages of the rises and of the falls; sums before the first `length` changes. */
  readonly rise: number;
  readonly fall: number;
}

/** Relative strength, from 0 to 100, smoothed as its author did (Wilder). */
function relativeStrength(length: number): () => IndicatorSteps {
  const start: Strength = { close: undefined, changes: 0, rise: 0, fall: 0 };
  return () =>
    stepsOf(start, (state, { close }) => {
      if (state.close === undefined) return [{ ...start, close }, [undefined]];
      const changes = state.changes + 1;
      const change = close - state.close;
      const averaged = (average: number, amount: number) => {
        if (changes < length) return average + amount;
        if (changes === length) return (average + amount) / length;
        return (average * (length - 1) + amount) / length;
      };
      const rise = averaged(state.rise, Math.max(0, change));
      const fall = averaged(state.fall, Math.max(0, -change));
      const strength = rise + fall === 0 ? 50 : (100 * rise) / (rise + fall);
      return [{ close, changes, rise, fall }, [changes < length ? undefined : strength]];
    });
}

const AVERAGES = [
  { length: 7, tone: "accent" },
  { length: 25, tone: "warn" },
] as const;
const BAND_CANDLES = 20;

export const INDICATORS: readonly Indicator[] = [
  {
    name: "averages",
    get title() {
      return t.chart.averages;
    },
    lines: AVERAGES.map(({ length, tone }) => ({ label: `MA ${length}`, tone })),
    begin: () => {
      const each = AVERAGES.map(({ length }) => windowed(length, (closes) => [mean(closes)])());
      return {
        next: (candle) => each.flatMap((steps) => steps.next(candle)),
        again: (candle) => each.flatMap((steps) => steps.again(candle)),
      };
    },
  },
  {
    name: "ema",
    get title() {
      return t.chart.ema;
    },
    lines: [{ label: "EMA 20", tone: "study-a" }],
    begin: exponential(20),
  },
  {
    name: "bollinger",
    get title() {
      return t.chart.bollinger;
    },
    lines: [
      {
        get label() {
          return t.chart.bandUpper;
        },
        tone: "study-b",
      },
      { label: "BB", tone: "study-b" },
      {
        get label() {
          return t.chart.bandLower;
        },
        tone: "study-b",
      },
    ],
    begin: windowed(BAND_CANDLES, bollinger),
  },
  {
    name: "vwap",
    get title() {
      return t.chart.vwap;
    },
    lines: [{ label: "VWAP", tone: "study-c" }],
    begin: volumeWeighted,
  },
  {
    name: "rsi",
    get title() {
      return t.chart.rsi;
    },
    isApart: true,
    lines: [{ label: "RSI 14", tone: "study-a" }],
    begin: relativeStrength(14),
  },
];
