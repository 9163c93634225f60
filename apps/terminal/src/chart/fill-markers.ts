/** The trader's fills as arrows on the candles: one arrow for the fills of a side in a candle. */

import type { Fill, Side } from "@perpgate/protocol";
import type { Resolution } from "@perpgate/protocol/core";

const MINUTE_MS = 60_000;
export const CANDLE_MS: Readonly<Record<Resolution, number>> = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "15m": 15 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "4h": 240 * MINUTE_MS,
  "1d": 1_440 * MINUTE_MS,
};

export interface FillMark {
  /** Of the candle, Unix milliseconds. */
  readonly time: number;
  readonly side: Side;
  readonly size: number;
}

export function fillMarks(
  fills: readonly Fill[],
  symbol: string,
  candleMs: number,
  oldestMs: number,
): FillMark[] {
  const marks = new Map<string, FillMark>();
  for (const fill of fills) {
    const time = fill.time - (fill.time % candleMs);
    if (fill.symbol !== symbol || time < oldestMs) continue;
    const key = `${time} ${fill.side}`;
    const size = (marks.get(key)?.size ?? 0) + fill.size;
    marks.set(key, { time, side: fill.side, size });
  }
  return [...marks.values()].sort((a, b) => a.time - b.time);
}
