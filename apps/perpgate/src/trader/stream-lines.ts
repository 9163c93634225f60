/** A stream by its name, and each of its frames as data for programs and as a line for people. */

import { formatStreamName, type StreamName } from "@perpgate/protocol/streams";
import type {
  Block,
  Candle,
  Deposit,
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
} from "@perpgate/sdk";
import { money, percent, signed, time } from "../cli/quantities.js";
import type { MarketWords } from "./market-steps.js";

export interface StreamLine {
  readonly stream: string;
  readonly data: unknown;
  readonly text: string;
}

export interface StreamReader {
  readonly client: PerpgateClient;
  /** Needed for the account's own streams. */
  readonly session: Session | undefined;
  readonly wordsFor: (symbol: string) => MarketWords;
  /** Levels a side of a book. */
  readonly depth: number;
  tell(line: StreamLine): void;
  problem(problem: StreamProblem): void;
}

export function readStream(reader: StreamReader, name: StreamName): Subscription {
  return "symbol" in name ? readMarket(reader, name) : readOther(reader, name.stream);
}

type MarketName = Extract<StreamName, { readonly symbol: string }>;
type OtherName = Exclude<StreamName, MarketName>["stream"];

function readMarket(reader: StreamReader, name: MarketName): Subscription {
  const { symbol } = name;
  const { stream } = reader.client;
  const words = reader.wordsFor(symbol);
  const options = { onProblem: reader.problem };
  const tell = teller(reader, formatStreamName(name));
  switch (name.stream) {
    case "book":
      return stream.watchBook(
        symbol,
        (book) => tell(bookData(book, reader.depth), bookText(book, words)),
        options,
      );
    case "trades":
      return stream.watchTrades(
        symbol,
        (trades) => tell(trades, trades.map((trade) => tradeText(trade, words)).join("; ")),
        options,
      );
    case "ticker":
      return stream.watchTicker(
        symbol,
        (ticker) => tell(ticker, tickerText(ticker, words)),
        options,
      );
    case "candles":
      return stream.watchCandles(
        symbol,
        name.resolution,
        (candles) => tell(candles, candleText(candles.at(-1), words)),
        options,
      );
  }
}

function readOther(reader: StreamReader, name: OtherName): Subscription {
  const { client, session, wordsFor } = reader;
  const options = { onProblem: reader.problem };
  const tell = teller(reader, name);
  if (name === "blocks") {
    return client.stream.watchBlocks((block) => tell(block, blockText(block)), options);
  }
  if (session === undefined) throw new TypeError(`${name} needs a session`);
  const { stream } = session;
  switch (name) {
    case "preconfirms":
      return stream.watchPreconfirms(
        (ack) => tell(ack, preconfirmText(ack, wordsFor(ack.symbol))),
        options,
      );
    case "orders":
      return stream.watchOrders((frame) => {
        const texts = frame.orders.map((order) => orderText(order, wordsFor(order.symbol)));
        tell(frame, listed(frame.type, texts));
      }, options);
    case "positions":
      return stream.watchPositions((frame) => {
        const texts = frame.positions.map((held) => positionText(held, wordsFor(held.symbol)));
        tell(frame, listed(frame.type, texts));
      }, options);
    case "deposits":
      return stream.watchDeposits(
        (frame) => tell(frame, listed(frame.type, frame.deposits.map(depositText))),
        options,
      );
  }
}

function teller({ tell }: StreamReader, stream: string) {
  return (data: unknown, text: string) => tell({ stream, data, text });
}

function listed(type: string, texts: readonly string[]): string {
  return `${type}: ${texts.length === 0 ? "none" : texts.join("; ")}`;
}

function bookData(book: MirroredBook, depth: number) {
  const { symbol, seq, time: at, live } = book;
  return { symbol, seq, time: at, live, bids: book.bids(depth), asks: book.asks(depth) };
}

function bookText(book: MirroredBook, { price, size }: MarketWords): string {
  const level = (found: PriceLevel | undefined) =>
    found === undefined ? "none" : `${price(found[0])} × ${size(found[1])}`;
  const levels = `${book.depth("bid")}/${book.depth("ask")} levels`;
  return `bid ${level(book.bestBid)}  ask ${level(book.bestAsk)}  ${levels}  seq ${book.seq}`;
}

function tradeText(
  { side, size: traded, price: at, time: when }: Trade,
  words: MarketWords,
): string {
  const verb = side === "long" ? "bought" : "sold";
  return `${time(when)}  ${verb} ${words.size(traded)} at ${words.price(at)}`;
}

function tickerText(ticker: Ticker, { price, size }: MarketWords): string {
  const { bid, ask, last, mark, fundingRate, volume24h } = ticker;
  return (
    `bid ${price(bid)}  ask ${price(ask)}  last ${price(last)}  mark ${price(mark)}  ` +
    `funding ${percent(fundingRate)}/h  volume ${size(volume24h)}`
  );
}

function candleText(candle: Candle | undefined, { price, size }: MarketWords): string {
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

function preconfirmText(ack: PreconfirmFrame, { price, size }: MarketWords): string {
  const { orderId, symbol, side, status, filledSize, avgFillPrice, expectedBlock } = ack;
  const fill = filledSize > 0 ? `  ${size(filledSize)} at ${price(avgFillPrice)}` : "";
  return `order ${orderId}  ${symbol} ${side}  ${status}${fill}  block ${expectedBlock}`;
}

function orderText(order: Order, { price, size }: MarketWords): string {
  const { orderId, symbol, side, type, status, filledSize } = order;
  const at = order.price === null ? "" : ` at ${price(order.price)}`;
  return (
    `order ${orderId} ${symbol} ${side} ${type}${at}: ` +
    `${status}, ${size(filledSize)} of ${size(order.size)} filled`
  );
}

function positionText(
  held: PositionsFrame["positions"][number],
  { price, size }: MarketWords,
): string {
  if (!("avgEntry" in held)) return `${held.symbol} flat`;
  const pnl = signed(held.unrealizedPnl, money);
  const amount = size(Math.abs(held.size));
  return `${held.symbol} ${held.side} ${amount} from ${price(held.avgEntry)}, unrealised ${pnl}`;
}

function depositText({ depositId, status, confirmations, required }: Deposit): string {
  return `deposit ${depositId}: ${status}, ${confirmations} of ${required} confirmations`;
}
