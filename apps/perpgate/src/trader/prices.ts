/** `perpgate ticker`, `trades`, `candles` and `funding`: what a market is and was worth, read once. */

import type {
  Candle,
  CandlePrice,
  FundingPoint,
  PerpgateClient,
  Resolution,
  Ticker,
  Trade,
} from "@perpgate/sdk";
import { percent, time } from "../cli/quantities.js";
import { signTone } from "../cli/style.js";
import type { Column } from "../cli/table.js";
import { withVenue } from "./connection.js";
import { formatIn, type MarketFormat, marketFormats, sideCell } from "./market-format.js";
import type { VenueOptions } from "./venue-command.js";

const DEFAULT_LIMIT = 20;

export interface ListOptions extends VenueOptions {
  readonly limit?: number;
}

export function ticker(symbol: string | undefined, options: VenueOptions): Promise<number> {
  return withVenue(options, async ({ client, output }) => {
    const [rows, formatOf] = await Promise.all([
      symbol === undefined ? client.tickers() : client.ticker(symbol).then((one) => [one]),
      marketFormats(client),
    ]);
    if (output.isJson && symbol !== undefined) output.json(rows[0]);
    else output.rows(tickerColumns(formatOf), rows, "no markets");
    return 0;
  });
}

export function trades(symbol: string, options: ListOptions): Promise<number> {
  const columns = ({ price, size }: MarketFormat): Column<Trade>[] => [
    { title: "time (UTC)", cell: (trade) => time(trade.time) },
    { title: "side", cell: sideCell },
    { title: "price", align: "right", cell: (trade) => price(trade.price) },
    { title: "size", align: "right", cell: (trade) => size(trade.size) },
    { title: "id", cell: ({ id }) => id },
  ];
  return list(symbol, options, (client, page) => client.trades(symbol, page), columns, "no trades");
}

export function candles(
  symbol: string,
  options: ListOptions & { readonly resolution?: Resolution; readonly price?: CandlePrice },
): Promise<number> {
  const { resolution = "1m", price: of = "trades" } = options;
  const columns = ({ price, size }: MarketFormat): Column<Candle>[] => [
    { title: "time (UTC)", cell: (candle) => time(candle.time) },
    ...(["open", "high", "low", "close"] as const).map(
      (field): Column<Candle> => ({
        title: field,
        align: "right",
        cell: (candle) => price(candle[field]),
      }),
    ),
    ...(of === "trades" ? sums(size) : []),
  ];
  const read: Read<Candle> = (client, page) =>
    client.candles(symbol, { resolution, price: of, ...page });
  return list(symbol, options, read, columns, "no candles");
}

function sums(size: MarketFormat["size"]): Column<Candle>[] {
  return [
    { title: "volume", align: "right", cell: ({ volume }) => size(volume) },
    { title: "trades", align: "right", cell: (candle) => String(candle.trades) },
  ];
}

export function funding(symbol: string, options: ListOptions): Promise<number> {
  const columns = ({ price }: MarketFormat): Column<FundingPoint>[] => [
    { title: "time (UTC)", cell: (point) => time(point.time) },
    { title: "rate/h", align: "right", cell: ({ rate }) => percent(rate) },
    { title: "mark", align: "right", cell: ({ markPrice }) => price(markPrice) },
  ];
  return list(
    symbol,
    options,
    (client, page) => client.funding(symbol, page),
    columns,
    "no funding",
  );
}

type Read<Row> = (client: PerpgateClient, page: { readonly limit: number }) => Promise<Row[]>;

function list<Row>(
  symbol: string,
  options: ListOptions,
  read: Read<Row>,
  columnsOf: (format: MarketFormat) => Column<Row>[],
  none: string,
): Promise<number> {
  return withVenue(options, async ({ client, output }) => {
    const page = { limit: options.limit ?? DEFAULT_LIMIT };
    const [rows, listed] = await Promise.all([read(client, page), client.markets()]);
    output.rows(columnsOf(formatIn(listed, symbol)), rows, none);
    return 0;
  });
}

function tickerColumns(formatOf: (symbol: string) => MarketFormat): Column<Ticker>[] {
  const price = (field: "bid" | "ask" | "last" | "mark" | "index"): Column<Ticker> => ({
    title: field,
    align: "right",
    cell: (row) => formatOf(row.symbol).price(row[field]),
  });
  return [
    { title: "symbol", cell: ({ symbol }) => ({ text: symbol, tone: "strong" }) },
    ...(["bid", "ask", "last", "mark", "index"] as const).map(price),
    {
      title: "24 h",
      align: "right",
      cell: ({ change24h }) => ({ text: percent(change24h, 2), tone: signTone(change24h ?? 0) }),
    },
    {
      title: "volume 24 h",
      align: "right",
      cell: ({ symbol, volume24h }) => formatOf(symbol).size(volume24h),
    },
    {
      title: "open interest",
      align: "right",
      cell: ({ symbol, openInterest }) => formatOf(symbol).size(openInterest),
    },
    { title: "funding/h", align: "right", cell: ({ fundingRate }) => percent(fundingRate) },
    { title: "next (UTC)", cell: ({ nextFundingAt }) => time(nextFundingAt).slice(-8) },
  ];
}
