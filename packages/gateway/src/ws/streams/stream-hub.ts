/**
 * All feeds: one per public stream, created when first subscribed to, and one for all private streams.
 *
 * `onCommand` runs inside the apply callback of every durable command and must not throw; it only
 * records what changed. A fault is logged. It may lose public frames; sockets that would miss a private
 * frame are closed and resume.
 */

import type { GlobalStream, PrivateStream, StreamName } from "@perpgate/protocol";
import { formatStreamName, RESOLUTIONS } from "@perpgate/protocol/core";
import type { Applied, PublicEventSink, Venue } from "@perpgate/venue";
import type { Connection } from "../connection.js";
import { AccountFeed } from "./account-feed.js";
import { BookFeed } from "./book-feed.js";
import { BlocksFeed, type ReadingOptions, TradesFeed } from "./broadcast-feed.js";
import { FrameScheduler } from "./frame-scheduler.js";
import { candleState, LatestFeed, statusState, tickerState } from "./latest-feed.js";

type MarketStreamName = Extract<StreamName, { symbol: string }>;

interface MarketFeeds {
  readonly book: BookFeed;
  readonly trades: TradesFeed;
  readonly ticker: LatestFeed;
  readonly candles: ReadonlyMap<string, LatestFeed>;
}

export class StreamHub implements PublicEventSink {
  readonly scheduler: FrameScheduler;
  private readonly markets = new Map<string, MarketFeeds>();
  private readonly blocks: BlocksFeed;
  private readonly status: LatestFeed;
  private readonly accounts: AccountFeed;
  private readonly stopObserving: () => void;

  constructor(
    private readonly venue: Venue,
    private readonly closeSession: (session: number) => void,
    private readonly onFault: (error: unknown) => void,
    release: string,
  ) {
    this.scheduler = new FrameScheduler(onFault);
    this.blocks = new BlocksFeed(this.scheduler, (number) => venue.views.block(number));
    this.status = new LatestFeed(this.scheduler, statusState(venue, release));
    this.accounts = new AccountFeed(venue, onFault);
    this.stopObserving = venue.observe({ onCommand: (applied) => this.onCommand(applied) });
  }

  /** Log seq of the last command that streams may show. */
  get seq(): number {
    return this.venue.seq;
  }

  /** Open subscriptions of all feeds. */
  get readerCount(): number {
    let count = this.blocks.readerCount + this.status.readerCount + this.accounts.readerCount;
    for (const { book, trades, ticker, candles } of this.markets.values()) {
      for (const feed of [book, trades, ticker, ...candles.values()]) count += feed.readerCount;
    }
    return count;
  }

  hasMarket(symbol: string): boolean {
    return this.venue.listing.named(symbol) !== undefined;
  }

  /** Subscribes to a public stream of a listed market; returns a function that unsubscribes. */
  openPublic(
    connection: Connection,
    name: MarketStreamName | { readonly stream: GlobalStream },
    options: ReadingOptions,
  ): () => void {
    if (!("symbol" in name)) {
      return name.stream === "blocks" ? this.blocks.open(connection) : this.status.open(connection);
    }
    const feeds = this.feedsOf(name.symbol);
    if (name.stream !== "candles") return feeds[name.stream].open(connection, options);
    const candles = feeds.candles.get(name.resolution);
    if (candles === undefined) throw new RangeError(`no stream ${formatStreamName(name)}`);
    return candles.open(connection);
  }

  openPrivate(
    connection: Connection,
    stream: PrivateStream,
    account: number,
    since: number | undefined,
  ): () => void {
    return this.accounts.open(connection, stream, account, since);
  }

  stop(): void {
    this.stopObserving();
    this.scheduler.stop();
    this.accounts.stop();
  }

  onTrade(symbol: string, trade: Parameters<TradesFeed["onTrade"]>[0]): void {
    const feeds = this.markets.get(symbol);
    if (feeds === undefined) return;
    feeds.trades.onTrade(trade);
    for (const candles of feeds.candles.values()) candles.touch();
  }

  onBlock(number: number): void {
    this.blocks.onBlock(number);
  }

  onSessionClosed(session: number): void {
    this.closeSession(session);
  }

  private onCommand(applied: Applied): void {
    // First and outside the try block: a fault of a public stream must not lose a private frame.
    this.accounts.onCommand(applied.seq);
    // An exception here would stop the venue.
    try {
      this.scheduler.onCommand();
      this.venue.views.emitPublicEvents(applied, this);
      this.status.touch();
      for (const { book, ticker } of this.markets.values()) {
        book.onCommand();
        ticker.touch();
      }
    } catch (error) {
      this.onFault(error);
    }
  }

  private feedsOf(symbol: string): MarketFeeds {
    let feeds = this.markets.get(symbol);
    if (feeds === undefined) {
      feeds = this.makeFeeds(symbol);
      this.markets.set(symbol, feeds);
    }
    return feeds;
  }

  private makeFeeds(symbol: string): MarketFeeds {
    const { scheduler } = this;
    const { views } = this.venue;
    const levels = () => {
      const book = views.levels(symbol);
      if (book === undefined) throw new RangeError(`no market ${symbol}`);
      return book;
    };
    return {
      book: new BookFeed(scheduler, levels, () => views.bookChangedAt(symbol)),
      trades: new TradesFeed(scheduler, symbol),
      ticker: new LatestFeed(scheduler, tickerState(views, symbol)),
      candles: new Map(
        RESOLUTIONS.map((resolution) => [
          resolution,
          new LatestFeed(scheduler, candleState(views, symbol, resolution)),
        ]),
      ),
    };
  }
}
