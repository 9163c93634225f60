/**
 * One side of a book, best price first, to packed bytes.
 *
 * Takes levels with strictly worsening ticks; `decodeSide` and the decoder in docs/streams.md restore
 * them. No levels give no bytes. The first pass walks the levels in the decoder's order and notes each
 * bit with its odds; the second feeds the notes backwards into the coder (rANS), whose output is
 * last in, first out.
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
  PREDICTED,
  RAW_CHUNK,
  WIDTHS,
} from "./layout.js";
import { Odds } from "./odds.js";
import { chooseForm, fewestZeros, type SizeForm } from "./size-form.js";

/** Maximum number of notes per level: 3 flags, a form, two numbers of 6 + 3 bits and 4 raw chunks. */
const NOTES_PER_LEVEL = 34;
/** A note is start and width of the bit's share of the odds, 12 bits each, or a raw chunk. */
const RAW_NOTE = 1 << 24;
const CHUNK_SHIFT = 16;
const CHUNK_MASK = (1 << CHUNK_SHIFT) - 1;
const CHUNK_BITS = 31;

class SideEncoder {
  private readonly odds = new Odds();
  private readonly form: SizeForm = { mantissa: 0, zeros: 0, money: false };
  private notes = new Int32Array(0);
  private bytes = new Uint8Array(0);
  private count = 0;

  encode(levels: readonly Level[], side: BookSide): Uint8Array {
    if (levels.length === 0) return new Uint8Array(0);
    if (levels.length > MAX_LEVELS)
      throw new BookCodecError(`${levels.length} levels are too many`);
    this.begin(levels.length);
    const direction = side === "bid" ? -1 : 1;
    const zerosNeeded = fewestZeros(levels);
    let previous = 0;
    for (const [tick, lots] of levels) {
      const gap = (tick - previous) * direction;
      if (!isLevel(tick, lots) || (previous !== 0 && gap <= 0)) {
        throw new BookCodecError(
          `level [${tick}, ${lots}] after tick ${previous} on the ${side} side`,
        );
      }
      this.noteBit(CONTEXT_MORE, 1);
      if (previous === 0) this.noteNumber(CONTEXT_FIRST_TICK, tick);
      else this.noteNumber(CONTEXT_GAP, gap - 1);
      this.noteSize(tick, lots, zerosNeeded);
      previous = tick;
    }
    this.noteBit(CONTEXT_MORE, 0);
    return this.pack();
  }

  private begin(levels: number): void {
    this.odds.reset();
    this.count = 0;
    const most = NOTES_PER_LEVEL * levels + 1;
    if (this.notes.length >= most) return;
    this.notes = new Int32Array(2 * most);
    // A note adds at most 16 bits, and the last state is at most four bytes.
    this.bytes = new Uint8Array(4 * most + 4);
  }

  private noteSize(tick: number, lots: number, zerosNeeded: number): void {
    const { form } = this;
    chooseForm(tick, lots, zerosNeeded, form);
    const index = 2 * form.zeros + (form.money ? 1 : 0);
    this.noteBit(CONTEXT_SHAPED, index === 0 ? 0 : 1);
    if (index !== 0) this.noteTree(CONTEXT_FORM, FORMS, index);
    this.noteNumber(CONTEXT_SIZE + index * CONTEXTS_PER_NUMBER, form.mantissa);
  }

  /** Elias' gamma code of value + 1, its width and its leading bits with learned odds. */
  private noteNumber(context: number, value: number): void {
    const whole = value + 1;
    const width = widthOf(whole);
    this.noteTree(context, WIDTHS, width);
    let left = width;
    let head = 1;
    while (left > 0 && head < PREDICTED) {
      left--;
      const bit = bitsAt(whole, left, 1);
      this.noteBit(context + WIDTHS + PREDICTED * width + head, bit);
      head = 2 * head + bit;
    }
    while (left > 0) {
      const bits = Math.min(left, RAW_CHUNK);
      left -= bits;
      this.notes[this.count++] = RAW_NOTE | (bits << CHUNK_SHIFT) | bitsAt(whole, left, bits);
    }
  }

  private noteTree(context: number, size: number, value: number): void {
    let node = 1;
    for (let mask = size >> 1; mask > 0; mask >>= 1) {
      const bit = (value & mask) === 0 ? 0 : 1;
      this.noteBit(context + node, bit);
      node = 2 * node + bit;
    }
  }

  private noteBit(context: number, bit: number): void {
    const zero = this.odds.ofZero(context);
    const start = bit === 0 ? 0 : zero;
    const share = bit === 0 ? zero : ODDS_ONE - zero;
    this.notes[this.count++] = (start << ODDS_BITS) | share;
    this.odds.learn(context, bit);
  }

  private pack(): Uint8Array {
    const { notes, bytes } = this;
    let at = bytes.length;
    let state = EMPTY_STATE;
    for (let i = this.count - 1; i >= 0; i--) {
      const note = notes[i]!;
      const raw = note >= RAW_NOTE;
      const bits = raw ? (note >> CHUNK_SHIFT) & CHUNK_BITS : ODDS_BITS;
      const share = raw ? 1 : note & (ODDS_ONE - 1);
      // Whole bytes leave before the state would reach 2^31.
      for (const ceiling = share << (31 - bits); state >= ceiling; state >>= 8) bytes[--at] = state;
      if (raw) {
        state = (state << bits) | (note & CHUNK_MASK);
      } else {
        // quotient × 4096 + start + remainder, with the remainder's division spared.
        const quotient = (state / share) | 0;
        state += Math.imul(quotient, ODDS_ONE - share) + (note >> ODDS_BITS);
      }
    }
    for (; state > 0; state >>= 8) bytes[--at] = state;
    return bytes.slice(at);
  }
}

/** floor(log2(value)) for a whole number of 1 … 2^53. */
function widthOf(value: number): number {
  const high = Math.floor(value / 2 ** 32);
  return high > 0 ? 63 - Math.clz32(high) : 31 - Math.clz32(value);
}

/** `count` bits of a whole number, those from 2^from upward; shifts reach 31 bits, division all. */
function bitsAt(value: number, from: number, count: number): number {
  if (value < 2 ** 31) return (value >>> from) & ((1 << count) - 1);
  return Math.floor(value / 2 ** from) % 2 ** count;
}

function isLevel(tick: number, lots: number): boolean {
  return Number.isSafeInteger(tick) && tick > 0 && Number.isSafeInteger(lots) && lots >= 0;
}

/** Encoding is synchronous and keeps no state between calls, so all calls share the tables. */
const encoder = new SideEncoder();

export function encodeSide(levels: readonly Level[], side: BookSide): Uint8Array {
  return encoder.encode(levels, side);
}
