/** Markets and their tickers. */

import { fundingRate, MARKET_STATUSES, positionLimitLots } from "@perpgate/engine/reading";
import type { Market, Ticker } from "@perpgate/protocol";
import { fromMicros } from "@perpgate/protocol/core";
import type { MarketUnits } from "../listing/listing.js";
import { fractionOfPpm, fractionOfRate, priceOrNull, ratio, sizeOf } from "./figures.js";
import { stateOf, type VenueSource, type ViewedMarket, viewedMarkets } from "./venue-source.js";

export function marketsView(source: VenueSource): Market[] {
  return viewedMarkets(source).map((viewed) => marketView(source, viewed));
}

export function marketView(source: VenueSource, { units, market }: ViewedMarket): Market {
  const { config } = market;
  const hasIndex = market.index !== 0;
  return {
    symbol: units.symbol,
    base: units.base,
    quote: units.quote,
    maxLeverage: config.tiers[0]?.maxLeverage ?? 1,
    tickSize: units.tickSize,
    lotSize: units.lotSize,
    markPrice: priceOrNull(units, market.mark),
    indexPrice: priceOrNull(units, market.index),
    fundingRate: hasIndex ? fractionOfRate(fundingRate(market)) : null,
    nextFundingAt: stateOf(source).totals.nextFundingMs,
    makerFee: fractionOfPpm(config.makerFeePpm),
    takerFee: fractionOfPpm(config.takerFeePpm),
    tiers: config.tiers.map((tier) => ({
      notionalUpTo: fromMicros(tier.upToMicros),
      maxLeverage: tier.maxLeverage,
      maintenanceRate: fractionOfPpm(tier.maintenancePpm),
    })),
    minNotional: fromMicros(config.minNotionalMicros),
    minSize: units.lotSize,
    maxSize: hasIndex ? sizeOf(units, positionLimitLots(market)) : null,
    maxOpenInterest: fromMicros(config.maxOpenInterestMicros),
    status: MARKET_STATUSES[market.status]!,
  };
}

export function tickerView(source: VenueSource, { units, market }: ViewedMarket): Ticker {
  const state = stateOf(source);
  const day = source.history.day(market.number).at(state.timeMs);
  const turnover = day.turnover * units.microsPerTickLot;
  const bid = bestOf(units, market.bids);
  const ask = bestOf(units, market.asks);
  const change = day.openTicks === 0 ? null : ratio(day.lastTicks - day.openTicks, day.openTicks);
  return {
    symbol: units.symbol,
    bid: bid.price,
    bidSize: bid.size,
    ask: ask.price,
    askSize: ask.size,
    last: priceOrNull(units, market.last),
    mark: priceOrNull(units, market.mark),
    index: priceOrNull(units, market.index),
    fundingRate: fractionOfRate(fundingRate(market)),
    nextFundingAt: state.totals.nextFundingMs,
    openInterest: sizeOf(units, market.openInterestLots),
    volume24h: sizeOf(units, day.lots),
    turnover24h: turnover < Number.MAX_SAFE_INTEGER ? fromMicros(turnover) : null,
    high24h: priceOrNull(units, day.highTicks),
    low24h: priceOrNull(units, day.lowTicks),
    change24h: change,
    time: state.timeMs,
  };
}

/** The best level of a side. */
function bestOf(
  units: MarketUnits,
  side: ViewedMarket["market"]["bids"],
): { readonly price: number | null; readonly size: number | null } {
  if (side.count === 0) return { price: null, size: null };
  return { price: priceOrNull(units, side.bestTicks()), size: sizeOf(units, side.lotsAt(0)) };
}
