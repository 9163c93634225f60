/** Markets as TradingView's Universal Data Feed describes them. */

import type { Market, Resolution } from "@perpgate/protocol";

/** The name of this venue among exchanges, in front of a symbol's full name. */
export const EXCHANGE = "PERPGATE";
const TYPE = "crypto";
const SESSION = "24x7";
const TIMEZONE = "Etc/UTC";
const MAX_RESULTS = 100;

/** A resolution of the feed, minutes or days, and the candles that it means. */
const RESOLUTIONS_OF_FEED: ReadonlyMap<string, Resolution> = new Map([
  ["1", "1m"],
  ["5", "5m"],
  ["15", "15m"],
  ["60", "1h"],
  ["240", "4h"],
  ["1D", "1d"],
]);
const NAMES = [...RESOLUTIONS_OF_FEED.keys()];
const MINUTES = NAMES.filter((name) => !name.endsWith("D"));

/** The library asks for days as `1D` or as `D`. */
export function resolutionNamed(name: string): Resolution | undefined {
  return RESOLUTIONS_OF_FEED.get(name === "D" ? "1D" : name);
}

export function feedConfiguration(): object {
  return {
    supported_resolutions: NAMES,
    supports_search: true,
    supports_group_request: false,
    supports_marks: false,
    supports_timescale_marks: false,
    supports_time: true,
    exchanges: [{ value: EXCHANGE, name: "Perpgate", desc: "Perpgate testnet" }],
    symbols_types: [{ name: "Perpetual futures", value: TYPE }],
  };
}

/** The symbol without the exchange in front; the library may send either, in the user's letters. */
export function plainSymbol(text: string): string {
  const upper = text.toUpperCase();
  return upper.startsWith(`${EXCHANGE}:`) ? upper.slice(EXCHANGE.length + 1) : upper;
}

export function symbolInfo(market: Market): object {
  return {
    name: market.symbol,
    ticker: market.symbol,
    full_name: fullName(market),
    description: descriptionOf(market),
    type: TYPE,
    exchange: EXCHANGE,
    listed_exchange: EXCHANGE,
    "exchange-traded": EXCHANGE,
    "exchange-listed": EXCHANGE,
    session: SESSION,
    timezone: TIMEZONE,
    format: "price",
    ...priceStep(market),
    has_intraday: true,
    has_daily: true,
    has_weekly_and_monthly: false,
    intraday_multipliers: MINUTES,
    supported_resolutions: NAMES,
    volume_precision: decimalsOf(market.lotSize),
    data_status: "streaming",
  };
}

/** All markets as one table: a column is a list, or one value for all rows. */
export function symbolTable(markets: readonly Market[]): object {
  return {
    symbol: markets.map(({ symbol }) => symbol),
    ticker: markets.map(({ symbol }) => symbol),
    description: markets.map(descriptionOf),
    "exchange-listed": EXCHANGE,
    "exchange-traded": EXCHANGE,
    minmovement: markets.map((market) => priceStep(market).minmov),
    minmovement2: 0,
    pricescale: markets.map((market) => priceStep(market).pricescale),
    "has-intraday": true,
    "has-daily": true,
    "has-weekly-and-monthly": false,
    "intraday-multipliers": markets.map(() => MINUTES),
    type: TYPE,
    timezone: TIMEZONE,
    "session-regular": SESSION,
    "volume-precision": markets.map(({ lotSize }) => decimalsOf(lotSize)),
  };
}

interface SymbolSearch {
  readonly query: string;
  readonly type: string;
  readonly exchange: string;
  readonly limit: number;
}

/** The markets whose symbol or description has the words of the query; an empty filter lets all pass. */
export function searchSymbols(markets: readonly Market[], search: SymbolSearch): object[] {
  const { type, exchange, limit } = search;
  if ((type !== "" && type !== TYPE) || (exchange !== "" && exchange !== EXCHANGE)) return [];
  const query = plainSymbol(search.query.trim());
  const fits = (market: Market) =>
    market.symbol.includes(query) || descriptionOf(market).toUpperCase().includes(query);
  const found = markets.filter(fits).map((market) => ({
    symbol: market.symbol,
    full_name: fullName(market),
    description: descriptionOf(market),
    exchange: EXCHANGE,
    ticker: market.symbol,
    type: TYPE,
  }));
  return found.slice(0, Math.min(limit, MAX_RESULTS));
}

function fullName({ symbol }: Market): string {
  return `${EXCHANGE}:${symbol}`;
}

function descriptionOf({ base, quote }: Market): string {
  return `${base} / ${quote} perpetual`;
}

/** The tick is minmov / pricescale. */
function priceStep({ tickSize }: Market): { minmov: number; pricescale: number } {
  const pricescale = 10 ** decimalsOf(tickSize);
  return { minmov: Math.round(tickSize * pricescale), pricescale };
}

/** Digits after the decimal point. */
function decimalsOf(step: number): number {
  let decimals = 0;
  while (
    decimals < 12 &&
    Math.abs(Math.round(step * 10 ** decimals) - step * 10 ** decimals) > 1e-9
  ) {
    decimals++;
  }
  return decimals;
}
