/**
 * The feeds of the public streams: one per stream, created when first subscribed to, each from what the
 * core sends to this edge.
 */

import type { CoreAccess, NoticeBodies } from "@perpgate/link";
import type { GlobalStream, StreamName } from "@perpgate/protocol";
import { formatStreamName, RESOLUTIONS } from "@perpgate/protocol/core";
import type { ClientSocket } from "../connection.js";
import { BookDiffers, BookStreamFeed } from "./book-feed.js";
import { BlocksFeed, type PublicFeed, type ReadingOptions, TradesFeed } from "./broadcast-feed.js";
import { FrameScheduler } from "./frame-scheduler.js";
import { LatestFeed } from "./latest-feed.js";
import { AsOf, candleState, MarketState, statusState, tickerState } from "./public-states.js";

type MarketStreamName = Extract<StreamName, { symbol: string }>;
export type PublicStreamName = MarketStreamName | { readonly stream: GlobalStream };

interface MarketFeeds {
  readonly state: MarketState;
  readonly book: BookStreamFeed;
  readonly trades: TradesFeed;
  readonly ticker: LatestFeed;
  readonly candles: ReadonlyMap<string, LatestFeed>;
}

export class PublicFeeds {
  readonly scheduler: FrameScheduler;
  /** Resolves once the listed markets are known; rejects if the link ends before. */
  readonly ready: Promise<void>;
  private readonly followed: FollowedStreams;
  private readonly markets = new Map<string, MarketFeeds>();
  private readonly blocks: BlocksFeed;
  private readonly status: LatestFeed;
  private readonly asOf = new AsOf();
  private symbols: ReadonlySet<string> = new Set();
  private statusNow: NoticeBodies["status"]["status"] | undefined;
  private onListed: () => void = () => undefined;

  constructor(link: CoreAccess, onFault: (error: unknown) => void, release: string) {
    const onRoundFault = (error: unknown): void => {
      onFault(error);
      // No book is better for a trader than a wrong one.
      if (error instanceof BookDiffers) link.drop(error.message);
    };
    const isAwaited = (): boolean => link.inFlight > 0;
    this.scheduler = new FrameScheduler(onRoundFault, () => performance.now(), isAwaited);
    this.blocks = new BlocksFeed(this.scheduler);
    const status = statusState(() => this.statusNow, this.asOf, release);
    this.status = new LatestFeed(this.scheduler, status);
    this.followed = new FollowedStreams(link, (stream) => this.forget(stream));
    link.on({
      markets: ({ symbols }) => {
        this.symbols = new Set(symbols);
        this.onListed();
      },
      bookSnapshot: (book) => this.at(book, ({ state }) => state.begin(book)),
      bookDelta: (delta) => this.at(delta, ({ state }) => state.change(delta)),
      trades: ({ symbol, trades }) => this.markets.get(symbol)?.trades.onTrades(trades),
      ticker: ({ ticker }) => {
        const market = this.markets.get(ticker.symbol);
        if (market === undefined) return;
        market.state.ticker = ticker;
        market.ticker.touch();
      },
      candles: ({ symbol, resolution, candles }) => {
        const market = this.markets.get(symbol);
        if (market === undefined) return;
        market.state.candles.set(resolution, [...candles]);
        market.candles.get(resolution)?.touch();
      },
      status: ({ status: now }) => {
        this.statusNow = now;
        this.status.touch();
      },
      block: ({ block }) => this.blocks.onBlock(block),
      asOf: (asOf) => this.asOf.set(asOf),
    });
    this.ready = new Promise((resolve, reject) => {
      this.onListed = resolve;
      void link.closed.then(reject);
    });
    this.ready.catch(() => undefined);
    this.followed.join("markets");
    link.onLead({
      // What the core would have sent is missing from now on.
      lost: () => this.followed.forgetAll(),
      begun: () => this.followed.followAll(),
    });
  }

