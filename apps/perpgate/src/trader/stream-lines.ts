/** Follows a stream by its name; each frame becomes data for programs and a line for people. */

import { formatStreamName, type StreamName } from "@perpgate/protocol/core";
import type {
  AccountFrame,
  Block,
  Candle,
  Deposit,
  Fill,
  MirroredBook,
  Order,
  PerpgateClient,
  PositionsFrame,
  PreconfirmFrame,
  PriceLevel,
  Session,
  StreamProblem,
  Subscription,
  Ticker,
  Trade,
  VenueStatus,
} from "@perpgate/sdk";
import { money, percent, signed, time } from "../cli/quantities.js";
import type { MarketFormat } from "./market-format.js";

export interface StreamLine {
  readonly stream: string;
  readonly data: unknown;
  readonly text: string;
}

interface StreamReader {
  readonly client: PerpgateClient;
  /** Needed for the account's own streams. */
  readonly session: Session | undefined;
  readonly formatOf: (symbol: string) => MarketFormat;
  /** Levels per side of a book. */
  readonly depth: number;
  onLine(line: StreamLine): void;
  onProblem(problem: StreamProblem): void;
}

export function readStream(reader: StreamReader, name: StreamName): Subscription {
  return "symbol" in name ? readMarket(reader, name) : readOther(reader, name.stream);
}

type MarketName = Extract<StreamName, { readonly symbol: string }>;
type OtherName = Exclude<StreamName, MarketName>["stream"];

function readMarket(reader: StreamReader, name: MarketName): Subscription {
  const { symbol } = name;
  const { stream } = reader.client;
  const format = reader.formatOf(symbol);
  const options = { onProblem: reader.onProblem };
  const print = printer(reader, formatStreamName(name));
  switch (name.stream) {
    case "book":
      return stream.watchBook(
        symbol,
        (book) => print(bookData(book, reader.depth), bookText(book, format)),
        options,
      );
    case "trades":
      return stream.watchTrades(
        symbol,
        (trades) => print(trades, trades.map((trade) => tradeText(trade, format)).join("; ")),
        options,
      );
    case "ticker":
      return stream.watchTicker(
        symbol,
        (ticker) => print(ticker, tickerText(ticker, format)),
        options,
      );
    case "candles":
      return stream.watchCandles(
        symbol,
        name.resolution,
        (candles) => print(candles, candleText(candles.at(-1), format)),
        options,
      );
  }
}

function readOther(reader: StreamReader, name: OtherName): Subscription {
  const { client, session, formatOf } = reader;
  const options = { onProblem: reader.onProblem };
  const print = printer(reader, name);
  if (name === "blocks") {
    return client.stream.watchBlocks((block) => print(block, blockText(block)), options);
  }
  if (name === "status") {
    return client.stream.watchStatus((status) => print(status, statusText(status)), options);
  }
  if (session === undefined) throw new TypeError(`${name} needs a session`);
  const { stream } = session;
  switch (name) {
    case "preconfirms":
      return stream.watchPreconfirms(
        (ack) => print(ack, preconfirmText(ack, formatOf(ack.symbol))),
        options,
      );
    case "orders":
      return stream.watchOrders((frame) => {
        const texts = frame.orders.map((order) => orderText(order, formatOf(order.symbol)));
        print(frame, listed(frame.type, texts));
      }, options);
    case "positions":
      return stream.watchPositions((frame) => {
        const texts = frame.positions.map((held) => positionText(held, formatOf(held.symbol)));
        print(frame, listed(frame.type, texts));
      }, options);
    case "fills":
      return stream.watchFills((frame) => {
        const texts = frame.fills.map((fill) => fillText(fill, formatOf(fill.symbol)));
        print(frame, listed(frame.type, texts));
      }, options);
    case "account":
      return stream.watchAccount((frame) => print(frame, accountText(frame)), options);
    case "deposits":
      return stream.watchDeposits(
        (frame) => print(frame, listed(frame.type, frame.deposits.map(depositText))),
        options,
      );
  }
}

function printer({ onLine }: StreamReader, stream: string) {
  return (data: unknown, text: string) => onLine({ stream, data, text });
}

