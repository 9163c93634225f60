/** `GET /v1/markets/{symbol}/book`, alone or with a depth in digits. */

import type { IncomingMessage } from "node:http";
import { getBook } from "../../operations/get-book.js";
import { JsonText } from "../operation.js";
import { Exchange, type LaneOptions, laneOperation } from "./exchange.js";
import type { Wire } from "./wire.js";

const GET_BOOK = laneOperation(getBook, (answer) => {
  if (answer instanceof JsonText) return answer.text;
  throw new TypeError("a book is written out by its operation");
});
const PATH = /^\/v1\/markets\/([A-Z0-9]{1,32})\/book(?:\?depth=([0-9]{1,15}))?$/;
const NO_BYTES = new Uint8Array(0);

export interface BookPath {
  readonly symbol: string;
  readonly depth: string | undefined;
}

/** What a path with its query asks for; undefined where it is not a plain read of a book. */
export function bookPathOf(url: string): BookPath | undefined {
  const [, symbol, depth] = PATH.exec(url) ?? [];
  return symbol === undefined ? undefined : { symbol, depth };
}

/** What a plain read of a book asks for; undefined for every other request. */
export function plainBookOf({ method, url, headers }: IncomingMessage): BookPath | undefined {
  if (method !== "GET" || headers["content-length"] !== undefined) return undefined;
  return bookPathOf(url ?? "");
}

export function answerBook(wire: Wire, options: LaneOptions, { symbol, depth }: BookPath): void {
  const exchange = new Exchange(wire, options, GET_BOOK);
  try {
    options.context.addressLimits.takeRead(exchange.address, exchange.header);
  } catch (error) {
    exchange.refuse(error);
    return;
  }
  const query = depth === undefined ? {} : { depth };
  exchange.answer({ params: { symbol }, query, body: undefined, bodyBytes: NO_BYTES });
}
