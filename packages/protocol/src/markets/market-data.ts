/** Public market data: ticker, trades, candles and funding history. */

import { type Static, Type } from "typebox";
import { ENTRY_CURSORS, Limit, TIME_CURSORS, TIME_SPAN } from "../http/paging.js";
import { Side } from "../orders/order.js";
import {
  Count,
  Dollars,
  MarketSymbol,
  Nullable,
  Price,
  Rate,
  Size,
  TimeMs,
} from "../text/scalar.js";
import { CANDLE_PRICES, RESOLUTIONS } from "./symbol.js";

export const Ticker = Type.Object(
  {
    symbol: MarketSymbol,
    bid: Nullable(Price),
    bidSize: Nullable(Size),
    ask: Nullable(Price),
    askSize: Nullable(Size),
    last: Nullable(Price),
    mark: Nullable(Price),
    index: Nullable(Price),
    fundingRate: Rate,
    nextFundingAt: TimeMs,
    openInterest: Size,
    volume24h: Size,
    turnover24h: Nullable({
      ...Dollars,
      description:
        "Σ price × size of the trades in volume24h; null if it is not known of all of them.",
    }),
    high24h: Nullable(Price),
    low24h: Nullable(Price),
    change24h: Nullable(Rate),
    time: TimeMs,
  },
  { title: "Ticker" },
);
export type Ticker = Static<typeof Ticker>;
export const Tickers = Type.Array(Ticker);

export const Trade = Type.Object(
  {
    id: Type.String(),
    price: Price,
    size: Size,
    side: Side,
    time: TimeMs,
  },
  { title: "Trade", description: "`side` is the taker's." },
);
export type Trade = Static<typeof Trade>;
export const Trades = Type.Array(Trade);
export const TradesQuery = Type.Object({ limit: Limit, ...ENTRY_CURSORS, ...TIME_SPAN });
export type TradesQuery = Static<typeof TradesQuery>;

export const Candle = Type.Object(
  {
    time: TimeMs,
    open: Price,
    high: Price,
    low: Price,
    close: Price,
    volume: Size,
    trades: Count,
  },
  { title: "Candle", description: "Of the mark and the index, `volume` and `trades` are 0." },
);
export type Candle = Static<typeof Candle>;
export const Candles = Type.Array(Candle);
export const CandlesQuery = Type.Object({
  resolution: Type.Enum([...RESOLUTIONS], { default: "1m" }),
  price: Type.Enum([...CANDLE_PRICES], { default: "trades" }),
  limit: Limit,
  ...TIME_CURSORS,
  ...TIME_SPAN,
});
export type CandlesQuery = Static<typeof CandlesQuery>;

export const FundingPoint = Type.Object(
  { time: TimeMs, rate: Rate, markPrice: Price },
  { title: "FundingPoint" },
);
export type FundingPoint = Static<typeof FundingPoint>;
export const FundingHistory = Type.Array(FundingPoint);
export const FundingQuery = Type.Object({ limit: Limit, ...TIME_CURSORS, ...TIME_SPAN });
export type FundingQuery = Static<typeof FundingQuery>;
