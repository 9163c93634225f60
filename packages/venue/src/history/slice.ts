/**
 * A slice: history entries (table, key, value) one after another in memory.
 *
 * The open slice is filled where rows are made. A closed one is copied to the writing thread, and to the venue's
 * thread if that is another; it is read until the writer reports the commit, and then reused. A crash loses it;
 * its commands are in the log.
 *
 * An order that trades makes a dozen rows. Stored as bytes in reused memory with one offset each they
 * cost little; as objects they took a fifth of an order's time, half of it in garbage collection.
 *
 *   entry   table u16 · key bytes u16 · value bytes u32 · key · value, each from a multiple of eight
 */
import { KEY_BYTES, writeKey } from "./keys.js";
import { lowerBound, OffsetList } from "./offset-list.js";
import type { RowOffset, RowSink, RowTable } from "./rows.js";

const HEADER_BYTES = 8;
/** Size of a new slice. */
const USUAL_BYTES = 512 * 1024;

export class Slice {
  /** Entries, and the bytes they take. */
  count = 0;
  length = 0;
  bytes!: Buffer;
  private words!: Float64Array;
  private view!: DataView;
  /** By table number: offsets of its entries. */
  private readonly offsets: OffsetList[] = [];
  /** Entries from here on have no offsets yet. */
  private indexed = 0;

  constructor(
    public number: number,
    private memory = new ArrayBuffer(USUAL_BYTES),
  ) {
    this.use(memory);
  }

  /** One that another thread has filled. */
  static of(number: number, bytes: Uint8Array<ArrayBuffer>, count: number): Slice {
    const slice = new Slice(number, bytes.buffer);
    slice.length = bytes.length;
    slice.count = count;
    return slice;
  }

  /** Its entries, in memory of their own. */
  copy(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.memory.slice(0, this.length));
  }

  /** Whether a large command has made it grow beyond the usual size. */
  get isOutgrown(): boolean {
    return this.memory.byteLength > USUAL_BYTES;
  }

  /** Empties it for reuse under another number. */
  begin(number: number): void {
    this.number = number;
    this.count = 0;
    this.length = 0;
    this.indexed = 0;
    for (const offsets of this.offsets) offsets.clear();
  }

  /** Offset of the latest entry with the key; undefined if there is none. */
  find(table: number, key: Uint8Array): number | undefined {
    const sorted = this.sortedOf(table);
    const at = sorted[this.lowerBound(sorted, key)];
    return at !== undefined && this.compareKey(at, key) === 0 ? at : undefined;
  }

  /** Offsets of the latest entries with from ≤ key < to, by key; valid until the next entry is added. */
  within(table: number, from: Uint8Array, to: Uint8Array): Int32Array {
    const sorted = this.sortedOf(table);
    if (sorted.length === 0) return sorted;
    return sorted.subarray(this.lowerBound(sorted, from), this.lowerBound(sorted, to));
  }

  /** Adds the first `length` words under a 20-byte key; returns the entry's offset. */
  addWords(
    table: number,
    group: number,
    place: number,
    ordinal: number,
    words: ArrayLike<number>,
    length: number,
  ): number {
    const at = this.enter(table, KEY_BYTES, length * 8);
    writeKey(this.view, at + HEADER_BYTES, group, place, ordinal);
    this.writeWords(at, words, length);
    return at;
  }

  add(table: number, key: Uint8Array, value: Uint8Array): void {
    const at = this.enter(table, key.length, value.length);
    this.bytes.set(key, at + HEADER_BYTES);
    this.bytes.set(value, this.valueAt(at));
  }

  /** Overwrites an entry's words with as many others. */
  writeWords(at: number, words: ArrayLike<number>, length: number): void {
    const start = this.valueAt(at) / 8;
    for (let i = 0; i < length; i++) this.words[start + i] = words[i]!;
  }

  /** A copy: the memory is reused. */
  keyAt(at: number): Buffer {
    const start = at + HEADER_BYTES;
    return Buffer.from(this.bytes.subarray(start, start + this.keyBytes(at)));
  }

  value(at: number): Buffer {
    const start = this.valueAt(at);
    return Buffer.from(this.bytes.subarray(start, start + this.valueBytes(at)));
  }

  /** As `Buffer.compare` of the entry's key with another. */
  compareKey(at: number, key: Uint8Array): number {
    const { bytes } = this;
    const start = at + HEADER_BYTES;
    const own = this.keyBytes(at);
    const common = Math.min(own, key.length);
    for (let i = 0; i < common; i++) {
      const difference = bytes[start + i]! - key[i]!;
      if (difference !== 0) return difference;
    }
    return own - key.length;
  }

  private sortedOf(table: number): Int32Array {
    while (this.indexed < this.length) {
      const at = this.indexed;
      this.offsetsIn(this.view.getUint16(at, true)).push(at);
      this.indexed = this.valueAt(at) + padded(this.valueBytes(at));
    }
    return this.offsetsIn(table).sorted(this.compareEntries);
  }

  /** The index of the first offset whose key is not below `key`. */
  private lowerBound(sorted: Int32Array, key: Uint8Array): number {
    return lowerBound(sorted, 0, (at) => this.compareKey(at, key) < 0);
  }

  private readonly compareEntries = (a: number, b: number): number => {
    const { view } = this;
    const [own, other] = [this.keyBytes(a), this.keyBytes(b)];
    const common = Math.min(own, other);
    const [keyA, keyB] = [a + HEADER_BYTES, b + HEADER_BYTES];
    let i = 0;
    for (; i + 4 <= common; i += 4) {
      const difference = view.getUint32(keyA + i) - view.getUint32(keyB + i);
      if (difference !== 0) return difference;
    }
    for (; i < common; i++) {
      const difference = view.getUint8(keyA + i) - view.getUint8(keyB + i);
      if (difference !== 0) return difference;
    }
    return own - other;
  };

  private enter(table: number, keyBytes: number, valueBytes: number): number {
    const at = this.length;
    const end = at + HEADER_BYTES + padded(keyBytes) + padded(valueBytes);
    if (end > this.memory.byteLength) this.grow(end);
    this.view.setUint16(at, table, true);
    this.view.setUint16(at + 2, keyBytes, true);
    this.view.setUint32(at + 4, valueBytes, true);
    this.length = end;
    this.count++;
    return at;
  }

  private offsetsIn(table: number): OffsetList {
    while (this.offsets.length <= table) this.offsets.push(new OffsetList());
    return this.offsets[table]!;
  }

  private keyBytes(at: number): number {
    return this.view.getUint16(at + 2, true);
  }

  private valueBytes(at: number): number {
    return this.view.getUint32(at + 4, true);
  }

  private valueAt(at: number): number {
    return at + HEADER_BYTES + padded(this.keyBytes(at));
  }

  private grow(atLeast: number): void {
    const wider = new ArrayBuffer(padded(Math.max(atLeast, 2 * this.memory.byteLength)));
    new Uint8Array(wider).set(this.bytes.subarray(0, this.length));
    this.use(wider);
  }

  private use(memory: ArrayBuffer): void {
    this.memory = memory;
    this.bytes = Buffer.from(memory);
    this.words = new Float64Array(memory);
    this.view = new DataView(memory);
  }
}

