/**
 * Where the projections put rows. In the venue the sink is the write queue (write-queue.ts); in the verifier
 * it compares the rows with those on disk.
 *
 * A row is little-endian doubles holding safe integers or ids of orders; row-codecs.ts stores it in columns.
 */
import { isOrderId } from "@perpgate/protocol/core";
import { HistoryDamaged } from "../venue-errors.js";

/** The words of a row: read from the store, or not yet written. */
export type RowWords = readonly number[] | Float64Array;

export interface RowTable {
  /** The table's number in slices. */
  readonly number: number;
}

/** Where a row that changes often was last written: a slice's number and an offset in it. */
export interface RowOffset {
  slice: number;
  at: number;
}

export function noOffset(): RowOffset {
  return { slice: 0, at: 0 };
}

export interface RowSink {
  /** Puts an acknowledgement; `signed` is the body that was signed. Otherwise `put` gets its row. */
  putAck?(seq: number, leaf: Uint8Array, signed: Uint8Array, timeMs: number): void;
  put(table: RowTable, key: Uint8Array, value: Uint8Array): void;
  /** Puts the first `length` words under a 20-byte key. */
  putWords(
    table: RowTable,
    group: number,
    place: number,
    ordinal: number,
    words: ArrayLike<number>,
    length?: number,
  ): void;
  /** Puts a row that changes often and keeps its length. */
  overwrite(
    offset: RowOffset,
    table: RowTable,
    group: number,
    place: number,
    words: ArrayLike<number>,
    ordinal?: number,
  ): void;
}

export function bytesOfWords(words: RowWords): Buffer {
  const bytes = Buffer.allocUnsafe(words.length * 8);
  for (let i = 0; i < words.length; i++) bytes.writeDoubleLE(words[i]!, i * 8);
  return bytes;
}

/** An array of numbers, which for so few words is made five times as fast as a typed array. */
export function wordsOfBytes(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const words: number[] = [];
  for (let i = 0; i < bytes.length; i += 8) words.push(view.getFloat64(i, true));
  return words;
}

/**
 * Decodes a stored row that has one of the lengths `words` (by default any). SQLite has
 * no checksums, so damage shows here: by the length, or by a word that is neither a safe integer nor an id.
 *
 * @throws {HistoryDamaged}
 */
export function storedRow(
  bytes: Uint8Array,
  what: string,
  words?: number | readonly number[],
): number[] {
  if (bytes.length % 8 !== 0 || !hasLength(bytes.length / 8, words)) {
    throw new HistoryDamaged(`a row of ${what} has ${bytes.length} bytes`);
  }
  const row = wordsOfBytes(bytes);
  if (row.every((word) => Number.isSafeInteger(word) || isOrderId(word))) return row;
  throw new HistoryDamaged(`a row of ${what} holds a word that is no integer`);
}

function hasLength(length: number, words: number | readonly number[] | undefined): boolean {
  if (words === undefined) return true;
  return typeof words === "number" ? length === words : words.includes(length);
}
