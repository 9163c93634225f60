/** Bytes of a frame: written into a buffer that grows, read with every bound checked. */

/** A value that its frame does not allow. The codec adds the names of frame and field. */
export class WrongValue extends Error {
  override readonly name = "WrongValue";
}

const FIRST_BYTES = 1_024;
const U32 = 2 ** 32;
/** A number below 2^53 takes at most eight groups of seven bits. */
const MAX_GROUPS = 8;

export class FrameWriter {
  private buffer = Buffer.allocUnsafe(FIRST_BYTES);
  private end = 0;

  get length(): number {
    return this.end;
  }

  /** The bytes so far; what is written from now on is in other memory. */
  take(): Buffer {
    const bytes = this.buffer.subarray(0, this.end);
    this.buffer = Buffer.allocUnsafe(FIRST_BYTES);
    this.end = 0;
    return bytes;
  }

  /** Drops what was written after the first `length` bytes. */
  truncate(length: number): void {
    this.end = length;
  }

  byte(value: number): void {
    this.room(1);
    this.buffer[this.end++] = value;
  }

  u16(value: number): void {
    this.room(2);
    this.end = this.buffer.writeUInt16LE(value, this.end);
  }

  u32(value: number): void {
    this.room(4);
    this.end = this.buffer.writeUInt32LE(value, this.end);
  }

  setU32(value: number, at: number): void {
    this.buffer.writeUInt32LE(value, at);
  }

  number(value: number): void {
    this.room(8);
    this.end = this.buffer.writeDoubleLE(value, this.end);
  }

  /** A whole number from 0 to 2^53 − 1, in groups of seven bits, the lowest first. */
  count(value: number): void {
    this.room(MAX_GROUPS);
    let rest = value;
    while (rest > 127) {
      this.buffer[this.end++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.buffer[this.end++] = rest;
  }

  raw(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.buffer.set(bytes, this.end);
    this.end += bytes.length;
  }

  text(value: string, byteLength: number): void {
    this.room(byteLength);
    this.end += this.buffer.write(value, this.end, "utf8");
  }

  private room(bytes: number): void {
    const needed = this.end + bytes;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.buffer.length));
    this.buffer.copy(larger, 0, 0, this.end);
    this.buffer = larger;
  }
}

export class FrameReader {
  private at = 0;

  constructor(private readonly buffer: Buffer) {}

  get left(): number {
    return this.buffer.length - this.at;
  }

  byte(): number {
    return this.buffer[this.take(1)]!;
  }

  u16(): number {
    return this.buffer.readUInt16LE(this.take(2));
  }

  u32(): number {
    return this.buffer.readUInt32LE(this.take(4));
  }

  number(): number {
    return this.buffer.readDoubleLE(this.take(8));
  }

  /** @throws WrongValue for more than 2^53 − 1, or for more bytes than the number needs. */
  count(): number {
    let value = 0;
    let unit = 1;
    for (let i = 0; i < MAX_GROUPS; i++) {
      const byte = this.byte();
      value += (byte & 127) * unit;
      if (byte < 128) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        if (byte === 0 && i > 0) throw new WrongValue("has a number with leading zeros");
        return value;
      }
      unit *= 128;
    }
    throw new WrongValue("has a number above 2^53 − 1");
  }

  /** A copy: the buffer may be reused, or may be much longer. */
  raw(length: number): Buffer {
    const at = this.take(length);
    return Buffer.from(this.buffer.subarray(at, at + length));
  }

  text(length: number): string {
    const at = this.take(length);
    const text = this.buffer.toString("utf8", at, at + length);
    // What is not UTF-8 is read as U+FFFD, and would be written as other bytes.
    if (
      text.includes("\u{FFFD}") &&
      !this.buffer.subarray(at, at + length).equals(Buffer.from(text))
    )
      throw new WrongValue("is not UTF-8");
    return text;
  }

  private take(bytes: number): number {
    const { at } = this;
    if (bytes > this.left) throw new WrongValue("is cut off");
    this.at = at + bytes;
    return at;
  }
}

export function isU32(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < U32;
}
