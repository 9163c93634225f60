/** Watch loops of market data. */

import type { MirroredBook, Subscription, WatchOptions } from "@perpgate/sdk";
import {
  errors,
  type Int,
  type MarketInterface,
  type OHLCV,
  type OrderBook,
  type Strings,
  type Ticker,
  type Tickers,
  type Trade,
} from "ccxt";
import { Feed } from "./feed.js";
import { Trading } from "./trading.js";

type Push<T> = (entries: Iterable<readonly [key: string, value: T]>) => void;
type Subscribe<T> = (push: Push<T>, options: WatchOptions) => Closable;
type Closable = Pick<Subscription, "close">;

/**
 * Watched lists of an exchange, by name.
 *
 * Streams are the SDK's: they reconnect, resume without gaps and check the book's checksum automatically,
 * so a watch loop goes on through a lost connection.
 */
class Watching extends Trading {
  private readonly feeds = new Map<string, Pick<Feed<never>, "end">>();

  /** The feed of a name; the first call subscribes. */
  protected feed<T>(
    feeds: Map<string, Feed<T>>,
    name: string,
    limit: number,
    subscribe: Subscribe<T>,
  ): Feed<T> {
    const known = feeds.get(name);
    if (known !== undefined) return known;
    let subscription: Closable | undefined;
    const feed = new Feed<T>(limit, () => {
      feeds.delete(name);
      this.feeds.delete(name);
      subscription?.close();
    });
    feeds.set(name, feed);
    this.feeds.set(name, feed);
    const session = this.currentSession;
    subscription = subscribe((entries) => feed.push(entries), {
      onProblem: ({ kind, error }) => {
        if (kind === "refused") feed.end(this.sessionError(error, session));
      },
    });
    return feed;
  }

  /** With `newUpdates`, as CCXT has it by default, only what came since the last call. */
  protected async updates<T>(feed: Feed<T>): Promise<T[]> {
    const fresh = await feed.next();
    return this.newUpdates ? fresh : feed.all();
  }

  protected unwatch(name: string): void {
    this.feeds.get(name)?.end(new errors.UnsubscribeError(`${this.id} ${name} unwatched`));
  }

  protected override disconnect(): void {
    const reason = new errors.ExchangeClosedByUser(`${this.id} closed by user`);
    for (const feed of [...this.feeds.values()]) feed.end(reason);
    super.disconnect();
  }
}

export class PublicWatching extends Watching {
  private readonly books = new Map<string, Feed<MirroredBook>>();
  private readonly tickerFeeds = new Map<string, Feed<Ticker>>();
  private readonly publicTrades = new Map<string, Feed<Trade>>();
  private readonly candles = new Map<string, Feed<OHLCV>>();

  override async watchOrderBook(symbol: string, limit?: Int): Promise<OrderBook> {
    const { id, market } = await this.located(symbol);
    const feed = this.feed(this.books, `book ${id}`, 1, (push, options) =>
      this.venueClient().stream.watchBook(
        id,
        (book) => {
          if (book.live) push([[id, book]]);
        },
        options,
      ),
    );
    const [book] = await feed.next();
    if (book === undefined) throw new errors.NullResponse(`${this.id} has no book of ${symbol}`);
    const { time, seq } = book;
    return this.parseBook(
      { time, seq, bids: book.bids(limit), asks: book.asks(limit) },
      market.symbol,
    );
  }

  override async watchTicker(symbol: string): Promise<Ticker> {
    const { id, market } = await this.located(symbol);
    const feed = this.feed(this.tickerFeeds, `ticker ${id}`, 1, (push, options) =>
      this.watchVenueTicker(market, push, options),
    );
    const [ticker] = await feed.next();
    if (ticker === undefined)
      throw new errors.NullResponse(`${this.id} has no ticker of ${symbol}`);
    return ticker;
  }

  /** Those that changed since the last call; of all markets without symbols. */
  override async watchTickers(symbols?: Strings): Promise<Tickers> {
    const markets = await this.marketsOf(symbols);
    const feed = this.feed(
      this.tickerFeeds,
      tickersName(markets),
      markets.length,
      (push, options) => {
        const watches = markets.map((market) => this.watchVenueTicker(market, push, options));
        return { close: () => watches.forEach((watch) => void watch.close()) };
      },
    );
    return this.indexBy(await this.updates(feed), "symbol");
  }

  /** In one order, so that the same markets have one feed. */
  private async marketsOf(symbols: Strings): Promise<MarketInterface[]> {
    await this.loadMarkets();
    const wanted = this.marketSymbols(symbols) ?? this.symbols;
    return [...new Set(wanted)].sort().map((symbol) => this.market(symbol));
  }

  private watchVenueTicker(market: MarketInterface, push: Push<Ticker>, options: WatchOptions) {
    const { id = "", symbol } = market;
    return this.venueClient().stream.watchTicker(
      id,
      (ticker) => push([[symbol, this.parseTicker(ticker, market)]]),
      options,
    );
  }

  override async watchTrades(symbol: string, since?: Int, limit?: Int): Promise<Trade[]> {
    const { id, market } = await this.located(symbol);
    const feed = this.feed(
      this.publicTrades,
      `trades ${id}`,
      this.options.tradesLimit,
      (push, options) =>
        this.venueClient().stream.watchTrades(
          id,
          (trades) => push(trades.map((trade) => [trade.id, this.parseTrade(trade, market)])),
          options,
        ),
    );
    return this.filterBySinceLimit(await this.updates(feed), since, limit, "timestamp", true);
  }

  override async watchOHLCV(
    symbol: string,
    timeframe = "1m",
    since?: Int,
    limit?: Int,
  ): Promise<OHLCV[]> {
    const { id } = await this.located(symbol);
    const resolution = this.resolutionOf(timeframe);
    const feed = this.feed(
      this.candles,
      `candles ${id} ${resolution}`,
      this.options.OHLCVLimit,
      (push, options) =>
        this.venueClient().stream.watchCandles(
          id,
          resolution,
          (candles) => push(candles.map((candle) => [`${candle.time}`, this.parseOHLCV(candle)])),
          options,
        ),
    );
    return this.filterBySinceLimit(await this.updates(feed), since, limit, 0, true);
  }

  override async unWatchOrderBook(symbol: string): Promise<void> {
    this.unwatch(`book ${(await this.located(symbol)).id}`);
  }

  override async unWatchTicker(symbol: string): Promise<void> {
    this.unwatch(`ticker ${(await this.located(symbol)).id}`);
  }

  override async unWatchTickers(symbols?: Strings): Promise<void> {
    this.unwatch(tickersName(await this.marketsOf(symbols)));
  }

  override async unWatchTrades(symbol: string): Promise<void> {
    this.unwatch(`trades ${(await this.located(symbol)).id}`);
  }

  override async unWatchOHLCV(symbol: string, timeframe = "1m"): Promise<void> {
    const { id } = await this.located(symbol);
    this.unwatch(`candles ${id} ${this.resolutionOf(timeframe)}`);
  }
}

function tickersName(markets: readonly MarketInterface[]): string {
  return `tickers ${markets.map(({ id }) => id).join(" ")}`;
}
