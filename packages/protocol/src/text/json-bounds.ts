/**
 * Bounds on JSON text, checked before any parser reads it.
 *
 * One loop over the characters of untrusted text, without recursion or allocation, which stops at the
 * first thing that no request has: deep nesting, a long literal, a long key, a key that the operation does
 * not know. What follows is not looked at. Text that passes has so few keys and values that later steps
 * cannot be made expensive by their number, by nesting, or by keys that collide in a hash table. The
 * grammar is not checked.
 */

import { ApiError } from "../errors/error.js";
import { shownText } from "./shown-text.js";

export interface JsonBounds {
  /** Depth of nested objects and arrays. */
  readonly depth: number;
  /** Total number of keys and values. */
  readonly parts: number;
  /** Characters of one number, `true`, `false` or `null`. */
  readonly literalCharacters: number;
  /** Characters of one key as it is spelled. */
  readonly keyCharacters: number;
  /** The keys of the outermost object, if it may have no others. */
  readonly keys?: ReadonlySet<string>;
}

/** For text of clients. The longest message names 256 streams, the longest request has 64 votes. */
export const REQUEST_BOUNDS: JsonBounds = {
  depth: 4,
  parts: 512,
  literalCharacters: 64,
  keyCharacters: 128,
};

/** For text from this machine, such as a configuration file or a body from the log. */
export const LOCAL_BOUNDS: JsonBounds = {
  depth: 32,
  parts: Number.POSITIVE_INFINITY,
  literalCharacters: Number.POSITIVE_INFINITY,
  keyCharacters: Number.POSITIVE_INFINITY,
};

/** Keys that reach a prototype: `parseStrictJson` refuses them by a code of their own. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set([
  "__proto__",
  "constructor",
  "prototype",
]);

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Characters of a literal that an error shows. */
const SHOWN_LITERAL = 32;

export function checkJsonBounds(text: string, bounds: JsonBounds): void {
  const { length } = text;
  let depth = 0;
  // One of `[ { , :` precedes every key and every value except the outermost.
  let parts = 1;
  /** Where the current literal begins; -1 outside of one. */
  let literal = -1;
  /** The last string. */
  let open = 0;
  let close = 0;
  /** Whether that string is the key of the current value. */
  let isKeyed = false;
  for (let position = 0; position < length; position++) {
    const code = text.charCodeAt(position);
    switch (code) {
      case SPACE:
      case NEWLINE:
      case RETURN:
      case TAB:
        literal = -1;
        continue;
      case QUOTE:
        open = position;
        position = endOfString(text, position);
        close = position;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        parts++;
        depth++;
        isKeyed = false;
        if (depth > bounds.depth) throw refuse(`nested deeper than ${bounds.depth}`);
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--;
        break;
      case COMMA:
      case COLON:
        parts++;
        isKeyed = code === COLON;
        if (parts > bounds.parts) throw refuse(`more than ${bounds.parts} keys and values`);
        if (isKeyed) checkKey(text, open + 1, close, depth, bounds);
        break;
      default:
        if (literal === -1) literal = position;
        if (position - literal >= bounds.literalCharacters) {
          const shown = shownText(text.slice(literal, position), SHOWN_LITERAL);
          const field = isKeyed ? { field: shownText(text.slice(open + 1, close)) } : {};
          throw new ApiError("number_not_exact", { literal: shown }, field);
        }
        continue;
    }
    literal = -1;
  }
}

/** Of the key's characters only the known ones of an order are compared; the schema compares all. */
function checkKey(
  text: string,
  from: number,
  to: number,
  depth: number,
  { keyCharacters, keys }: JsonBounds,
): void {
  const isLong = to - from > keyCharacters;
  if (!isLong && (keys === undefined || depth !== 1)) return;
  const key = text.slice(from, Math.min(to, from + keyCharacters));
  // An escape may spell a known key.
  if (!isLong && (keys?.has(key) === true || key.includes("\\") || FORBIDDEN_KEYS.has(key))) return;
  const field = shownText(key);
  throw new ApiError("invalid_request", { problem: `${field} is not a known key` }, { field });
}

/** Index of the closing quote, or the length of the text if there is none. */
export function endOfString(text: string, open: number): number {
  let from = open + 1;
  for (;;) {
    const close = text.indexOf('"', from);
    if (close === -1) return text.length;
    let escapes = close;
    while (escapes > from && text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    // An even number of backslashes are escapes of each other.
    if ((close - escapes) % 2 === 0) return close;
    from = close + 1;
  }
}

function refuse(problem: string): ApiError {
  return new ApiError("malformed_json", { problem });
}
