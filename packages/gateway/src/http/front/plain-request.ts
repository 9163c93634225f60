/**
 * Recognises, in the bytes of a socket, the two requests that programs send by the thousand.
 *
 * This is no HTTP parser. It says `plain` only of bytes that every parser reads alike: the request
 * line byte for byte, lines that end in CRLF, headers of a closed list, each at most once, values of
 * visible ASCII, and a length in plain digits. Of anything else it says `other`, and Node's parser
 * reads those bytes as if nobody had looked at them before. So there is no second opinion about
 * where a message ends, which is what request smuggling lives on.
 */

import { maxHeaderSize } from "node:http";
import { type BookPath, bookPathOf } from "../lane/book-lane.js";
import { HEADER, headerBitOf, isSameWord, LONGEST_NAME } from "./plain-headers.js";

/** `partial`: a plain request, of whose body a part is still to come. */
export type Recognised = "plain" | "partial" | "other";

const ORDER_LINE = Buffer.from("POST /v1/orders HTTP/1.1\r\n");
const BOOK_START = Buffer.from("GET /v1/markets/");
const LINE_END = Buffer.from(" HTTP/1.1\r\n");
const JSON_TYPE = Buffer.from("application/json");
const KEEP_ALIVE = Buffer.from("keep-alive");
/** Beyond a symbol of 32 and a depth of 15 characters no path is plain. */
const LONGEST_BOOK_PATH = 80;
/** Never more than Node would take. */
const LONGEST_HEAD = Math.min(8_192, maxHeaderSize);

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const COLON = 0x3a;
const LAST_VISIBLE = 0x7e;

const ORDER_HEADERS = HEADER.host | HEADER.contentLength | HEADER.contentType;
const BODY_HEADERS = HEADER.contentLength | HEADER.contentType;

/** What was recognised last; the fields hold until the next call, so that a request costs no object. */
export class PlainRequest {
  /** Undefined for an order. */
  book: BookPath | undefined;
  authorization: string | undefined;
  signature: string | undefined;
  offeredId: string | undefined;
  /** Where the body begins and where it ends: the first byte of the next request. */
  bodyStart = 0;
  end = 0;
  private contentLength = 0;

  constructor(private readonly bodyBytes: number) {}

  /** Reads the request that begins with the first of these bytes. */
  recognise(bytes: Buffer): Recognised {
    const headersAt = this.readRequestLine(bytes);
    if (headersAt === 0) return "other";
    this.authorization = undefined;
    this.signature = undefined;
    this.offeredId = undefined;
    this.contentLength = 0;
    const seen = this.readHeaders(bytes, headersAt);
    if (!this.isWholeSet(seen)) return "other";
    this.end = this.bodyStart + this.contentLength;
    return this.end <= bytes.length ? "plain" : "partial";
  }

  /** Where the headers begin; 0 where the line is not a plain one. */
  private readRequestLine(bytes: Buffer): number {
    this.book = undefined;
    if (startsWith(bytes, 0, ORDER_LINE)) return ORDER_LINE.length;
    if (!startsWith(bytes, 0, BOOK_START)) return 0;
    const last = Math.min(bytes.length, LONGEST_BOOK_PATH);
    let at = BOOK_START.length;
    while (at < last && bytes[at] !== SPACE) at++;
    if (!startsWith(bytes, at, LINE_END)) return 0;
    this.book = bookPathOf(bytes.toString("latin1", 4, at));
    return this.book === undefined ? 0 : at + LINE_END.length;
  }

  /** The bits of the headers that are there; 0 where one of them is not plain or the end is missing. */
  private readHeaders(bytes: Buffer, from: number): number {
    const last = Math.min(bytes.length, LONGEST_HEAD) - 1;
    let seen = 0;
    let at = from;
    while (at < last) {
      if (bytes[at] === CR) {
        this.bodyStart = at + 2;
        return bytes[at + 1] === LF ? seen : 0;
      }
      const colon = endOfName(bytes, at, last);
      const bit = colon === 0 ? 0 : headerBitOf(bytes, at, colon);
      if (bit === 0 || (seen & bit) !== 0) return 0;
      seen |= bit;
      // One space or none; a second one is not visible, and so not the beginning of a value.
      const valueAt = bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
      const valueEnd = endOfValue(bytes, valueAt, last);
      if (valueEnd === 0 || !this.take(bit, bytes, valueAt, valueEnd)) return 0;
      at = valueEnd + 2;
    }
    return 0;
  }

  /** Whether the value is one that a plain request may have; those that are needed are kept. */
  private take(bit: number, bytes: Buffer, from: number, to: number): boolean {
    switch (bit) {
      case HEADER.contentLength:
        this.contentLength = lengthOf(bytes, from, to);
        return this.contentLength > 0 && this.contentLength <= this.bodyBytes;
      case HEADER.contentType:
        return to - from === JSON_TYPE.length && startsWith(bytes, from, JSON_TYPE);
      case HEADER.connection:
        return to - from === KEEP_ALIVE.length && isSameWord(bytes, from, KEEP_ALIVE);
      case HEADER.authorization:
        this.authorization = bytes.toString("latin1", from, to);
        return true;
      case HEADER.signature:
        this.signature = bytes.toString("latin1", from, to);
        return true;
      case HEADER.requestId:
        this.offeredId = bytes.toString("latin1", from, to);
        return true;
      default:
        return true;
    }
  }

  private isWholeSet(seen: number): boolean {
    if (this.book === undefined) return (seen & ORDER_HEADERS) === ORDER_HEADERS;
    return (seen & HEADER.host) !== 0 && (seen & BODY_HEADERS) === 0;
  }
}

function startsWith(bytes: Uint8Array, from: number, start: Uint8Array): boolean {
  if (bytes.length - from < start.length) return false;
  for (let i = 0; i < start.length; i++) {
    if (bytes[from + i] !== start[i]) return false;
  }
  return true;
}

/** The place of the colon after a name; 0 where none is near. */
function endOfName(bytes: Uint8Array, from: number, last: number): number {
  const limit = Math.min(last, from + LONGEST_NAME + 1);
  for (let at = from; at < limit; at++) {
    if (bytes[at] === COLON) return at;
  }
  return 0;
}

/** The place of the CRLF after a value of visible characters, spaces within; 0 for any other. */
function endOfValue(bytes: Uint8Array, from: number, last: number): number {
  let at = from;
  while (at < last) {
    const byte = bytes[at]!;
    if (byte < SPACE || byte > LAST_VISIBLE) break;
    at++;
  }
  if (at === from || bytes[at] !== CR || bytes[at + 1] !== LF) return 0;
  return bytes[from] === SPACE || bytes[at - 1] === SPACE ? 0 : at;
}

/** A length as everybody writes it: digits, no sign, no leading zero; 0 for any other. */
function lengthOf(bytes: Uint8Array, from: number, to: number): number {
  if (to - from > 9 || bytes[from] === 0x30) return 0;
  let length = 0;
  for (let at = from; at < to; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) return 0;
    length = length * 10 + digit;
  }
  return length;
}
