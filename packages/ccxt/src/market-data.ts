/** Public market data: markets, currencies, prices, books, trades, candles, funding. */

import { CANDLE_PRICES, RESOLUTIONS } from "@perpgate/protocol/core";
import type {
  BookSnapshot,
  Candle,
  CandlePrice,
  Resolution,
  Market as VenueMarket,
  Ticker as VenueTicker,
  Trade as VenueTrade,
} from "@perpgate/sdk";
import {
  type Currencies,
  type Dict,
  errors,
  type Int,
  type LastPrices,
  type Market,
  type MarketInterface,
  type OHLCV,
  type OrderBook,
  type Status,
  type Strings,
  type Ticker,
  type Tickers,
  type Trade,
} from "ccxt";
import { currenciesOf } from "./currencies.js";
import { exact, given, isoOf, known, oldestFirst, timeBefore, untilOf } from "./values.js";
import { VenueExchange } from "./venue-exchange.js";

export class MarketData extends VenueExchange {
  override async fetchTime(): Promise<Int> {
    return this.ask((client) => client.time());
  }

  override async fetchStatus(): Promise<Status> {
    const info = await this.ask((client) => client.status());
    const isOpen = info.stage !== "closed";
    const status = isOpen ? "ok" : "maintenance";
    return { status, updated: info.time, eta: undefined, url: undefined, info };
  }

  override async fetchMarkets(): Promise<Market[]> {
    return (await this.ask((client) => client.markets())).map((market) => this.parseMarket(market));
  }

  override parseMarket(market: VenueMarket): Market {
    const { symbol: id, base, quote, tickSize, lotSize, maxLeverage } = market;
    return this.safeMarketStructure({
      id,
      symbol: `${base}/${quote}:${quote}`,
      base,
      quote,
      settle: quote,
      baseId: base,
      quoteId: quote,
      settleId: quote,
      type: "swap",
      spot: false,
      margin: false,
      swap: true,
      future: false,
      option: false,
      active: market.status === "active",
      contract: true,
      linear: true,
      inverse: false,
      subType: "linear",
      contractSize: 1,
      taker: market.takerFee,
      maker: market.makerFee,
      percentage: true,
      tierBased: false,
      feeSide: "quote",
      marginModes: { cross: false, isolated: true },
      precision: { amount: lotSize, price: tickSize },
      limits: {
        leverage: { min: 1, max: maxLeverage },
        amount: { min: market.minSize, max: known(market.maxSize) },
        price: { min: tickSize, max: undefined },
        cost: { min: market.minNotional, max: undefined },
      },
      created: undefined,
      info: market,
    });
  }

  override async fetchCurrencies(): Promise<Currencies> {
    const [markets, bridge] = await this.ask((client) =>
      Promise.all([client.markets(), client.bridge()]),
    );
    this.has.fetchDepositAddress = bridge.chains.length > 0;
    this.has.withdraw = bridge.withdrawals !== null;
    return currenciesOf(this, markets, bridge);
  }

  /** The market of a symbol, once markets are loaded. */
  protected async located(symbol: string): Promise<{ id: string; market: MarketInterface }> {
    await this.loadMarkets();
    const market = this.market(symbol);
    return { id: market.id ?? "", market };
  }

  override async fetchTicker(symbol: string): Promise<Ticker> {
    const { id, market } = await this.located(symbol);
    return this.parseTicker(await this.ask((client) => client.ticker(id)), market);
  }

  override async fetchTickers(symbols?: Strings): Promise<Tickers> {
    await this.loadMarkets();
    const tickers = await this.ask((client) => client.tickers());
    return this.parseTickers(tickers, this.marketSymbols(symbols));
  }

  override parseTicker(ticker: VenueTicker, market?: Market): Ticker {
    const { last, change24h, time } = ticker;
    const open = last === null || change24h === null ? undefined : last / (1 + change24h);
    return this.safeTicker(
      {
        symbol: this.safeSymbol(ticker.symbol, market),
        timestamp: time,
        datetime: isoOf(time),
        bid: known(ticker.bid),
        bidVolume: known(ticker.bidSize),
        ask: known(ticker.ask),
        askVolume: known(ticker.askSize),
        last: known(last),
        close: known(last),
        open: open === undefined ? undefined : exact(open),
        high: known(ticker.high24h),
        low: known(ticker.low24h),
        baseVolume: ticker.volume24h,
        // CCXT derives the average price from both volumes.
        quoteVolume: known(ticker.turnover24h),
        markPrice: known(ticker.mark),
        indexPrice: known(ticker.index),
        info: ticker,
      },
      market,
    );
  }