/** Puts rows into the slice that is open. */
export abstract class SliceSink implements RowSink {
  protected abstract readonly open: Slice;

  put(table: RowTable, key: Uint8Array, value: Uint8Array): void {
    this.open.add(table.number, key, value);
  }

  putWords(
    table: RowTable,
    group: number,
    place: number,
    ordinal: number,
    words: ArrayLike<number>,
    length = words.length,
  ): void {
    this.open.addWords(table.number, group, place, ordinal, words, length);
  }

  /** For a row that changes often and keeps its length: overwritten while its slice is open. */
  overwrite(
    offset: RowOffset,
    table: RowTable,
    group: number,
    place: number,
    words: ArrayLike<number>,
    ordinal = 0,
  ): void {
    const { open } = this;
    if (this.isLeftOut(table, words)) return;
    if (offset.slice === open.number) {
      open.writeWords(offset.at, words, words.length);
      return;
    }
    offset.at = open.addWords(table.number, group, place, ordinal, words, words.length);
    offset.slice = open.number;
  }

  /** Whether a row that changes often is not put as it is now. */
  protected isLeftOut(_table: RowTable, _words: ArrayLike<number>): boolean {
    return false;
  }
}

/** Calls `take` with each entry of a slice, in order; key and value are views of `bytes`. */
export function eachEntry(
  bytes: Buffer,
  take: (table: number, key: Buffer, value: Buffer) => void,
): void {
  for (let at = 0; at < bytes.length; ) {
    const keyBytes = bytes.readUInt16LE(at + 2);
    const valueBytes = bytes.readUInt32LE(at + 4);
    const keyAt = at + HEADER_BYTES;
    const valueAt = keyAt + padded(keyBytes);
    const key = bytes.subarray(keyAt, keyAt + keyBytes);
    take(bytes.readUInt16LE(at), key, bytes.subarray(valueAt, valueAt + valueBytes));
    at = valueAt + padded(valueBytes);
  }
}

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}
