/** The reports of a run, and the text whose SHA-256 the harness publishes. */
import { createHash } from "node:crypto";

export const ORDER_ACK = 0;
export const TRADE = 1;
export const CANCEL_ACK = 2;
export const MODIFY_ACK = 3;
export const CANCEL_REJECT = 4;
export const MODIFY_REJECT = 5;

/**
 * Fields of each type in the order of its line, after type and sequence number:
 * side, order, price, lots | price, lots, maker, taker | side, order, price | side, order, price, lots |
 * order | order.
 */
const FIELDS = [4, 4, 3, 4, 1, 1];
const WORDS = 6;
const LINES_AT_A_TIME = 1 << 14;

export class Reports {
  length = 0;
  private words: Int32Array;

  constructor(capacity: number) {
    this.words = new Int32Array(capacity * WORDS);
  }

  /** Within a message, ascending by type; trades in the order of matching. */
  push(type: number, sequence: number, a: number, b = 0, c = 0, d = 0): void {
    const at = this.length++ * WORDS;
    if (at === this.words.length) this.grow();
    const { words } = this;
    words[at] = type;
    words[at + 1] = sequence;
    words[at + 2] = a;
    words[at + 3] = b;
    words[at + 4] = c;
    words[at + 5] = d;
  }

  count(type: number): number {
    let count = 0;
    for (let i = 0; i < this.length; i++) if (this.words[i * WORDS] === type) count++;
    return count;
  }

  /** One line per report, without a line feed after the last. */
  *text(): Generator<string> {
    for (let from = 0; from < this.length; from += LINES_AT_A_TIME) {
      const lines: string[] = [];
      const to = Math.min(this.length, from + LINES_AT_A_TIME);
      for (let i = from; i < to; i++) {
        const at = i * WORDS;
        lines.push(this.words.subarray(at, at + 2 + FIELDS[this.words[at]!]!).join(","));
      }
      yield (from > 0 ? "\n" : "") + lines.join("\n");
    }
  }

  hash(): string {
    const hash = createHash("sha256");
    for (const part of this.text()) hash.update(part);
    return hash.digest("hex");
  }

  private grow(): void {
    const words = new Int32Array(this.words.length * 2);
    words.set(this.words);
    this.words = words;
  }
}
