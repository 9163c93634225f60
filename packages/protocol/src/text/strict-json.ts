/**
 * JSON with one meaning for every parser.
 *
 * `JSON.parse` keeps the last of two equal keys, accepts `__proto__` and rounds 9007199254740993 to a
 * neighbour; a signed order must not depend on the parser. So there are three passes, each linear in
 * the text: the bounds of `json-bounds.ts`; the native parser, which checks the grammar; and a scan that
 * rejects repeated keys, keys that reach a prototype, and numbers that a double would turn into another
 * integer. Values are not changed.
 */

import { ApiError } from "../errors/error.js";
import {
  checkJsonBounds,
  endOfString,
  FORBIDDEN_KEYS,
  type JsonBounds,
  REQUEST_BOUNDS,
} from "./json-bounds.js";
import { shownText } from "./shown-text.js";

/** Maximum characters of a field's path in an error. */
const SHOWN_PATH = 200;
/** Every decimal of this many digits reads back from a double as the same decimal. */
const DISTINCT_DIGITS = 15;

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const LETTER_E = 0x45;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LETTER_SMALL_E = 0x65;
const LETTER_F = 0x66;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export function parseStrictJson(text: string, bounds: JsonBounds = REQUEST_BOUNDS): unknown {
  checkJsonBounds(text, bounds);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ApiError("malformed_json", {
      problem: error instanceof Error ? error.message.replace(/\.$/, "") : "it cannot be read",
    });
  }
  new StrictScan(text, bounds.literalCharacters).run();
  return value;
}

/**
 * Scans text that is valid JSON; only the rules above can fail. It runs for every order, so it reads
 * character codes and slices only what it compares.
 */
class StrictScan {
  private position = 0;
  private readonly path: (string | number)[] = [];

  constructor(
    private readonly text: string,
    private readonly literalCharacters: number,
  ) {}

  run(): void {
    this.value();
  }

  private value(): void {
    this.whitespace();
    const code = this.text.charCodeAt(this.position);
    if (code === QUOTE) this.string();
    else if (code === OPEN_BRACE) this.object();
    else if (code === OPEN_BRACKET) this.array();
    else if (code === MINUS || code <= DIGIT_9) this.number();
    else this.position += code === LETTER_F ? "false".length : "true".length;
    this.whitespace();
  }

  private object(): void {
    const seen = new Set<string>();
    this.position++;
    this.whitespace();
    while (this.text.charCodeAt(this.position) !== CLOSE_BRACE) {
      this.whitespace();
      const key = this.string();
      this.path.push(key);
      if (FORBIDDEN_KEYS.has(key)) throw new ApiError("forbidden_key", { key }, this.here());
      if (seen.has(key)) throw new ApiError("duplicate_key", { key: shownText(key) }, this.here());
      seen.add(key);
      this.whitespace();
      this.position++; // the colon
      this.value();
      this.path.pop();
      if (this.text.charCodeAt(this.position) === COMMA) this.position++;
    }
    this.position++;
  }

  private array(): void {
    this.position++;
    this.whitespace();
    for (let index = 0; this.text.charCodeAt(this.position) !== CLOSE_BRACKET; index++) {
      this.path.push(index);
      this.value();
      this.path.pop();
      if (this.text.charCodeAt(this.position) === COMMA) this.position++;
    }
    this.position++;
  }

  private string(): string {
    const start = this.position;
    const end = endOfString(this.text, start);
    this.position = end + 1;
    const inner = this.text.slice(start + 1, end);
    // An escape may spell a forbidden or repeated key; only the decoded key is compared.
    return inner.includes("\\") ? String(JSON.parse(`"${inner}"`)) : inner;
  }

  private number(): void {
    const start = this.position;
    let isPlain = true;
    let digits = 0;
    for (; ; this.position++) {
      const code = this.text.charCodeAt(this.position);
      if (code >= DIGIT_0 && code <= DIGIT_9) digits++;
      else if (code === LETTER_E || code === LETTER_SMALL_E) isPlain = false;
      else if (code !== POINT && code !== MINUS && code !== PLUS) break;
    }
    // Literals with this few digits are distinct doubles, so none can be read as another integer.
    if (isPlain && digits <= DISTINCT_DIGITS) return;
    const literal = this.text.slice(start, this.position);
    if (literal.length <= this.literalCharacters && isExactlyReadable(literal)) return;
    throw new ApiError("number_not_exact", { literal: shownText(literal, 32) }, this.here());
  }

  private whitespace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.position);
      if (code !== SPACE && code !== NEWLINE && code !== RETURN && code !== TAB) return;
      this.position++;
    }
  }

  private here(): { field: string } {
    const keys = this.path.map((key) => (typeof key === "string" ? shownText(key) : key));
    return { field: shownText(keys.join("."), SHOWN_PATH) };
  }
}

/** False if reading the literal gives an integer, infinity or zero that it does not spell. */
function isExactlyReadable(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isInteger(value)) return Number.isFinite(value);
  // An integer literal below 2^53 is read exactly; a fraction was rounded to the integer.
  return Number.isSafeInteger(value) && saysInteger(literal);
}

/** Whether the decimal has only zeros after its point, with the exponent applied. */
function saysInteger(literal: string): boolean {
  /** Digits from the point to the last digit that is not zero; negative before the point. */
  let places = Number.NEGATIVE_INFINITY;
  let fraction = 0;
  let isFraction = false;
  let position = 0;
  for (; position < literal.length; position++) {
    const code = literal.charCodeAt(position);
    if (code === POINT) isFraction = true;
    else if (code === LETTER_E || code === LETTER_SMALL_E) break;
    else if (code !== MINUS) {
      if (isFraction) fraction++;
      else places--;
      if (code !== DIGIT_0) places = isFraction ? fraction : 0;
    }
  }
  const exponent = Number(literal.slice(position + 1) || "0");
  return places <= exponent;
}
