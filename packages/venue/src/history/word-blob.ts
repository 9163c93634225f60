/**
 * Rows of any length as bytes: each word a variable-length integer, seven bits a byte, the lowest first. The
 * lowest two bits of the integer tell what it is: 0 a number from 0 on, 1 a negative one, 2 four times the
 * id of an exit (order-id.ts), 3 that eight bytes with a double follow.
 */
import { HistoryDamaged } from "../venue-errors.js";

const TAG = { POSITIVE: 0, NEGATIVE: 1, QUARTERS: 2, DOUBLE: 3 } as const;
const TAGS = 4;
const MAX_TAGGED = Math.floor(Number.MAX_SAFE_INTEGER / TAGS);
const MOST_BYTES_PER_WORD = 9;

export function packWords(words: ArrayLike<number>): Buffer {
  const bytes = Buffer.allocUnsafe(words.length * MOST_BYTES_PER_WORD);
  let at = 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const amount = Math.abs(word);
    if (Number.isInteger(word) && amount <= MAX_TAGGED) {
      at = writeVarint(bytes, at, amount * TAGS + (word < 0 ? TAG.NEGATIVE : TAG.POSITIVE));
    } else if (word > 0 && amount * TAGS <= MAX_TAGGED && Number.isInteger(amount * TAGS)) {
      at = writeVarint(bytes, at, amount * TAGS * TAGS + TAG.QUARTERS);
    } else {
      bytes[at] = TAG.DOUBLE;
      at = bytes.writeDoubleLE(word, at + 1);
    }
  }
  return bytes.subarray(0, at);
}

/** @throws {HistoryDamaged} for bytes that `packWords` does not make. */
export function unpackWords(bytes: Uint8Array): number[] {
  const words: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined) throw new HistoryDamaged("a packed row is cut short");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 0x80;
    }
    const tag = value % TAGS;
    const amount = (value - tag) / TAGS;
    if (tag === TAG.DOUBLE) {
      if (at + 8 > bytes.length) throw new HistoryDamaged("a packed row is cut short");
      words.push(Buffer.from(bytes.buffer, bytes.byteOffset + at, 8).readDoubleLE(0));
      at += 8;
    } else if (tag === TAG.QUARTERS) words.push(amount / TAGS);
    else words.push(tag === TAG.NEGATIVE ? -amount : amount);
  }
  return words;
}

function writeVarint(bytes: Buffer, from: number, value: number): number {
  let at = from;
  let left = value;
  while (left >= 0x80) {
    const low = left % 0x80;
    bytes[at++] = low + 0x80;
    left = (left - low) / 0x80;
  }
  bytes[at++] = left;
  return at;
}
