/**
 * Candles of one market and resolution: history by pages, the last two live. The chart receives
 * either the whole list or the last candle, so that a live candle does not redraw the old ones.
 */

import type { Candle } from "@perpgate/protocol";
import type { Resolution } from "@perpgate/protocol/core";
import type { PerpgateClient, Subscription } from "@perpgate/sdk";
import { ONCE, Refresher } from "./refresher.js";

const PAGE = 500;
const MAX_KEPT = 10_000;

export interface CandleListener {
  /**
   * The list was replaced, or `added` candles were prepended. `isComplete` if the first one is the
   * market's first: there is nothing before it, and nothing is drawn there.
   */
  replaced(candles: readonly Candle[], added: number, isComplete: boolean): void;
  /** The last candle changed, or a new one began. */
  updated(candle: Candle): void;
}

/** What the feed needs of the client. */
export interface CandleSource {
  candles: PerpgateClient["candles"];
  readonly stream: {
    watchCandles(
      symbol: string,
      resolution: Resolution,
      listener: (candles: readonly Candle[]) => void,
    ): Pick<Subscription, "close">;
  };
}

export class CandleFeed {
  private readonly list = new CandleList();
  private readonly newest = new Refresher(() => this.loadNewest());
  private watch: Pick<Subscription, "close"> | undefined;
  private isLoading = false;
  private hasAll = false;
  private isClosed = false;

  constructor(
    private readonly client: CandleSource,
    readonly symbol: string,
    readonly resolution: Resolution,
    private readonly listener: CandleListener,
  ) {}

  start(): void {
    this.watch = this.client.stream.watchCandles(this.symbol, this.resolution, (candles) => {
      for (const candle of candles) this.put(candle);
    });
    void this.newest.now();
  }

  close(): void {
    this.isClosed = true;
    this.watch?.close();
    this.newest.close();
  }

  /** After a reconnection: candles of the outage are not on the stream. */
  reload(): void {
    this.newest.soon();
  }

  /** The next older page, if there is one; a failed one is requested again by the next scroll. */
  async loadOlder(): Promise<void> {
    const { oldest, all } = this.list;
    if (oldest === undefined || this.hasAll || this.isLoading || all.length >= MAX_KEPT) return;
    this.isLoading = true;
    const page = await this.page({ before: oldest.time }).catch(() => undefined);
    this.isLoading = false;
    if (page === undefined || this.isClosed) return;
    this.hasAll = page.length < PAGE;
    this.redraw(this.list.joinOlder(page));
  }

  redraw(added: number): void {
    this.listener.replaced(this.list.all, added, this.hasAll);
  }

  private async loadNewest(): Promise<void> {
    const page = await this.page(ONCE);
    if (this.isClosed) return;
    const oldest = this.list.oldest?.time;
    this.list.joinNewest(page);
    // Older pages may be known already.
    const isKept = this.hasAll && oldest !== undefined && this.list.oldest?.time === oldest;
    this.hasAll = isKept || page.length < PAGE;
    this.redraw(0);
  }

  /** Oldest first. */
  private async page(options: { before: number } | typeof ONCE): Promise<Candle[]> {
    const query = { resolution: this.resolution, limit: PAGE, ...options };
    const page = await this.client.candles(this.symbol, query);
    return [...page].sort((a, b) => a.time - b.time);
  }

  private put(candle: Candle): void {
    const isFirst = this.list.oldest === undefined;
    const due = this.list.put(candle);
    if (isFirst) this.redraw(0);
    else if (due === "update-last") this.listener.updated(candle);
    else if (due === "redraw") this.redraw(0);
  }
}

/** Candles by time, joined from pages of history and a live stream, which may overlap. */
export class CandleList {
  private candles: readonly Candle[] = [];

  get all(): readonly Candle[] {
    return this.candles;
  }

  get oldest(): Candle | undefined {
    return this.candles[0];
  }

  /** Adds a candle of the stream and returns what the chart has to do. */
  put(candle: Candle): "nothing" | "update-last" | "redraw" {
    const last = this.candles.at(-1);
    if (last === undefined || candle.time > last.time) {
      this.candles = [...this.candles, candle];
      return "update-last";
    }
    const at = this.candles.findLastIndex(({ time }) => time === candle.time);
    const known = this.candles[at];
    // An unknown older candle is before the first page and comes with its own page.
    if (known === undefined || isSame(known, candle)) return "nothing";
    this.candles = this.candles.with(at, candle);
    return at === this.candles.length - 1 ? "update-last" : "redraw";
  }

  /** Joins the newest page. Older candles are dropped if there is a gap between. */
  joinNewest(page: readonly Candle[]): void {
    const oldest = page[0]?.time ?? 0;
    const newest = page.at(-1)?.time ?? 0;
    const isJoined = this.candles.some(({ time }) => time >= oldest && time <= newest);
    const before = isJoined ? this.candles.filter(({ time }) => time < oldest) : [];
    const after = this.candles.filter(({ time }) => time > newest);
    this.candles = [...before, ...page, ...after];
  }

  /** Prepends an older page; returns the number of added candles. */
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
