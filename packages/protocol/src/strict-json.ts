/**
 * JSON that means one thing only.
 *
 * In: text from a client. Out: its value, or a refusal. `JSON.parse` keeps the last of two equal
 * keys, lets `__proto__` through and rounds 9007199254740993 to a neighbour; a signed order must
 * not depend on which parser read it. So after the native parser has proven the grammar, one scan
 * over the text refuses repeated keys, keys that reach for a prototype, deep nesting, and numbers
 * that a double would turn into another integer. Values are never changed here.
 */

import { Refusal } from "./error.js";

const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const MAX_DEPTH = 32;

export function parseStrictJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Refusal("malformed_json", {
      problem: error instanceof Error ? error.message.replace(/\.$/, "") : "it cannot be read",
    });
  }
  new StrictScan(text).run();
  return value;
}

/** Walks text that is known to be valid JSON; only the rules above can fail. */
class StrictScan {
  private position = 0;
  private readonly path: (string | number)[] = [];

  constructor(private readonly text: string) {}

  run(): void {
    this.value();
  }

  private value(): void {
    this.whitespace();
    const character = this.text[this.position];
    if (character === "{") this.object();
    else if (character === "[") this.array();
    else if (character === '"') this.string();
    else if (character === "-" || (character !== undefined && character <= "9")) this.number();
    else while (/[a-z]/.test(this.text[this.position] ?? "")) this.position++;
    this.whitespace();
  }

  private object(): void {
    this.deeper();
    const seen = new Set<string>();
    this.position++;
    this.whitespace();
    while (this.text[this.position] !== "}") {
      this.whitespace();
      const key = this.string();
      this.path.push(key);
      if (FORBIDDEN_KEYS.has(key)) throw new Refusal("forbidden_key", { key }, this.here());
      if (seen.has(key)) throw new Refusal("duplicate_key", { key }, this.here());
      seen.add(key);
      this.whitespace();
      this.position++; // the colon
      this.value();
      this.path.pop();
      if (this.text[this.position] === ",") this.position++;
    }
    this.position++;
  }

  private array(): void {
    this.deeper();
    this.position++;
    this.whitespace();
    for (let index = 0; this.text[this.position] !== "]"; index++) {
      this.path.push(index);
      this.value();
      this.path.pop();
      if (this.text[this.position] === ",") this.position++;
    }
    this.position++;
  }

  private string(): string {
    const start = this.position++;
    let escaped = false;
    while (this.text[this.position] !== '"') {
      if (this.text[this.position] === "\\") {
        escaped = true;
        this.position++;
      }
      this.position++;
    }
    this.position++;
    const literal = this.text.slice(start, this.position);
    // An escape may spell a forbidden or repeated key; only the decoded key is compared.
    return escaped ? String(JSON.parse(literal)) : literal.slice(1, -1);
  }

  private number(): void {
    const start = this.position;
    while (/[-+.0-9eE]/.test(this.text[this.position] ?? "")) this.position++;
    const literal = this.text.slice(start, this.position);
    if (isExactlyReadable(literal)) return;
    throw new Refusal("number_not_exact", { literal: abbreviate(literal) }, this.here());
  }

  private whitespace(): void {
    while (/[ \t\r\n]/.test(this.text[this.position] ?? "")) this.position++;
  }

  private deeper(): void {
    if (this.path.length < MAX_DEPTH) return;
    throw new Refusal("malformed_json", { problem: `nested deeper than ${MAX_DEPTH}` });
  }

  private here(): { field: string } {
    return { field: this.path.join(".") };
  }
}

/** False where reading the literal gives an integer, infinity or zero that it does not say. */
function isExactlyReadable(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isInteger(value)) return Number.isFinite(value);
  if (!Number.isSafeInteger(value)) return false;
  return significant(literal) === significant(String(value));
}

/** A decimal literal as digits and exponent without leading or trailing zeros: "1.50e1" is "15e0". */
function significant(literal: string): string {
  const [mantissa = "", exponent = "0"] = literal.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const trimmed = digits.replace(/0+$/, "");
  if (trimmed === "") return "0";
  return `${trimmed}e${Number(exponent) - fraction.length + (digits.length - trimmed.length)}`;
}

function abbreviate(literal: string): string {
  return literal.length > 32 ? `${literal.slice(0, 32)}…` : literal;
}
