/**
 * Candles of one market and resolution: history by pages, the last two live.
 *
 * The chart is handed either a whole new list or one candle to put at the end; which of the two is
 * in `change`, so that a live candle never redraws a thousand old ones.
 */

import type { Candle } from "@perpgate/protocol/market-data";
import type { Resolution } from "@perpgate/protocol/symbol";
import type { PerpgateClient, Subscription } from "@perpgate/sdk";

const PAGE = 500;
const MAX_KEPT = 10_000;

export interface CandleListener {
  /** The list is another, or grew at its old end by `added` candles. */
  replaced(candles: readonly Candle[], added: number): void;
  /** The candle under way, or the first of the next one. */
  updated(candle: Candle): void;
}

export class CandleFeed {
  private candles: Candle[] = [];
  private watch: Subscription | undefined;
  private isLoading = false;
  private hasAll = false;
  private isClosed = false;

  constructor(
    private readonly client: PerpgateClient,
    readonly symbol: string,
    readonly resolution: Resolution,
    private readonly listener: CandleListener,
  ) {}

  start(): void {
    this.watch = this.client.stream.watchCandles(this.symbol, this.resolution, (candles) => {
      for (const candle of candles) this.put(candle);
    });
    void this.load();
  }

  close(): void {
    this.isClosed = true;
    this.watch?.close();
  }

  /** The newest page, joined with what the stream brought meanwhile. */
  async load(): Promise<void> {
    const page = await this.page();
    if (page === undefined) return;
    const newest = page.at(-1)?.time ?? 0;
    const oldest = page[0]?.time ?? 0;
    const before = this.candles.filter(({ time }) => time < oldest);
    // A gap between the kept ones and the page would be drawn as if nothing had happened in it.
    const isJoined = before.length === 0 || this.candles.some(({ time }) => time >= oldest);
    this.candles = [
      ...(isJoined ? before : []),
      ...page,
      ...this.candles.filter(({ time }) => time > newest),
    ];
    this.hasAll = page.length < PAGE && before.length === 0;
    this.listener.replaced(this.candles, 0);
  }

  /** Another page of the past, if there is one. */
  async loadOlder(): Promise<void> {
    const first = this.candles[0];
    if (first === undefined || this.hasAll || this.isLoading) return;
    if (this.candles.length >= MAX_KEPT) return;
    this.isLoading = true;
    const page = await this.page(first.time);
    this.isLoading = false;
    if (page === undefined) return;
    this.hasAll = page.length < PAGE;
    this.candles = [...page, ...this.candles];
    this.listener.replaced(this.candles, page.length);
  }

  private async page(before?: number): Promise<Candle[] | undefined> {
    try {
      const query = { resolution: this.resolution, limit: PAGE };
      const page = await this.client.candles(
        this.symbol,
        before === undefined ? query : { ...query, before },
      );
      if (this.isClosed) return undefined;
      // Oldest first, whichever way they were sent.
      return [...page].sort((a, b) => a.time - b.time);
    } catch {
      return undefined;
    }
  }

  private put(candle: Candle): void {
    const last = this.candles.at(-1);
    if (last !== undefined && candle.time < last.time) {
      const at = this.candles.findLastIndex(({ time }) => time === candle.time);
      if (at < 0 || sameCandle(this.candles[at], candle)) return;
      this.candles[at] = candle;
      this.listener.replaced(this.candles, 0);
      return;
    }
    if (last?.time === candle.time) this.candles[this.candles.length - 1] = candle;
    else this.candles.push(candle);
    this.listener.updated(candle);
  }
}

function sameCandle(a: Candle | undefined, b: Candle): boolean {
  return a !== undefined && a.close === b.close && a.volume === b.volume && a.trades === b.trades;
}
