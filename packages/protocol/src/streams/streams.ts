/**
 * Frames of the socket and the names of streams: `book.BTCUSD`, `candles.BTCUSD.1m`, `preconfirms`.
 *
 * A name is parsed into its parts and formatted from them only here. An unknown name gives undefined.
 * Whether the symbol exists is not checked.
 */

import { RESOLUTIONS, type Resolution, SYMBOL_PATTERN } from "../markets/symbol.js";

/** Every answer and update of the server. */
export interface ServerFrame {
  /** The stream's first word, or `ok`, `error`, `pong`. */
  readonly t: string;
  /** The rest of the stream's name. */
  readonly s?: string;
  readonly d: unknown;
}

const MARKET_STREAMS = ["book", "trades", "ticker"] as const;
export const PRIVATE_STREAMS = [
  "preconfirms",
  "orders",
  "positions",
  "fills",
  "account",
  "deposits",
] as const;
const GLOBAL_STREAMS = ["blocks", "status"] as const;
const SYMBOL = new RegExp(SYMBOL_PATTERN);

type MarketStream = (typeof MARKET_STREAMS)[number];
/** Public, and not of one market. */
export type GlobalStream = (typeof GLOBAL_STREAMS)[number];
export type PrivateStreamName = (typeof PRIVATE_STREAMS)[number];

export type StreamName =
  | { readonly stream: MarketStream; readonly symbol: string }
  | { readonly stream: "candles"; readonly symbol: string; readonly resolution: Resolution }
  | { readonly stream: PrivateStreamName }
  | { readonly stream: GlobalStream };

/** All streams, for a client that named another. */
export const STREAM_FORMS: string = [
  ...MARKET_STREAMS.map((stream) => `${stream}.<symbol>`),
  `candles.<symbol>.<${RESOLUTIONS.join("|")}>`,
  ...GLOBAL_STREAMS,
  ...PRIVATE_STREAMS,
].join(", ");

export function parseStreamName(name: string): StreamName | undefined {
  const [word = "", symbol, resolution, ...rest] = name.split(".");
  if (rest.length > 0) return undefined;
  if (symbol === undefined) return parseGlobal(word);
  if (!SYMBOL.test(symbol)) return undefined;
  if (resolution === undefined) {
    const stream = MARKET_STREAMS.find((candidate) => candidate === word);
    return stream === undefined ? undefined : { stream, symbol };
  }
  const known = RESOLUTIONS.find((candidate) => candidate === resolution);
  if (word !== "candles" || known === undefined) return undefined;
  return { stream: "candles", symbol, resolution: known };
}

function parseGlobal(word: string): StreamName | undefined {
  const global = GLOBAL_STREAMS.find((candidate) => candidate === word);
  if (global !== undefined) return { stream: global };
  const stream = PRIVATE_STREAMS.find((candidate) => candidate === word);
  return stream === undefined ? undefined : { stream };
}

/** The part of the name after its first word: the `s` of a frame. */
export function streamSubject(name: StreamName): string | undefined {
  if (!("symbol" in name)) return undefined;
  return "resolution" in name ? `${name.symbol}.${name.resolution}` : name.symbol;
}

export function formatStreamName(name: StreamName): string {
  const subject = streamSubject(name);
  return subject === undefined ? name.stream : `${name.stream}.${subject}`;
}

/** Private streams show the caller's own account and need a token. */
export function isPrivateStream(name: StreamName): boolean {
  return PRIVATE_STREAMS.some((candidate) => candidate === name.stream);
}
