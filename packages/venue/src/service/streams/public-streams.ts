/**
 * The public streams of the edges: each is read once for all edges that follow it, and sent to each edge
 * once. A stream that no edge follows costs nothing.
 *
 * What is called for a command runs inside its apply callback and only records what changed.
 */

import type { CoreLink, NoticeHandlers } from "@perpgate/link";
import type { StreamName, Trade } from "@perpgate/protocol";
import { parseStreamName } from "@perpgate/protocol/core";
import type { Venue } from "../../venue.js";
import { BookSource } from "./book-source.js";
import { type EdgeFollower, Followers } from "./followers.js";
import { LatestSource, type State } from "./latest-source.js";
import { Rounds, type Source } from "./rounds.js";
import { candlesOf, marketsState, sendBlocks, sendTrades, statusOf, tickerOf } from "./states.js";

/** Public streams of which nothing may be left out: trades and blocks, those of a round together. */
class EventSource<Event> implements Source {
  readonly followers = new Followers();
  private events: Event[] = [];

  constructor(private readonly sendTo: (to: EdgeFollower, events: readonly Event[]) => void) {}

  add(event: Event): void {
    this.events.push(event);
  }

  send(): boolean {
    const { events } = this;
    this.events = [];
    if (events.length > 0) this.followers.sendAll((follower) => this.sendTo(follower, events));
    return false;
  }
}

/** Of tickers, candles and status. */
const LATEST_INTERVAL_MS = 100;
const MARKETS = "markets";

interface PublicSource extends Source {
  readonly followers: Followers;
}

