/** Fills, trades, candles and funding from the history. */
import { TRADE_KINDS } from "@perpgate/engine";
import type { Candle, Fill, FundingPoint, Resolution, Trade } from "@perpgate/protocol";
import { type CandlePrice, fromMicros, orderIdText } from "@perpgate/protocol/core";
import { CANDLE_ROW } from "../history/candle-projection.js";
import { FILL_CLIENT, FILL_ROW, FILL_WORDS, TRADE_ROW } from "../history/fill-projection.js";
import type { PlacedRow } from "../history/row-pages.js";
import type { MarketUnits } from "../listing/listing.js";
import { clientIdAt, fractionOfRate, priceOf, sideOf, sizeOf } from "./figures.js";
import { marketNumbers, pageOf, type RowsQuery, type TimesQuery, timesOf } from "./row-query.js";
import { unitsOf, type VenueSource, type ViewedMarket } from "./venue-source.js";

/** Rows in one response, unless fewer are asked for. */
const MAX_ROWS = 1_000;

export function fillsView(source: VenueSource, account: number, query: RowsQuery): Fill[] {
  const markets = marketNumbers(source, query.symbol);
  const rows = source.history.fills(account, markets, pageOf(query, MAX_ROWS));
  return rows.map((placed) => fillOf(source, placed));
}

/** A row of the fills. */
export function fillOf(source: VenueSource, { seq, ordinal, row }: PlacedRow): Fill {
  const market = unitsOf(source, row[FILL_ROW.MARKET]!);
  const order = row[FILL_ROW.ORDER]!;
  return {
    id: `${seq}-${ordinal}`,
    orderId: order === 0 ? null : orderIdText(order),
    kind: TRADE_KINDS[row[FILL_ROW.KIND]!] ?? "order",
    symbol: market.symbol,
    side: sideOf(row[FILL_ROW.SIDE]!),
    price: priceOf(market, row[FILL_ROW.PRICE]!),
    size: sizeOf(market, row[FILL_ROW.LOTS]!),
    fee: fromMicros(row[FILL_ROW.FEE]!),
    feeCurrency: market.quote,
    liquidity: row[FILL_ROW.IS_TAKER] === 1 ? "taker" : "maker",
    realizedPnl: fromMicros(row[FILL_ROW.PNL]!),
    block: row[FILL_ROW.BLOCK]!,
    time: row[FILL_ROW.TIME]!,
    clientOrderId: row.length === FILL_WORDS ? null : clientIdAt(row, FILL_CLIENT),
  };
}

export function tradesView(
  source: VenueSource,
  { units }: ViewedMarket,
  query: RowsQuery,
): Trade[] {
  const rows = source.history.trades(units.number, pageOf(query, MAX_ROWS));
  return rows.map((placed) => tradeOf(units, placed));
}

/** A row of the trades. */
export function tradeOf(units: MarketUnits, { seq, ordinal, row }: PlacedRow): Trade {
  return {
    id: `${seq}-${ordinal}`,
    price: priceOf(units, row[TRADE_ROW.PRICE]!),
    size: sizeOf(units, row[TRADE_ROW.LOTS]!),
    side: sideOf(row[TRADE_ROW.SIDE]!),
    time: row[TRADE_ROW.TIME]!,
  };
}

/** Spans without a trade, or without an accepted index, have no candle. */
export function candlesView(
  source: VenueSource,
  { units }: ViewedMarket,
  resolution: Resolution,
  query: TimesQuery,
  price: CandlePrice,
): Candle[] {
  return source.history
    .candles(units.number, resolution, timesOf(query), price)
    .map(({ timeMs, row }) => ({
      time: timeMs,
      open: priceOf(units, row[CANDLE_ROW.OPEN]!),
      high: priceOf(units, row[CANDLE_ROW.HIGH]!),
      low: priceOf(units, row[CANDLE_ROW.LOW]!),
      close: priceOf(units, row[CANDLE_ROW.CLOSE]!),
      volume: sizeOf(units, row[CANDLE_ROW.LOTS] ?? 0),
      trades: row[CANDLE_ROW.TRADES] ?? 0,
    }));
}

export function fundingView(
  source: VenueSource,
  { units }: ViewedMarket,
  query: TimesQuery,
): FundingPoint[] {
  return source.history.funding(units.number, timesOf(query)).map(({ timeMs, row }) => ({
    time: timeMs,
    rate: fractionOfRate(row[0]!),
    markPrice: priceOf(units, row[1]!),
  }));
}