  /** Open subscriptions of all feeds. */
  get readerCount(): number {
    let count = this.blocks.readerCount + this.status.readerCount;
    for (const { book, trades, ticker, candles } of this.markets.values()) {
      for (const feed of [book, trades, ticker, ...candles.values()]) count += feed.readerCount;
    }
    return count;
  }

  hasMarket(symbol: string): boolean {
    return this.symbols.has(symbol);
  }

  /** Subscribes to a public stream of a listed market; returns a function that unsubscribes. */
  open(connection: ClientSocket, name: PublicStreamName, options: ReadingOptions): () => void {
    const end = this.feedOf(name).open(connection, options);
    const leave = this.followed.join(formatStreamName(name));
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      end();
      leave();
    };
  }

  stop(): void {
    this.scheduler.stop();
    this.followed.stop();
  }

  private feedOf(name: PublicStreamName): PublicFeed {
    if (!("symbol" in name)) return name.stream === "blocks" ? this.blocks : this.status;
    const feeds = this.feedsOf(name.symbol);
    if (name.stream !== "candles") return feeds[name.stream];
    const candles = feeds.candles.get(name.resolution);
    if (candles === undefined) throw new RangeError(`no stream ${formatStreamName(name)}`);
    return candles;
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
    const { scheduler, asOf } = this;
    const state = new MarketState();
    return {
      state,
      book: new BookStreamFeed(scheduler, () => state.book),
      trades: new TradesFeed(scheduler, symbol),
      ticker: new LatestFeed(scheduler, tickerState(state, symbol, asOf)),
      candles: new Map(
        RESOLUTIONS.map((resolution) => [
          resolution,
          new LatestFeed(scheduler, candleState(state, symbol, resolution)),
        ]),
      ),
    };
  }

  private at({ symbol }: { readonly symbol: string }, change: (feeds: MarketFeeds) => void): void {
    const feeds = this.markets.get(symbol);
    if (feeds === undefined) return;
    change(feeds);
    feeds.book.onChange();
  }

  /** The core does not send the stream any more. */
  private forget(stream: string): void {
    for (const [symbol, { state }] of this.markets) {
      if (stream === `book.${symbol}`) state.book = undefined;
      if (stream === `ticker.${symbol}`) state.ticker = undefined;
      for (const resolution of RESOLUTIONS) {
        if (stream === `candles.${symbol}.${resolution}`) state.candles.delete(resolution);
      }
    }
    if (stream === "status") this.statusNow = undefined;
  }
}

/** The core sends a stream for so long after its last reader has left. */
const LINGER_MS = 10_000;

interface Followed {
  readers: number;
  /** While nobody reads it. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * Which public streams the core sends to this edge: those that sockets read, and for a while those that
 * they have read, so that readers who come and go cost the core nothing.
 */
export class FollowedStreams {
  private readonly streams = new Map<string, Followed>();

  constructor(
    private readonly link: Pick<CoreAccess, "notify">,
    /** What the edge has of the stream is out of date from now on. */
    private readonly onUnfollowed: (stream: string) => void,
  ) {}

  /** A socket reads the stream; returns a function that ends it, to be called once. */
  join(stream: string): () => void {
    const known = this.streams.get(stream);
    const followed = known ?? { readers: 0, timer: undefined };
    if (known === undefined) {
      this.streams.set(stream, followed);
      this.link.notify("follow", { stream });
    }
    clearTimeout(followed.timer);
    followed.readers++;
    return () => {
      followed.readers--;
      if (followed.readers > 0) return;
      followed.timer = setTimeout(() => this.unfollow(stream), LINGER_MS).unref();
    };
  }

  /** No core sends them. */
  forgetAll(): void {
    for (const stream of this.streams.keys()) this.onUnfollowed(stream);
  }

  /** To a core that has not been asked yet. */
  followAll(): void {
    for (const stream of this.streams.keys()) this.link.notify("follow", { stream });
  }

  stop(): void {
    for (const { timer } of this.streams.values()) clearTimeout(timer);
  }

  private unfollow(stream: string): void {
    this.streams.delete(stream);
    this.link.notify("unfollow", { stream });
    this.onUnfollowed(stream);
  }
}
