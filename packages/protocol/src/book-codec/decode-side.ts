/**
 * Packed bytes to one side of a book, best price first.
 *
 * Terminates for any bytes and reads none beyond them: a level reduces the state by at least 1/132, and
 * only bytes refill it. The result has ticks in order and exact sizes, and uses all bytes; anything
 * else throws `BookCodecError`. The bytes have no checksum, so a changed bit may decode as another
 * size; the frame's `sum` over the whole book detects that.
 */

import {
  BookCodecError,
  type BookSide,
  CONTEXT_FIRST_TICK,
  CONTEXT_FORM,
  CONTEXT_GAP,
  CONTEXT_MORE,
  CONTEXT_SHAPED,
  CONTEXT_SIZE,
  CONTEXTS_PER_NUMBER,
  EMPTY_STATE,
  FORMS,
  type Level,
  MAX_LEVELS,
  ODDS_BITS,
  ODDS_ONE,
  POWERS_OF_TEN,
  PREDICTED,
  RAW_CHUNK,
  STATE_FLOOR,
  WIDTHS,
} from "./layout.js";
import { Odds } from "./odds.js";

const NOTHING = new Uint8Array(0);

class SideDecoder {
  private readonly odds = new Odds();
  private bytes: Uint8Array = NOTHING;
  private at = 0;
  private state = 0;

  decode(bytes: Uint8Array, side: BookSide): Level[] {
    const levels: Level[] = [];
    if (bytes.length === 0) return levels;
    this.odds.reset();
    this.bytes = bytes;
    this.at = 0;
    this.state = 0;
    const direction = side === "bid" ? -1 : 1;
    let tick = 0;
    while (this.bit(CONTEXT_MORE) === 1) {
      if (levels.length === MAX_LEVELS) throw new BookCodecError(`more than ${MAX_LEVELS} levels`);
      if (tick === 0) tick = this.number(CONTEXT_FIRST_TICK);
      else tick += direction * (1 + this.number(CONTEXT_GAP));
      if (!(tick > 0 && tick <= Number.MAX_SAFE_INTEGER)) throw new BookCodecError(`tick ${tick}`);
      levels.push([tick, this.size(tick)]);
    }
    const whole = levels.length > 0 && this.state === EMPTY_STATE && this.at === bytes.length;
    this.bytes = NOTHING;
    if (!whole) throw new BookCodecError("the bytes are not one whole side");
    return levels;
  }

  private size(tick: number): number {
    const form = this.bit(CONTEXT_SHAPED) === 0 ? 0 : this.tree(CONTEXT_FORM, FORMS);
    const mantissa = this.number(CONTEXT_SIZE + form * CONTEXTS_PER_NUMBER);
    const amount = mantissa * POWERS_OF_TEN[form >> 1]!;
    if (!(amount <= Number.MAX_SAFE_INTEGER)) throw new BookCodecError(`size ${amount}`);
    return (form & 1) === 0 ? amount : Math.floor(amount / tick);
  }

  private number(context: number): number {
    const width = this.tree(context, WIDTHS);
    // 2^53 is the widest: one more than the largest safe integer, exact all the same.
    if (width > 53) throw new BookCodecError(`a number of ${width} bits`);
    let value = 1;
    let left = width;
    for (; left > 0 && value < PREDICTED; left--) {
      value = 2 * value + this.bit(context + WIDTHS + PREDICTED * width + value);
    }
    while (left > 0) {
      const bits = Math.min(left, RAW_CHUNK);
      this.fill();
      value = value * (1 << bits) + (this.state & ((1 << bits) - 1));
      this.state >>>= bits;
      left -= bits;
    }
    return value - 1;
  }

  private tree(context: number, size: number): number {
    let node = 1;
    while (node < size) node = 2 * node + this.bit(context + node);
    return node - size;
  }

  private bit(context: number): number {
    this.fill();
    const zero = this.odds.ofZero(context);
    const low = this.state & (ODDS_ONE - 1);
    const bit = low < zero ? 0 : 1;
    const share = bit === 0 ? zero : ODDS_ONE - zero;
    this.state = share * (this.state >>> ODDS_BITS) + (bit === 0 ? low : low - zero);
    this.odds.learn(context, bit);
    return bit;
  }

  private fill(): void {
    while (this.state < STATE_FLOOR && this.at < this.bytes.length) {
      this.state = this.state * 256 + this.bytes[this.at++]!;
    }
  }
}

/** Decoding is synchronous and keeps no state between calls, so all calls share the tables. */
const decoder = new SideDecoder();

export function decodeSide(bytes: Uint8Array, side: BookSide): Level[] {
  return decoder.decode(bytes, side);
}
