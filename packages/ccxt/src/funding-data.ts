/** Funding, open interest, leverage tiers and fees. */

import type { FundingPoint, Market as VenueMarket, Ticker as VenueTicker } from "@perpgate/sdk";
import {
  type Dict,
  errors,
  type FundingRate,
  type FundingRateHistory,
  type FundingRates,
  type Int,
  type LeverageTier,
  type LeverageTiers,
  type Market,
  type OpenInterest,
  type OpenInterests,
  type Strings,
  type TradingFeeInterface,
  type TradingFees,
} from "ccxt";
import { MarketData } from "./market-data.js";
import { exact, given, isoOf, known, oldestFirst, timeBefore, untilOf } from "./values.js";

/** Funding is paid every hour. */
const FUNDING_INTERVAL = "1h";
const HOUR_MS = 3_600_000;

export class FundingData extends MarketData {
  override async fetchFundingRate(symbol: string): Promise<FundingRate> {
    const { id, market } = await this.located(symbol);
    const ticker = await this.ask((client) => client.ticker(id));
    return this.fundingRateOf(ticker, market.symbol);
  }

  override async fetchFundingRates(symbols?: Strings): Promise<FundingRates> {
    await this.loadMarkets();
    const tickers = await this.ask((client) => client.tickers());
    const rates = tickers.map((ticker) =>
      this.fundingRateOf(ticker, this.safeSymbol(ticker.symbol)),
    );
    return this.filterByArray(rates, "symbol", this.marketSymbols(symbols));
  }

  override async fetchFundingInterval(symbol: string): Promise<FundingRate> {
    return this.fetchFundingRate(symbol);
  }

  override async fetchFundingIntervals(symbols?: Strings): Promise<FundingRates> {
    return this.fetchFundingRates(symbols);
  }

  private fundingRateOf(ticker: VenueTicker, symbol: string): FundingRate {
    const { nextFundingAt, time } = ticker;
    return {
      info: ticker,
      symbol,
      markPrice: known(ticker.mark),
      indexPrice: known(ticker.index),
      interestRate: undefined,
      estimatedSettlePrice: undefined,
      timestamp: time,
      datetime: isoOf(time),
      fundingRate: ticker.fundingRate,
      fundingTimestamp: nextFundingAt,
      fundingDatetime: isoOf(nextFundingAt),
      nextFundingRate: undefined,
      nextFundingTimestamp: nextFundingAt + HOUR_MS,
      nextFundingDatetime: isoOf(nextFundingAt + HOUR_MS),
      previousFundingRate: undefined,
      previousFundingTimestamp: undefined,
      previousFundingDatetime: undefined,
      interval: FUNDING_INTERVAL,
    };
  }

  override async fetchFundingRateHistory(
    symbol?: string,
    since?: Int,
    limit?: Int,
    params: Dict = {},
  ): Promise<FundingRateHistory[]> {
    if (symbol === undefined) {
      throw new errors.ArgumentsRequired(`${this.id} fetchFundingRateHistory() needs a symbol`);
    }
    const { id, market } = await this.located(symbol);
    const options = given({ limit, after: timeBefore(since), to: untilOf(params) });
    const points = await this.ask((client) => client.funding(id, options));
    return oldestFirst(points, options).map((point) => this.parseFundingRateHistory(point, market));
  }

  override parseFundingRateHistory(info: FundingPoint, market?: Market): FundingRateHistory {
    const { time: timestamp, rate: fundingRate } = info;
    const symbol = this.safeSymbol(undefined, market);
    return { info, symbol, fundingRate, timestamp, datetime: isoOf(timestamp) };
  }

  override async fetchOpenInterest(symbol: string): Promise<OpenInterest> {
    const { id, market } = await this.located(symbol);
    return this.parseOpenInterest(await this.ask((client) => client.ticker(id)), market);
  }

  override async fetchOpenInterests(symbols?: Strings): Promise<OpenInterests> {
    await this.loadMarkets();
    const tickers = await this.ask((client) => client.tickers());
    const interests = tickers.map((ticker) =>
      this.parseOpenInterest(ticker, this.safeMarket(ticker.symbol)),
    );
    return this.filterByArray(interests, "symbol", this.marketSymbols(symbols));
  }

  override parseOpenInterest(ticker: VenueTicker, market?: Market): OpenInterest {
    const { openInterest, mark, time } = ticker;
    return this.safeOpenInterest(
      {
        symbol: this.safeSymbol(ticker.symbol, market),
        openInterestAmount: openInterest,
        openInterestValue: mark === null ? undefined : exact(openInterest * mark),
        timestamp: time,
        datetime: isoOf(time),
        info: ticker,
      },
      market,
    );
  }

  override async fetchLeverageTiers(symbols?: Strings): Promise<LeverageTiers> {
    const markets = await this.ask((client) => client.markets());
    await this.loadMarkets();
    return this.parseLeverageTiers(markets, this.marketSymbols(symbols), "symbol");
  }

  override async fetchMarketLeverageTiers(symbol: string): Promise<LeverageTier[]> {
    const tiers = await this.fetchLeverageTiers([symbol]);
    return tiers[this.market(symbol).symbol] ?? [];
  }

  override parseMarketLeverageTiers({ tiers }: VenueMarket, market?: Market): LeverageTier[] {
    const symbol = this.safeSymbol(undefined, market);
    return tiers.map(({ notionalUpTo, maxLeverage, maintenanceRate }, at) => ({
      tier: at + 1,
      symbol,
      currency: market?.settle,
      minNotional: tiers[at - 1]?.notionalUpTo ?? 0,
      maxNotional: notionalUpTo,
      maintenanceMarginRate: maintenanceRate,
      maxLeverage,
      info: tiers[at],
    }));
  }

  override async fetchTradingFee(symbol: string): Promise<TradingFeeInterface> {
    const { market } = await this.located(symbol);
    const fee = (await this.fetchTradingFees())[market.symbol];
    if (fee === undefined) throw new errors.BadSymbol(`${this.id} has no market ${symbol}`);
    return fee;
  }

  override async fetchTradingFees(): Promise<TradingFees> {
    const markets = await this.fetchMarkets();
    const fees: TradingFees = {};
    for (const market of markets) {
      if (market === undefined) continue;
      const { symbol, maker, taker, info } = market;
      fees[symbol] = { symbol, maker, taker, percentage: true, tierBased: false, info };
    }
    return fees;
  }
}
