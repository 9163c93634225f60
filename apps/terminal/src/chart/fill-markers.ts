/** The trader's fills as arrows on the candles: one arrow for the fills of a side in a candle. */

import type { Fill, Side } from "@perpgate/protocol";
import type { Resolution } from "@perpgate/protocol/core";
import type { RowList } from "../venue/paged-list.js";

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

/** None of a candle of which not all fills are loaded: its sum would be too small. */
export function fillMarks(
  { rows: fills, hasMore }: Pick<RowList<Fill>, "rows" | "hasMore">,
  symbol: string,
  candleMs: number,
  shownFromMs: number,
): FillMark[] {
  const oldest = fills.at(-1)?.time ?? 0;
  const completeFrom = hasMore ? oldest - (oldest % candleMs) + candleMs : 0;
  const oldestMs = Math.max(shownFromMs, completeFrom);
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
