/**
 * Candles of every resolution: of the public trades, of the mark and of the index. The open candle is kept
 * in memory and in snapshots, and written with each change.
 */
import {
  CANDLE_PRICES,
  type CandlePrice,
  RESOLUTION_MS,
  RESOLUTIONS,
  type Resolution,
} from "@perpgate/protocol/core";
import { ROW_TABLES } from "./history-environment.js";
import { type ProjectedReader, type ProjectedWriter, sortedEntries } from "./projected-state.js";
import { noOffset, type RowOffset, type RowSink } from "./rows.js";

/** Candles of the mark and the index have the four prices alone. */
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
const PRICE_WORDS = 4;
const SUM_WORDS = 2;
/** A turnover that has reached this is not known. */
const MAX_TURNOVER = Number.MAX_SAFE_INTEGER;

const SPANS: readonly number[] = RESOLUTIONS.map((resolution) => RESOLUTION_MS[resolution]);
/** Words of a stored candle. */
export function candleLengths(price: CandlePrice): readonly number[] {
  return price === "trades"
    ? [PRICE_WORDS + SUM_WORDS, PRICE_WORDS + SUM_WORDS + 1]
    : [PRICE_WORDS];
}

/** Series of candles of a market: each price in each resolution; those of trades come first. */
export const CANDLE_SERIES = CANDLE_PRICES.length * RESOLUTIONS.length;

/** The key group of a market's candles of a price and a resolution. */
export function candleGroup(
  market: number,
  resolution: Resolution,
  price: CandlePrice = "trades",
): number {
  return firstGroup(market, price) + RESOLUTIONS.indexOf(resolution);
}

function firstGroup(market: number, price: CandlePrice): number {
  return market * CANDLE_SERIES + CANDLE_PRICES.indexOf(price) * RESOLUTIONS.length;
}

interface OpenCandle {
  readonly time: number;
  readonly row: Float64Array;
  readonly offset: RowOffset;
}

export class CandleProjection {
  private readonly open = new Map<number, OpenCandle>();

  constructor(private readonly queue: RowSink) {}

  save(writer: ProjectedWriter): void {
    writer.each(sortedEntries(this.open), ([group, { time, row }]) =>
      writer.words([group, time, ...row]),
    );
  }

  load(reader: ProjectedReader): void {
    reader.each(() => {
      const [group = 0, time = 0, ...row] = reader.words();
      this.open.set(group, { time, row: Float64Array.from(row), offset: noOffset() });
    });
  }

  onTrade(market: number, priceTicks: number, lots: number, timeMs: number): void {
    const first = firstGroup(market, "trades");
    for (let i = 0; i < SPANS.length; i++) {
      const time = timeMs - (timeMs % SPANS[i]!);
      const sums = SUM_WORDS + (i === 0 ? 1 : 0);
      const candle = this.candleOf(first + i, time, priceTicks, sums);
      const { row } = candle;
      widen(row, priceTicks);
      row[CANDLE_ROW.LOTS] = row[CANDLE_ROW.LOTS]! + lots;
      row[CANDLE_ROW.TRADES] = row[CANDLE_ROW.TRADES]! + 1;
      if (row.length > CANDLE_ROW.TURNOVER) {
        const turnover = row[CANDLE_ROW.TURNOVER]! + priceTicks * lots;
        row[CANDLE_ROW.TURNOVER] = Math.min(turnover, MAX_TURNOVER);
      }
      this.write(first + i, candle);
    }
  }

  /** The mark or the index of a market, at every command that sets it. Equal ones are written once. */
  onPrice(market: number, price: "mark" | "index", ticks: number, timeMs: number): void {
    const first = firstGroup(market, price);
    for (let i = 0; i < SPANS.length; i++) {
      const time = timeMs - (timeMs % SPANS[i]!);
      const open = this.open.get(first + i);
      if (open?.time === time && open.row[CANDLE_ROW.CLOSE] === ticks) continue;
      const candle = this.candleOf(first + i, time, ticks, 0);
      widen(candle.row, ticks);
      this.write(first + i, candle);
    }
  }

  private write(group: number, { time, row, offset }: OpenCandle): void {
    this.queue.overwrite(offset, ROW_TABLES.candles, group, time, row);
  }

  /** `sums` is the number of words after the prices. */
  private candleOf(group: number, time: number, priceTicks: number, sums: number): OpenCandle {
    const open = this.open.get(group);
    if (open !== undefined && open.time === time) return open;
    const row = Float64Array.of(...Array(PRICE_WORDS).fill(priceTicks), ...Array(sums).fill(0));
    const opened = { time, row, offset: noOffset() };
    this.open.set(group, opened);
    return opened;
  }
}

function widen(row: Float64Array, priceTicks: number): void {
  row[CANDLE_ROW.HIGH] = Math.max(row[CANDLE_ROW.HIGH]!, priceTicks);
  row[CANDLE_ROW.LOW] = Math.min(row[CANDLE_ROW.LOW]!, priceTicks);
  row[CANDLE_ROW.CLOSE] = priceTicks;
}
