/** The trader's fills as arrows on the candles: one arrow for the fills of a side in a candle. */

import type { Fill, Side } from "@perpgate/protocol";
import type { RowList } from "../venue/paged-list.js";
import { beginOf, type Interval, stepMsOf } from "./intervals.js";

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
  interval: Interval,
  shownFromMs: number,
): FillMark[] {
  const oldest = fills.at(-1)?.time ?? 0;
  const completeFrom = hasMore ? beginOf(oldest, interval) + stepMsOf(interval) : 0;
  const oldestMs = Math.max(shownFromMs, completeFrom);
  const marks = new Map<string, FillMark>();
  for (const fill of fills) {
    const time = beginOf(fill.time, interval);
    if (fill.symbol !== symbol || time < oldestMs) continue;
    const key = `${time} ${fill.side}`;
    const size = (marks.get(key)?.size ?? 0) + fill.size;
    marks.set(key, { time, side: fill.side, size });
  }
  return [...marks.values()].sort((a, b) => a.time - b.time);
}
