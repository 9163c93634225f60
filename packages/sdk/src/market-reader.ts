/** What can be read without a session. */

import type {
  Block,
  Book,
  BridgeInfo,
  Candle,
  CandlePrice,
  FundingPoint,
  Honesty,
  Market,
  Nonce,
  Resolution,
  Ticker,
  Trade,
  VenueStatus,
} from "@perpgate/protocol";
import {
  getAsyncApi,
  getBlock,
  getBook,
  getBridge,
  getCandles,
  getFunding,
  getHealth,
  getHonesty,
  getLatestBlock,
  getMarkets,
  getNonce,
  getOpenApi,
  getReadiness,
  getStatus,
  getTicker,
  getTickers,
  getTime,
  getTrades,
} from "@perpgate/protocol/operations";
import type { HttpClient } from "./http/http-client.js";
import type { CallOptions } from "./retry.js";

/** A price in dollars and a size in units of base. */
export type PriceLevel = readonly [price: number, size: number];

/** A snapshot of the book, best prices first. */
export type BookSnapshot = Omit<Book, "bids" | "asks"> & {
  readonly bids: readonly PriceLevel[];
  readonly asks: readonly PriceLevel[];
};

export interface Health {
  readonly status: string;
  readonly version: string;
}

export interface Readiness {
  readonly status: string;
}

export interface LimitOption extends CallOptions {
  /** Maximum number of entries, 1 to 1,000. */
  readonly limit?: number;
}

export interface DepthOption extends CallOptions {
  /** Levels per side, 1 to 5,000. */
  readonly depth?: number;
}

/** Entries whose time is their id; all times are in Unix milliseconds. */
export interface TimesOptions extends LimitOption {
  /** Only entries before this time. */
  readonly before?: number;
  /** Only entries after this time, the oldest first; otherwise the newest come first. */
  readonly after?: number;
  /** Only entries of this time or later. */
  readonly from?: number;
  /** Only entries before this time. */
  readonly to?: number;
}

export interface CandlesOptions extends TimesOptions {
  readonly resolution?: Resolution;
  /** What they are made of: `trades` (the default), `mark` or `index`. */
  readonly price?: CandlePrice;
}

export interface TradesOptions extends LimitOption {
  /** Only trades before this one. */
  readonly before?: string;
  /** Only trades after this one, the oldest first; otherwise the newest come first. */
  readonly after?: string;
  /** Only trades of this time or later, in Unix milliseconds. */
  readonly from?: number;
  /** Only trades before this time. */
  readonly to?: number;
}

export class MarketReader {
  /** @internal */
  protected readonly http: HttpClient;

  protected constructor(http: HttpClient) {
    this.http = http;
  }

  /**
   * Every listed market: tick, lot, leverage, fees, mark and index price.
   *
   * @example
   * for (const { symbol, markPrice, maxLeverage } of await client.markets()) {
   *   console.log(symbol, markPrice, `${maxLeverage}x`);
   * }
   */
  markets(options?: CallOptions): Promise<Market[]> {
    return this.http.call(getMarkets, { options });
  }

  /**
   * A snapshot of the order book. To follow it, `client.stream.watchBook` costs far less.
   *
   * @example
   * const { bids, asks } = await client.book("BTCUSD", { depth: 5 });
   * const [bestBid] = bids;
   * if (bestBid !== undefined) console.log(`bid ${bestBid[0]} for ${bestBid[1]}`, asks.length);
   */
  async book(symbol: string, { depth, ...options }: DepthOption = {}): Promise<BookSnapshot> {
    const book = await this.http.call(getBook, { params: { symbol }, query: { depth }, options });
    return { ...book, bids: book.bids.map(levelOf), asks: book.asks.map(levelOf) };
  }

  /**
   * Best prices, mark, index, funding and the last 24 hours.
   *
   * @example
   * const { bid, ask, mark, fundingRate } = await client.ticker("BTCUSD");
   * console.log(bid, ask, mark, fundingRate);
   */
  ticker(symbol: string, options?: CallOptions): Promise<Ticker> {
    return this.http.call(getTicker, { params: { symbol }, options });
  }

  /**
   * The tickers of all markets, in listing order.
   *
   * @example
   * for (const { symbol, mark, change24h } of await client.tickers()) {
   *   console.log(symbol, mark, change24h);
   * }
   */
  tickers(options?: CallOptions): Promise<Ticker[]> {
    return this.http.call(getTickers, { options });
  }

