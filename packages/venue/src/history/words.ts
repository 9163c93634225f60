/** Rows of the history as bytes: little-endian doubles that hold safe integers. */
import { HistoryDamaged } from "../venue-errors.js";

export function bytesOfWords(words: readonly number[] | Float64Array): Buffer {
  const bytes = Buffer.allocUnsafe(words.length * 8);
  for (let i = 0; i < words.length; i++) bytes.writeDoubleLE(words[i]!, i * 8);
  return bytes;
}

export function wordsOfBytes(bytes: Uint8Array): Float64Array {
  const words = new Float64Array(bytes.length / 8);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < words.length; i++) words[i] = view.getFloat64(i * 8, true);
  return words;
}

/**
 * A stored row of so many words, or of any number. lmdb keeps no checksums, so this is where a
 * damaged row shows: by its length, or by a word that is no safe integer.
 *
 * @throws {HistoryDamaged}
 */
export function storedRow(bytes: Uint8Array, what: string, words?: number): Float64Array {
  if (bytes.length % 8 !== 0 || (words !== undefined && bytes.length !== 8 * words)) {
    throw new HistoryDamaged(`a row of ${what} has ${bytes.length} bytes`);
  }
  const row = wordsOfBytes(bytes);
  if (row.every(Number.isSafeInteger)) return row;
  throw new HistoryDamaged(`a row of ${what} holds a word that is no integer`);
}
