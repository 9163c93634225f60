/**
 * Bounds on JSON text, checked before any parser reads it.
 *
 * One loop over the characters of untrusted text, without recursion or allocation. Text that passes has
 * so few keys and values that later steps cannot be made expensive by their number, by nesting, or by
 * keys that collide in a hash table. The grammar is not checked.
 */

import { ApiError } from "./error.js";

export interface JsonBounds {
  /** Depth of nested objects and arrays. */
  readonly depth: number;
  /** Total number of keys and values. */
  readonly parts: number;
  /** Characters of one number. */
  readonly numberCharacters: number;
}

/** For text of clients. The largest request, 64 votes, has about 200 parts. */
export const REQUEST_BOUNDS: JsonBounds = { depth: 32, parts: 4_096, numberCharacters: 64 };

/** For text from this machine, such as a configuration file or a body from the log. */
export const LOCAL_BOUNDS: JsonBounds = {
  depth: 32,
  parts: Number.POSITIVE_INFINITY,
  numberCharacters: Number.POSITIVE_INFINITY,
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export function checkJsonBounds(text: string, bounds: JsonBounds): void {
  const { length } = text;
  let depth = 0;
  // One of `[ { , :` precedes every key and every value except the outermost.
  let parts = 1;
  for (let position = 0; position < length; position++) {
    switch (text.charCodeAt(position)) {
      case QUOTE:
        position = endOfString(text, position);
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        parts++;
        depth++;
        if (depth > bounds.depth) throw refuse(`nested deeper than ${bounds.depth}`);
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--;
        break;
      case COMMA:
      case COLON:
        parts++;
        if (parts > bounds.parts) throw refuse(`more than ${bounds.parts} keys and values`);
        break;
    }
  }
}

/** Index of the closing quote, or the length of the text if there is none. */
function endOfString(text: string, open: number): number {
  const { length } = text;
  for (let position = open + 1; position < length; position++) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) return position;
    if (code === BACKSLASH) position++;
  }
  return length;
}

function refuse(problem: string): ApiError {
  return new ApiError("malformed_json", { problem });
}
