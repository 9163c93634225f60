/**
 * The last 24 hours of a market by minutes: volume, turnover, high, low, change. A ring of 1,440 minutes in
 * memory and in snapshots; the result is cached until a trade or a new minute.
 */
import type { ProjectedReader, ProjectedWriter } from "./projected-state.js";

const MINUTES = 1_440;
const MINUTE_MS = 60_000;

interface DayFigures {
  readonly lots: number;
  /** Σ ticks × lots; not exact above the safe integers. */
  readonly turnover: number;
  readonly highTicks: number;
  readonly lowTicks: number;
  /** Opening price of the oldest minute with a trade; 0 without any. */
  readonly openTicks: number;
  readonly lastTicks: number;
}

const WORDS = 7;
const MINUTE = 0;
const OPEN = 1;
const HIGH = 2;
const LOW = 3;
const CLOSE = 4;
const LOTS = 5;
const TURNOVER = 6;

const QUIET: DayFigures = {
  lots: 0,
  turnover: 0,
  highTicks: 0,
  lowTicks: 0,
  openTicks: 0,
  lastTicks: 0,
};

export class DayStats {
  private readonly ring = new Float64Array(MINUTES * WORDS).fill(-1);
  private figures = QUIET;
  private until = -1;

  save(writer: ProjectedWriter): void {
    const { ring } = this;
    const used: Float64Array[] = [];
    for (let at = 0; at < ring.length; at += WORDS) {
      if (ring[at + MINUTE] !== -1) used.push(ring.subarray(at, at + WORDS));
    }
    writer.each(used, (minute) => writer.words(minute));
  }

  load(reader: ProjectedReader): void {
    reader.each(() => {
      const words = reader.words();
      this.ring.set(words, (words[MINUTE]! % MINUTES) * WORDS);
    });
  }

  onTrade(priceTicks: number, lots: number, timeMs: number): void {
    const minute = Math.floor(timeMs / MINUTE_MS);
    const at = (minute % MINUTES) * WORDS;
    const { ring } = this;
    this.until = -1;
    if (ring[at + MINUTE] !== minute) {
      const turnover = priceTicks * lots;
      ring.set([minute, priceTicks, priceTicks, priceTicks, priceTicks, lots, turnover], at);
      return;
    }
    ring[at + HIGH] = Math.max(ring[at + HIGH]!, priceTicks);
    ring[at + LOW] = Math.min(ring[at + LOW]!, priceTicks);
    ring[at + CLOSE] = priceTicks;
    ring[at + LOTS] = ring[at + LOTS]! + lots;
    ring[at + TURNOVER] = ring[at + TURNOVER]! + priceTicks * lots;
  }

  /** The figures of the minute that holds `timeMs` and the 1,439 before it. */
  at(timeMs: number): DayFigures {
    const newest = Math.floor(timeMs / MINUTE_MS);
    if (this.until === newest) return this.figures;
    const oldest = newest - MINUTES + 1;
    const { ring } = this;
    let first = -1;
    let last = -1;
    let lots = 0;
    let turnover = 0;
    let high = 0;
    let low = Number.POSITIVE_INFINITY;
    for (let at = 0; at < ring.length; at += WORDS) {
      const minute = ring[at + MINUTE]!;
      if (minute < oldest || minute > newest) continue;
      lots += ring[at + LOTS]!;
      turnover += ring[at + TURNOVER]!;
      high = Math.max(high, ring[at + HIGH]!);
      low = Math.min(low, ring[at + LOW]!);
      if (first < 0 || minute < ring[first + MINUTE]!) first = at;
      if (last < 0 || minute > ring[last + MINUTE]!) last = at;
    }
    this.until = newest;
    this.figures =
      first < 0
        ? QUIET
        : {
            lots,
            turnover,
            highTicks: high,
            lowTicks: low,
            openTicks: ring[first + OPEN]!,
            lastTicks: ring[last + CLOSE]!,
          };
    return this.figures;
  }
}
