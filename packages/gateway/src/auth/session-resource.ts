/**
 * The resource of a sign-in message that binds a session key and limits it:
 *
 *   urn:perpgate:session?key=<hex>&maxOrderNotional=<dollars>&maxNotional=<dollars>&symbols=A,B
 *
 * A person signs this text, so it must be unambiguous: every part at most once, no unknown part, no
 * percent-encoding, no empty value. Caps are decimal dollars above 0 with at most six decimals.
 */

import {
  ApiError,
  isSessionResource,
  MICROS_PER_DOLLAR,
  parseSessionKey,
  SYMBOL_PATTERN,
} from "@perpgate/protocol/core";
import type { SiweMessage } from "./siwe-message.js";

export interface SessionResource {
  /** Its line in the message, from 1. */
  readonly line: number;
  /** As written; compare keys by their fingerprints. */
  readonly key: string;
  /** 0: no cap. */
  readonly maxOrderNotionalMicros: number;
  /** 0: no cap. */
  readonly maxNotionalMicros: number;
  /** Empty: every market. */
  readonly symbols: readonly string[];
}

const NAME = "urn:perpgate:session";
const SYMBOL = new RegExp(SYMBOL_PATTERN);
/** Whole dollars of at most nine digits, so that micros stay a safe integer. */
const DOLLARS = /^(0|[1-9][0-9]{0,8})(?:\.([0-9]{1,6}))?$/;
const PARTS = ["key", "maxOrderNotional", "maxNotional", "symbols"] as const;
type Part = (typeof PARTS)[number];

/** The session resource of the message; undefined if there is none. Several are refused. */
export function sessionResourceOf(message: SiweMessage): SessionResource | undefined {
  const [resource, second] = message.resources.filter((uri) => isSessionResource(uri));
  if (resource === undefined) return undefined;
  if (second !== undefined) throw refuseResource(lineOf(message, second), "one, not several");
  return parseSessionResource(resource, lineOf(message, resource));
}

export function refuseResource(line: number, expected: string): ApiError {
  const inWords = `in the session resource, ${expected}`;
  return new ApiError(
    "invalid_siwe_message",
    { line, expected: inWords },
    { field: "message", details: { line, expected: inWords } },
  );
}

function lineOf({ text }: SiweMessage, resource: string): number {
  return text.split("\n").lastIndexOf(`- ${resource}`) + 1;
}

function parseSessionResource(resource: string, line: number): SessionResource {
  if (!resource.startsWith(`${NAME}?`)) throw refuseResource(line, `${NAME}?key=…, small letters`);
  const parts = partsOf(resource.slice(NAME.length + 1), line);
  const key = parts.get("key");
  if (key === undefined || parseSessionKey(key) === undefined) {
    throw refuseResource(line, "key=<hex> of 32, 33, 64 or 65 bytes");
  }
  return {
    line,
    key,
    maxOrderNotionalMicros: capOf(parts, "maxOrderNotional", line),
    maxNotionalMicros: capOf(parts, "maxNotional", line),
    symbols: symbolsOf(parts.get("symbols"), line),
  };
}

function partsOf(query: string, line: number): ReadonlyMap<Part, string> {
  const parts = new Map<Part, string>();
  for (const pair of query.split("&")) {
    const [name = "", value = "", rest] = pair.split("=");
    const part = PARTS.find((known) => known === name);
    if (part === undefined) throw refuseResource(line, `only ${PARTS.join(", ")}; not "${name}"`);
    if (value === "" || rest !== undefined) throw refuseResource(line, `${part}=<value>`);
    if (parts.has(part)) throw refuseResource(line, `${part} once`);
    parts.set(part, value);
  }
  return parts;
}

function capOf(parts: ReadonlyMap<Part, string>, part: Part, line: number): number {
  const text = parts.get(part);
  if (text === undefined) return 0;
  const [, dollars, fraction = ""] = DOLLARS.exec(text) ?? [];
  const micros =
    dollars === undefined
      ? 0
      : Number(dollars) * MICROS_PER_DOLLAR + Number(fraction.padEnd(6, "0"));
  if (micros === 0) {
    throw refuseResource(line, `${part}=<dollars>, above 0, below 10^9, six decimals at most`);
  }
  return micros;
}

function symbolsOf(text: string | undefined, line: number): readonly string[] {
  if (text === undefined) return [];
  const symbols = text.split(",");
  if (!symbols.every((symbol) => SYMBOL.test(symbol)) || new Set(symbols).size < symbols.length) {
    throw refuseResource(line, "symbols=<symbol>,<symbol>, each once");
  }
  return symbols;
}
