/**
 * Candles of every resolution, from the public trades. The open candle is kept in memory and written
 * with each trade; after a restart it is read back from the store.
 */
import { RESOLUTIONS, type Resolution } from "@perpgate/protocol/core";
import { keyOf } from "./keys.js";
import { noOffset, type RowOffset, type RowSink, type RowTable, storedRow } from "./rows.js";

export const CANDLE_ROW = {
  OPEN: 0,
  HIGH: 1,
  LOW: 2,
  CLOSE: 3,
  LOTS: 4,
  TRADES: 5,
  /** Σ ticks × lots. Minutes alone have it. */
  TURNOVER: 6,
} as const;
export const CANDLE_LENGTHS: readonly number[] = [6, 7];
/** A turnover that has reached this is not known. */
export const MAX_TURNOVER = Number.MAX_SAFE_INTEGER;

const MINUTE_MS = 60_000;
export const RESOLUTION_MS: Readonly<Record<Resolution, number>> = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "15m": 15 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "4h": 240 * MINUTE_MS,
  "1d": 1_440 * MINUTE_MS,
};
const SPANS: readonly number[] = RESOLUTIONS.map((resolution) => RESOLUTION_MS[resolution]);

/** The key group of a market's candles of a resolution. */
export function candleGroup(market: number, resolution: Resolution): number {
  return market * RESOLUTIONS.length + RESOLUTIONS.indexOf(resolution);
}

interface OpenCandle {
  readonly time: number;
  readonly row: Float64Array;
  readonly offset: RowOffset;
}

export class CandleProjection {
  private readonly open = new Map<number, OpenCandle>();

  constructor(
    private readonly candles: RowTable,
    private readonly queue: RowSink,
  ) {}

  onTrade(market: number, priceTicks: number, lots: number, timeMs: number): void {
    for (let i = 0; i < SPANS.length; i++) {
      const group = market * SPANS.length + i;
      const time = timeMs - (timeMs % SPANS[i]!);
      const { row, offset } = this.candleOf(group, time, priceTicks, i === 0);
      row[CANDLE_ROW.HIGH] = Math.max(row[CANDLE_ROW.HIGH]!, priceTicks);
      row[CANDLE_ROW.LOW] = Math.min(row[CANDLE_ROW.LOW]!, priceTicks);
      row[CANDLE_ROW.CLOSE] = priceTicks;
      row[CANDLE_ROW.LOTS] = row[CANDLE_ROW.LOTS]! + lots;
      row[CANDLE_ROW.TRADES] = row[CANDLE_ROW.TRADES]! + 1;
      if (row.length > CANDLE_ROW.TURNOVER) {
        const turnover = row[CANDLE_ROW.TURNOVER]! + priceTicks * lots;
        row[CANDLE_ROW.TURNOVER] = Math.min(turnover, MAX_TURNOVER);
      }
      this.queue.overwrite(offset, this.candles, group, time, row);
    }
  }

  private candleOf(
    group: number,
    time: number,
    priceTicks: number,
    hasTurnover: boolean,
  ): OpenCandle {
    const open = this.open.get(group);
    if (open !== undefined && open.time === time) return open;
    const stored = this.candles.get(keyOf(group, time));
    const row =
      stored === undefined
        ? Float64Array.of(...Array(4).fill(priceTicks), 0, 0, ...(hasTurnover ? [0] : []))
        : Float64Array.from(storedRow(stored, "candles", CANDLE_LENGTHS));
    const opened = { time, row, offset: noOffset() };
    this.open.set(group, opened);
    return opened;
  }
}