export class PublicStreams {
  /** Those that an edge follows, by name. */
  private readonly sources = new Map<string, PublicSource>();
  private readonly books = new Set<BookSource>();
  private readonly trades = new Map<string, EventSource<Trade>>();
  private blocks: EventSource<number> | undefined;
  /** Of a market's trades. */
  private readonly candles = new Map<string, Set<LatestSource>>();
  /** Tickers and status: any command may change them, and their time. */
  private readonly timed = new Set<LatestSource>();
  /** Every edge follows it. */
  private readonly listed: LatestSource;
  private markets: Venue["listing"]["markets"];
  private readonly rounds: Rounds;
  private latestTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly venue: Venue,
    onFault: (error: unknown) => void,
  ) {
    this.rounds = new Rounds(onFault);
    this.listed = new LatestSource(() => marketsState(venue));
    this.markets = venue.listing.markets;
  }

  /** What an edge tells the core about its sockets' public streams. */
  noticesOf(link: () => CoreLink): Pick<NoticeHandlers, "follow" | "unfollow"> {
    return {
      follow: ({ stream }) => {
        if (!this.follow(link(), stream)) link().close(`the edge follows ${stream}`);
      },
      unfollow: ({ stream }) => this.unfollow(link(), stream),
    };
  }

  /** The edge is gone. */
  leave(follower: EdgeFollower): void {
    for (const stream of [...this.sources.keys()]) this.unfollow(follower, stream);
  }

  stop(): void {
    this.rounds.stop();
    clearTimeout(this.latestTimer);
  }

  onTrade(symbol: string, trade: Trade): void {
    const trades = this.trades.get(symbol);
    if (trades !== undefined) {
      trades.add(trade);
      this.rounds.markDirty(trades);
    }
    for (const candles of this.candles.get(symbol) ?? []) this.touch(candles);
  }

  onBlock(number: number): void {
    if (this.blocks === undefined) return;
    this.blocks.add(number);
    this.rounds.markDirty(this.blocks);
  }

  /** Whether an edge follows trades, candles or blocks, which are in a command's events. */
  get needsEvents(): boolean {
    return this.trades.size > 0 || this.candles.size > 0 || this.blocks !== undefined;
  }

  /** A command was applied. */
  touchAll(): void {
    for (const book of this.books) if (book.hasChanged) this.rounds.markDirty(book);
    for (const source of this.timed) this.touch(source);
    if (this.markets === this.venue.listing.markets) return;
    this.markets = this.venue.listing.markets;
    this.touch(this.listed);
  }

  /** The state may have changed. */
  private touch(source: LatestSource): void {
    source.isDue = true;
    this.latestTimer ??= setTimeout(() => {
      this.latestTimer = undefined;
      this.sendLatest();
    }, LATEST_INTERVAL_MS);
  }

  private sendLatest(): void {
    for (const source of this.sources.values()) {
      if (source instanceof LatestSource && source.isDue) this.rounds.markDirty(source);
    }
    // After the states that it is about.
    if (this.timed.size > 0) this.rounds.markDirty({ send: () => this.sendTime() });
  }

  private sendTime(): boolean {
    const { views } = this.venue;
    const asOf = { position: this.venue.seq, time: views.timeMs, block: views.lastBlock };
    const followers = new Set<EdgeFollower>();
    for (const source of this.timed) source.followers.sendAll((each) => followers.add(each));
    for (const follower of followers) if (follower.hasRoom) follower.notify("asOf", asOf);
    return false;
  }

  /** Returns false for what is no stream. */
  private follow(follower: EdgeFollower, stream: string): boolean {
    const source = this.sources.get(stream) ?? this.open(stream);
    if (source === undefined) return false;
    this.sources.set(stream, source);
    if (source.followers.has(follower)) return true;
    source.followers.add(follower);
    this.rounds.markDirty(source);
    return true;
  }

  private unfollow(follower: EdgeFollower, stream: string): void {
    const source = this.sources.get(stream);
    if (source === undefined) return;
    source.followers.delete(follower);
    if (source.followers.size > 0) return;
    this.sources.delete(stream);
    this.forget(source);
  }

  private open(stream: string): PublicSource | undefined {
    const { views } = this.venue;
    if (stream === MARKETS) return this.listed;
    const name = parseStreamName(stream);
    if (name === undefined) return undefined;
    if ("symbol" in name) {
      const isListed = this.venue.listing.named(name.symbol) !== undefined;
      return isListed ? this.openOfMarket(name) : undefined;
    }
    if (name.stream === "status") return this.timedSource(() => statusOf(this.venue));
    if (name.stream !== "blocks") return undefined;
    this.blocks = new EventSource((to, numbers) => sendBlocks(to, views, numbers));
    return this.blocks;
  }

  private openOfMarket(name: Extract<StreamName, { symbol: string }>): PublicSource {
    const { views } = this.venue;
    const { symbol } = name;
    switch (name.stream) {
      case "book": {
        const book = new BookSource(
          () => views.levels(symbol),
          () => views.bookChangedAt(symbol),
        );
        this.books.add(book);
        return book;
      }
      case "trades": {
        const source = new EventSource<Trade>((to, trades) => sendTrades(to, symbol, trades));
        this.trades.set(symbol, source);
        return source;
      }
      case "ticker":
        return this.timedSource(() => tickerOf(views, symbol));
      case "candles": {
        const { resolution } = name;
        const source = new LatestSource(() => candlesOf(views, symbol, resolution));
        const known = this.candles.get(symbol);
        if (known === undefined) this.candles.set(symbol, new Set([source]));
        else known.add(source);
        return source;
      }
    }
  }

  private timedSource(read: () => State | undefined): LatestSource {
    const source = new LatestSource(read);
    this.timed.add(source);
    return source;
  }

  /** No edge follows it any more. */
  private forget(source: PublicSource): void {
    if (source === this.blocks) this.blocks = undefined;
    if (source instanceof BookSource) this.books.delete(source);
    if (!(source instanceof LatestSource)) {
      for (const [symbol, each] of this.trades) if (each === source) this.trades.delete(symbol);
      return;
    }
    this.timed.delete(source);
    for (const [symbol, each] of this.candles) {
      if (each.delete(source) && each.size === 0) this.candles.delete(symbol);
    }
  }
}
