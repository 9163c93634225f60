/**
 * Where the venue's commands become streams: one feed per public stream, made when first asked for,
 * and one for all private streams. It watches every command, after it is durable; what it does there
 * is to take notes. A fault in it is logged and never stops the venue: it may cost public frames,
 * while those who would miss a private one are disconnected and resume.
 */

import {
  formatStreamName,
  type PrivateStream,
  RESOLUTIONS,
  type StreamName,
} from "@perpgate/protocol";
import type { Applied, PublicEventSink, Venue } from "@perpgate/venue";
import type { Connection } from "../connection.js";
import { AccountFeed } from "./account-feed.js";
import { BlocksFeed } from "./blocks-feed.js";
import { BookFeed } from "./book-feed.js";
import { LatestFeed } from "./latest-feed.js";
import { candleState, tickerState } from "./market-states.js";
import type { ReadingOptions } from "./public-feed.js";
import { Pulse } from "./pulse.js";
import { TradesFeed } from "./trades-feed.js";

type MarketStreamName = Extract<StreamName, { symbol: string }>;

interface MarketFeeds {
  readonly book: BookFeed;
  readonly trades: TradesFeed;
  readonly ticker: LatestFeed;
  readonly candles: ReadonlyMap<string, LatestFeed>;
}

export class StreamHub implements PublicEventSink {
  readonly pulse: Pulse;
  private readonly markets = new Map<string, MarketFeeds>();
  private readonly blocks: BlocksFeed;
  private readonly accounts: AccountFeed;
  private readonly stopObserving: () => void;

  constructor(
    private readonly venue: Venue,
    private readonly closeSession: (session: number) => void,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.pulse = new Pulse(onFault);
    this.blocks = new BlocksFeed(this.pulse, (number) => venue.views.block(number));
    this.accounts = new AccountFeed(venue, onFault);
    this.stopObserving = venue.observe({ onCommand: (applied) => this.onCommand(applied) });
  }

  /** Log position of the last command that streams may show. */
  get position(): number {
    return this.venue.position;
  }

  /** How many subscriptions the feeds hold. */
  get readerCount(): number {
    let count = this.blocks.readerCount + this.accounts.readerCount;
    for (const { book, trades, ticker, candles } of this.markets.values()) {
      for (const feed of [book, trades, ticker, ...candles.values()]) count += feed.readerCount;
    }
    return count;
  }

  hasMarket(symbol: string): boolean {
    return this.venue.listing.named(symbol) !== undefined;
  }

  /** Subscribes to a public stream of a market that exists; answers how to stop. */
  openPublic(
    connection: Connection,
    name: MarketStreamName | { readonly stream: "blocks" },
    options: ReadingOptions,
  ): () => void {
    if (!("symbol" in name)) return this.blocks.open(connection);
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
    this.pulse.stop();
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
    // First, and by itself: no fault of a public stream may cost a private frame.
    this.accounts.onCommand(applied.position);
    // An exception here would stop the venue: streams are not worth that.
    try {
      this.pulse.giveWay();
      this.venue.views.tellPublicEvents(applied, this);
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
    const { pulse } = this;
    const { views } = this.venue;
    const levels = () => {
      const book = views.levels(symbol);
      if (book === undefined) throw new RangeError(`no market ${symbol}`);
      return book;
    };
    return {
      book: new BookFeed(pulse, levels, () => views.bookChangedAt(symbol)),
      trades: new TradesFeed(pulse, symbol),
      ticker: new LatestFeed(pulse, tickerState(views, symbol)),
      candles: new Map(
        RESOLUTIONS.map((resolution) => [
          resolution,
          new LatestFeed(pulse, candleState(views, symbol, resolution)),
        ]),
      ),
    };
  }
}
