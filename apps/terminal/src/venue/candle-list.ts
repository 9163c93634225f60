/**
 * Candles in order of time, put together from pages of the past and a stream of the present, which
 * may come in any order and overlap.
 */

import type { Candle } from "@perpgate/protocol";

export class CandleList {
  private candles: readonly Candle[] = [];

  get all(): readonly Candle[] {
    return this.candles;
  }

  get oldest(): Candle | undefined {
    return this.candles[0];
  }

  /** A candle of the stream. Tells what a chart has to do about it. */
  put(candle: Candle): "nothing" | "update-last" | "redraw" {
    const last = this.candles.at(-1);
    if (last === undefined || candle.time > last.time) {
      this.candles = [...this.candles, candle];
      return "update-last";
    }
    const at = this.candles.findLastIndex(({ time }) => time === candle.time);
    const known = this.candles[at];
    // One that is not there lies before the first page; it comes with its own page.
    if (known === undefined || isSame(known, candle)) return "nothing";
    this.candles = this.candles.with(at, candle);
    return at === this.candles.length - 1 ? "update-last" : "redraw";
  }

  /** The newest page. What is older stays, unless there is a gap between, which it would hide. */
  joinNewest(page: readonly Candle[]): void {
    const oldest = page[0]?.time ?? 0;
    const newest = page.at(-1)?.time ?? 0;
    const isJoined = this.candles.some(({ time }) => time >= oldest && time <= newest);
    const before = isJoined ? this.candles.filter(({ time }) => time < oldest) : [];
    const after = this.candles.filter(({ time }) => time > newest);
    this.candles = [...before, ...page, ...after];
  }

  /** A page of the past; answers how many candles were added. */
  joinOlder(page: readonly Candle[]): number {
    const first = this.oldest?.time ?? Number.POSITIVE_INFINITY;
    const older = page.filter(({ time }) => time < first);
    this.candles = [...older, ...this.candles];
    return older.length;
  }
}

function isSame(a: Candle, b: Candle): boolean {
  return a.close === b.close && a.volume === b.volume && a.trades === b.trades;
}
