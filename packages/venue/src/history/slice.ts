/**
 * A slice of the history on its way to the disk: entries one after another in memory that the
 * writing thread shares, each a key and a value under the number of its table. What it holds can be
 * read until the disk has it.
 *
 * An order that trades leaves a dozen rows, so a row here is no object: a few stores into memory
 * that is used again and again, and one number that says where it stands. As objects of their own
 * rows were a fifth of an order's time, half of it in the collector.
 *
 *   entry   table u16 · key bytes u16 · value bytes u32 · key · value, each from a multiple of eight
 */
import { KEY_BYTES, writeKey } from "./keys.js";

const HEADER_BYTES = 8;
/** Room for a usual slice. */
export const USUAL_BYTES = 512 * 1024;
const USUAL_PLACES = 256;

export class Slice {
  /** Entries, and the bytes they take. */
  count = 0;
  length = 0;
  bytes!: Buffer;
  private words!: Float64Array;
  private view!: DataView;
  /** By table: where its entries stand, in the order they were put. */
  private readonly places: Places[] = [];

  constructor(
    public number: number,
    private memory = new SharedArrayBuffer(USUAL_BYTES),
  ) {
    this.use(memory);
  }

  get shared(): SharedArrayBuffer {
    return this.memory;
  }

  /** Whether a command of unusual size has made it larger than the next one needs to be. */
  get isOutgrown(): boolean {
    return this.memory.byteLength > USUAL_BYTES;
  }

  /** Empties it, to be filled under another number. */
  begin(number: number): void {
    this.number = number;
    this.count = 0;
    this.length = 0;
    for (const places of this.places) places.count = 0;
  }

  /** Where a table's entries stand, the oldest first; valid until the next is put. */
  placesOf(table: number): Int32Array {
    return this.placesIn(table).used();
  }

  /** The first `length` words under a key of the usual shape; answers where the entry stands. */
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

  /** Other words of the same number in place of an entry's own. */
  writeWords(at: number, words: ArrayLike<number>, length: number): void {
    const start = this.valueAt(at) / 8;
    for (let i = 0; i < length; i++) this.words[start + i] = words[i]!;
  }

  /** A copy: the memory is used again. */
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

  private enter(table: number, keyBytes: number, valueBytes: number): number {
    const at = this.length;
    const end = at + HEADER_BYTES + padded(keyBytes) + padded(valueBytes);
    if (end > this.memory.byteLength) this.grow(end);
    this.view.setUint16(at, table, true);
    this.view.setUint16(at + 2, keyBytes, true);
    this.view.setUint32(at + 4, valueBytes, true);
    this.length = end;
    this.count++;
    this.placesIn(table).push(at);
    return at;
  }

  private placesIn(table: number): Places {
    while (this.places.length <= table) this.places.push(new Places());
    return this.places[table]!;
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
    const wider = new SharedArrayBuffer(padded(Math.max(atLeast, 2 * this.memory.byteLength)));
    new Uint8Array(wider).set(this.bytes.subarray(0, this.length));
    this.use(wider);
  }

  private use(memory: SharedArrayBuffer): void {
    this.memory = memory;
    this.bytes = Buffer.from(memory);
    this.words = new Float64Array(memory);
    this.view = new DataView(memory);
  }
}

/** A list of numbers whose memory serves again. */
class Places {
  count = 0;
  private numbers = new Int32Array(USUAL_PLACES);

  push(at: number): void {
    if (this.count === this.numbers.length) {
      const wider = new Int32Array(2 * this.count);
      wider.set(this.numbers);
      this.numbers = wider;
    }
    this.numbers[this.count++] = at;
  }

  used(): Int32Array {
    return this.numbers.subarray(0, this.count);
  }
}

/** The entries in a slice's bytes, in order; the views are valid as long as the bytes are. */
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