function listed(type: string, texts: readonly string[]): string {
  return `${type}: ${texts.length === 0 ? "none" : texts.join("; ")}`;
}

function bookData(book: MirroredBook, depth: number) {
  const { symbol, seq, time: at, live } = book;
  return { symbol, seq, time: at, live, bids: book.bids(depth), asks: book.asks(depth) };
}

function bookText(book: MirroredBook, { price, size }: MarketFormat): string {
  const level = (found: PriceLevel | undefined) =>
    found === undefined ? "none" : `${price(found[0])} × ${size(found[1])}`;
  const levels = `${book.depth("bid")}/${book.depth("ask")} levels`;
  return `bid ${level(book.bestBid)}  ask ${level(book.bestAsk)}  ${levels}  seq ${book.seq}`;
}

function tradeText(
  { side, size: traded, price: at, time: when }: Trade,
  format: MarketFormat,
): string {
  const verb = side === "long" ? "bought" : "sold";
  return `${time(when)}  ${verb} ${format.size(traded)} at ${format.price(at)}`;
}

function tickerText(ticker: Ticker, { price, size }: MarketFormat): string {
  const { bid, ask, last, mark, fundingRate, volume24h } = ticker;
  return (
    `bid ${price(bid)}  ask ${price(ask)}  last ${price(last)}  mark ${price(mark)}  ` +
    `funding ${percent(fundingRate)}/h  volume ${size(volume24h)}`
  );
}

function candleText(candle: Candle | undefined, { price, size }: MarketFormat): string {
  if (candle === undefined) return "none";
  const { time: at, open, high, low, close, volume } = candle;
  return (
    `${time(at)}  open ${price(open)}  high ${price(high)}  low ${price(low)}  ` +
    `close ${price(close)}  volume ${size(volume)}`
  );
}

function blockText({ number, ackCount, hash, time: at }: Block): string {
  return `${time(at)}  block ${number}  ${ackCount} acknowledgements  ${hash}`;
}

function preconfirmText(ack: PreconfirmFrame, { price, size }: MarketFormat): string {
  const { orderId, symbol, side, status, filledSize, avgFillPrice, expectedBlock } = ack;
  const fill = filledSize > 0 ? `  ${size(filledSize)} at ${price(avgFillPrice)}` : "";
  return `order ${orderId}  ${symbol} ${side}  ${status}${fill}  block ${expectedBlock}`;
}

function statusText({ stage, engineVersion, markets }: VenueStatus): string {
  const listing = markets.map(({ symbol, status }) => `${symbol} ${status}`).join(", ");
  return `stage ${stage}  rules ${engineVersion}  ${listing}`;
}

function fillText(fill: Fill, { price, size }: MarketFormat): string {
  const { id, orderId, kind, symbol, side, fee } = fill;
  const from = orderId === null ? kind : `order ${orderId}`;
  return `fill ${id} ${symbol} ${side} ${size(fill.size)} at ${price(fill.price)}, ${from}, fee ${money(fee)}`;
}

function accountText({ balance, available, equity }: AccountFrame): string {
  return `balance ${money(balance)}  available ${money(available)}  equity ${money(equity)}`;
}

function orderText(order: Order, { price, size }: MarketFormat): string {
  const { orderId, symbol, side, type, status, filledSize } = order;
  const at = order.price === null ? "" : ` at ${price(order.price)}`;
  return (
    `order ${orderId} ${symbol} ${side} ${type}${at}: ` +
    `${status}, ${size(filledSize)} of ${size(order.size)} filled`
  );
}

function positionText(
  held: PositionsFrame["positions"][number],
  { price, size }: MarketFormat,
): string {
  if (!("avgEntry" in held)) return `${held.symbol} flat`;
  const pnl = signed(held.unrealizedPnl, money);
  const amount = size(Math.abs(held.size));
  return `${held.symbol} ${held.side} ${amount} from ${price(held.avgEntry)}, unrealised ${pnl}`;
}

function depositText({ depositId, status, confirmations, required }: Deposit): string {
  return `deposit ${depositId}: ${status}, ${confirmations} of ${required} confirmations`;
}
