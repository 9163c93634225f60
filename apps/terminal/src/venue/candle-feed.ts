/**
 * Candles of one market and resolution: history by pages, the last two live.
 *
 * The chart is handed either a whole list or one candle to put at its end, so that a live candle
 * never redraws a thousand old ones.
 */

import type { Candle } from "@perpgate/protocol";
import type { Resolution } from "@perpgate/protocol/core";
import type { PerpgateClient, Subscription } from "@perpgate/sdk";
import { CandleList } from "./candle-list.js";

const PAGE = 500;
const MAX_KEPT = 10_000;

export interface CandleListener {
  /** The list is another, or grew at its old end by `added` candles. */
  replaced(candles: readonly Candle[], added: number): void;
  /** The candle under way, or the first of the next one. */
  updated(candle: Candle): void;
}

export class CandleFeed {
  private readonly list = new CandleList();
  private watch: Subscription | undefined;
  private isLoading = false;
  private hasAll = true;
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
    this.list.joinNewest(page);
    this.hasAll = page.length < PAGE;
    this.redraw(0);
  }

  /** Another page of the past, if there is one. */
  async loadOlder(): Promise<void> {
    const { oldest, all } = this.list;
    if (oldest === undefined || this.hasAll || this.isLoading || all.length >= MAX_KEPT) return;
    this.isLoading = true;
    const page = await this.page(oldest.time);
    this.isLoading = false;
    if (page === undefined) return;
    this.hasAll = page.length < PAGE;
    this.redraw(this.list.joinOlder(page));
  }

  /** What is known, drawn again. */
  redraw(added: number): void {
    this.listener.replaced(this.list.all, added);
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
    const due = this.list.put(candle);
    if (due === "update-last") this.listener.updated(candle);
    else if (due === "redraw") this.redraw(0);
  }
}