  override async fetchBidsAsks(symbols?: Strings): Promise<Tickers> {
    return this.fetchTickers(symbols);
  }

  override async fetchMarkPrice(symbol: string): Promise<Ticker> {
    return this.fetchTicker(symbol);
  }

  override async fetchMarkPrices(symbols?: Strings): Promise<Tickers> {
    return this.fetchTickers(symbols);
  }

  override async fetchLastPrices(symbols?: Strings): Promise<LastPrices> {
    const tickers = await this.fetchTickers(symbols);
    const prices: LastPrices = {};
    for (const [symbol, { timestamp, datetime, last, info }] of Object.entries(tickers)) {
      prices[symbol] = { symbol, timestamp, datetime, price: last, side: undefined, info };
    }
    return prices;
  }

  override async fetchOrderBook(symbol: string, limit?: Int): Promise<OrderBook> {
    const { id, market } = await this.located(symbol);
    const book = await this.ask((client) => client.book(id, given({ depth: limit })));
    return this.parseBook(book, market.symbol);
  }

  protected parseBook(book: Pick<BookSnapshot, "bids" | "asks" | "time" | "seq">, symbol: string) {
    return { ...this.parseOrderBook({ ...book }, symbol, book.time), nonce: book.seq };
  }

  override async fetchTrades(
    symbol: string,
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ): Promise<Trade[]> {
    const { id, market } = await this.located(symbol);
    const options = given({
      limit,
      from: since,
      to: untilOf(params),
      after: this.fromStart(since),
    });
    const page = oldestFirst(await this.ask((client) => client.trades(id, options)), options);
    // Not by `parseTrades`, which sorts trades of one moment by their ids as text.
    const trades = page.map((trade) => this.parseTrade(trade, market));
    return this.filterBySymbolSinceLimit(trades, market.symbol, since, limit);
  }

  /** With `since`, entries come from there on, oldest first. */
  protected fromStart(since: Int): string | undefined {
    return since === undefined ? undefined : "0";
  }

  override parseTrade(trade: VenueTrade, market?: Market): Trade {
    return this.safeTrade(
      {
        id: trade.id,
        timestamp: trade.time,
        datetime: isoOf(trade.time),
        symbol: this.safeSymbol(undefined, market),
        side: trade.side === "long" ? "buy" : "sell",
        takerOrMaker: "taker",
        type: undefined,
        order: undefined,
        fee: undefined,
        price: trade.price,
        amount: trade.size,
        info: trade,
      },
      market,
    );
  }

  override async fetchOHLCV(
    symbol: string,
    timeframe = "1m",
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ): Promise<OHLCV[]> {
    const price = params.price === undefined ? {} : { price: candlePriceOf(params.price, this.id) };
    const { id, market } = await this.located(symbol);
    const resolution = this.resolutionOf(timeframe);
    const options = given({ limit, after: timeBefore(since), to: untilOf(params) });
    const candles = await this.ask((client) =>
      client.candles(id, { resolution, ...price, ...options }),
    );
    return this.parseOHLCVs(oldestFirst(candles, options), market, timeframe, since, limit);
  }

  protected resolutionOf(timeframe: string): Resolution {
    const resolution = RESOLUTIONS.find((one) => one === timeframe);
    if (resolution !== undefined) return resolution;
    const offered = RESOLUTIONS.join(", ");
    throw new errors.NotSupported(`${this.id} has the time frames ${offered}, not ${timeframe}`);
  }

  override parseOHLCV({ time, open, high, low, close, volume }: Candle): OHLCV {
    return [time, open, high, low, close, volume];
  }
}

/** CCXT's `fetchMarkOHLCV` and `fetchIndexOHLCV` set `price`. */
function candlePriceOf(price: unknown, venue: string): CandlePrice {
  const known = CANDLE_PRICES.find((one) => one === price);
  if (known !== undefined) return known;
  throw new errors.NotSupported(`${venue} has candles of trades, mark and index, not ${price}`);
}
