/** Lengths of candles: those of the venue, and longer ones that are made of them. */

import type { Candle } from "@perpgate/protocol";
import { RESOLUTION_MS, RESOLUTIONS, type Resolution } from "@perpgate/protocol/core";
import type { CandleListener } from "../venue/candle-feed.js";

const MADE = {
  "3m": ["1m", 3],
  "30m": ["15m", 2],
  "2h": ["1h", 2],
  "12h": ["4h", 3],
  "1w": ["1d", 7],
} as const satisfies Readonly<Record<string, readonly [of: Resolution, count: number]>>;
type MadeInterval = keyof typeof MADE;

export type Interval = Resolution | MadeInterval;
export const MADE_INTERVALS = ["3m", "30m", "2h", "12h", "1w"] as const;
export const INTERVALS: readonly Interval[] = [...RESOLUTIONS, ...MADE_INTERVALS];

/** The first Monday since 1970. */
const MONDAY_MS = 4 * RESOLUTION_MS["1d"];

function isMade(interval: Interval): interval is MadeInterval {
  return interval in MADE;
}

/** The venue's candles that it is made of. */
export function baseOf(interval: Interval): Resolution {
  return isMade(interval) ? MADE[interval][0] : interval;
}

export function stepMsOf(interval: Interval): number {
  return RESOLUTION_MS[baseOf(interval)] * (isMade(interval) ? MADE[interval][1] : 1);
}

/** Of the candle that a time belongs to. A week begins on Monday, UTC. */
export function beginOf(time: number, interval: Interval): number {
  const first = interval === "1w" ? MONDAY_MS : 0;
  const stepMs = stepMsOf(interval);
  return first + Math.floor((time - first) / stepMs) * stepMs;
}

/** Passes on the candles of an interval, made of those that it gets. */
export function made(interval: Interval, listener: CandleListener): CandleListener {
  if (!isMade(interval)) return listener;
  let parts: readonly Candle[] = [];
  let shown = 0;
  return {
    replaced: (candles, added, isComplete) => {
      parts = candles;
      const longer = madeOf(candles, interval, isComplete);
      const more = added === 0 ? 0 : longer.length - shown;
      shown = longer.length;
      listener.replaced(longer, more, isComplete);
    },
    updated: (candle) => {
      const isNew = parts.at(-1)?.time !== candle.time;
      parts = isNew ? [...parts, candle] : parts.with(-1, candle);
      const begin = beginOf(candle.time, interval);
      const first = parts.findLastIndex(({ time }) => time < begin) + 1;
      if (isNew && first === parts.length - 1) shown++;
      listener.updated(joined(parts.slice(first), begin));
    },
  };
}

/** Without the first one while a part of it may not be loaded. */
export function madeOf(
  candles: readonly Candle[],
  interval: Interval,
  isComplete: boolean,
): Candle[] {
  const groups = new Map<number, Candle[]>();
  for (const candle of candles) {
    const begin = beginOf(candle.time, interval);
    const group = groups.get(begin);
    if (group === undefined) groups.set(begin, [candle]);
    else group.push(candle);
  }
  const all = [...groups].map(([begin, parts]) => joined(parts, begin));
  const [first] = candles;
  return isComplete || first === undefined || first.time === all[0]?.time ? all : all.slice(1);
}

function joined(parts: readonly Candle[], time: number): Candle {
  const [first] = parts;
  if (first === undefined) throw new Error("a candle of no candles");
  const sumOf = (of: (part: Candle) => number) => parts.reduce((sum, part) => sum + of(part), 0);
  return {
    time,
    open: first.open,
    high: Math.max(...parts.map(({ high }) => high)),
    low: Math.min(...parts.map(({ low }) => low)),
    close: parts.at(-1)?.close ?? first.close,
    // Without the noise of fractions.
    volume: Math.round(sumOf(({ volume }) => volume) * 1e8) / 1e8,
    trades: sumOf(({ trades }) => trades),
  };
}