  /**
   * The latest trades, newest first.
   *
   * @example
   * const [last] = await client.trades("BTCUSD", { limit: 1 });
   * console.log(last?.price, last?.size, last?.side);
   */
  trades(
    symbol: string,
    { limit, before, after, from, to, ...options }: TradesOptions = {},
  ): Promise<Trade[]> {
    const query = { limit, before, after, from, to };
    return this.http.call(getTrades, { params: { symbol }, query, options });
  }

  /**
   * Candles of trades, the mark or the index: `1m`, `5m`, `15m`, `1h`, `4h` or `1d`.
   *
   * @example
   * const hours = await client.candles("BTCUSD", { resolution: "1h", limit: 24 });
   * console.log(hours.map(({ close }) => close));
   */
  candles(
    symbol: string,
    { resolution, price, limit, before, after, from, to, ...options }: CandlesOptions = {},
  ): Promise<Candle[]> {
    const query = { resolution, price, limit, before, after, from, to };
    return this.http.call(getCandles, { params: { symbol }, query, options });
  }

  /**
   * Past funding, newest first.
   *
   * @example
   * const [latest] = await client.funding("BTCUSD", { limit: 1 });
   * console.log(latest?.rate, latest?.markPrice);
   */
  funding(
    symbol: string,
    { limit, before, after, from, to, ...options }: TimesOptions = {},
  ): Promise<FundingPoint[]> {
    const query = { limit, before, after, from, to };
    return this.http.call(getFunding, { params: { symbol }, query, options });
  }

  /**
   * Where deposits go on each chain, and who attests them.
   *
   * @example
   * console.log(await client.bridge());
   */
  bridge(options?: CallOptions): Promise<BridgeInfo> {
    return this.http.call(getBridge, { options });
  }

  /**
   * A sealed block.
   *
   * @example
   * const block = await client.block(1);
   * console.log(block.hash, block.ackCount, block.acksRoot);
   */
  block(number: number, options?: CallOptions): Promise<Block> {
    return this.http.call(getBlock, { params: { number: String(number) }, options });
  }

  /**
   * The key of the venue's transparency log, and how the venue has kept its receipts.
   *
   * @example
   * const { logKey, issued, notKept } = await client.honesty();
   * console.log(logKey, issued, notKept);
   */
  honesty(options?: CallOptions): Promise<Honesty> {
    return this.http.call(getHonesty, { options });
  }

  /**
   * The last sealed block.
   *
   * @example
   * const { number, time } = await client.latestBlock();
   * console.log(number, new Date(time));
   */
  latestBlock(options?: CallOptions): Promise<Block> {
    return this.http.call(getLatestBlock, { options });
  }

  /**
   * The venue's clock, Unix milliseconds.
   *
   * @example
   * const offsetMs = (await client.time()) - Date.now();
   * console.log(offsetMs);
   */
  async time(options?: CallOptions): Promise<number> {
    return (await this.http.call(getTime, { options })).time;
  }

  /**
   * Release, engine version, stage and the status of each market.
   *
   * @example
   * const { release, stage, markets } = await client.status();
   * console.log(release, stage, markets);
   */
  status(options?: CallOptions): Promise<VenueStatus> {
    return this.http.call(getStatus, { options });
  }

  /**
   * A nonce for a sign-in message; `signIn` requests its own.
   *
   * @example
   * const { nonce, expiresAt } = await client.nonce();
   * console.log(nonce, new Date(expiresAt));
   */
  nonce(options?: CallOptions): Promise<Nonce> {
    return this.http.call(getNonce, { options });
  }

  /**
   * Whether the gateway responds, and its version.
   *
   * @example
   * const { status, version } = await client.health();
   * console.log(status, version);
   */
  health(options?: CallOptions): Promise<Health> {
    return this.http.call(getHealth, { options });
  }

  /**
   * Whether the venue can trade; a `PerpgateError` with code `not_ready` says why not.
   *
   * @example
   * const { status } = await client.readiness({ retries: 0 });
   * console.log(status);
   */
  readiness(options?: CallOptions): Promise<Readiness> {
    return this.http.call(getReadiness, { options });
  }

  /**
   * The interface as an OpenAPI 3.1 document.
   *
   * @example
   * const { info } = await client.openapi();
   * console.log(info);
   */
  openapi(options?: CallOptions): Promise<Record<string, unknown>> {
    return this.http.call(getOpenApi, { options });
  }

  /**
   * The socket and its streams as an AsyncAPI 3 document.
   *
   * @example
   * const { channels } = await client.asyncapi();
   * console.log(channels);
   */
  asyncapi(options?: CallOptions): Promise<Record<string, unknown>> {
    return this.http.call(getAsyncApi, { options });
  }
}

function levelOf([price = 0, size = 0]: readonly number[]): PriceLevel {
  return [price, size];
}
