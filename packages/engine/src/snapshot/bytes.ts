/** Writing and reading canonical bytes: little-endian doubles and length-prefixed UTF-8. */

export class StateWriter {
  private bytes = new Uint8Array(1 << 16);
  private view = new DataView(this.bytes.buffer);
  private length = 0;
  private readonly encoder = new TextEncoder();

  /** One number. Adding 0 turns −0 into 0, so that equal values have equal bytes. */
  number(value: number): void {
    this.reserve(8);
    this.view.setFloat64(this.length, value + 0, true);
    this.length += 8;
  }

  numbers(values: ArrayLike<number>): void {
    this.number(values.length);
    for (let i = 0; i < values.length; i++) this.number(values[i]!);
  }

  /** A row of a table, without its length. */
  row(data: Float64Array, from: number, words: number): void {
    this.reserve(words * 8);
    for (let i = 0; i < words; i++) {
      this.view.setFloat64(this.length, data[from + i]! + 0, true);
      this.length += 8;
    }
  }

  text(value: string): void {
    const encoded = this.encoder.encode(value);
    this.number(encoded.length);
    this.reserve(encoded.length);
    this.bytes.set(encoded, this.length);
    this.length += encoded.length;
  }

  texts(values: readonly string[]): void {
    this.number(values.length);
    for (const value of values) this.text(value);
  }

  finish(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    let capacity = this.bytes.length * 2;
    while (capacity < this.length + count) capacity *= 2;
    const bytes = new Uint8Array(capacity);
    bytes.set(this.bytes.subarray(0, this.length));
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }
}

export class BytesUnreadable extends Error {
  override readonly name = "BytesUnreadable";
}

export class StateReader {
  private at = 0;
  private readonly view: DataView;
  private readonly decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  number(): number {
    if (this.at + 8 > this.bytes.byteLength) throw new BytesUnreadable("the bytes end too early");
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    // The writer has one form per value: it never writes NaN or −0.
    if (Number.isNaN(value) || Object.is(value, -0)) throw new BytesUnreadable("not a number");
    return value;
  }

  /** A count of items of at least `bytesEach` bytes; rejects more than the rest of the bytes holds. */
  count(bytesEach: number): number {
    const value = this.number();
    const left = this.bytes.byteLength - this.at;
    if (!Number.isSafeInteger(value) || value < 0 || value * bytesEach > left) {
      throw new BytesUnreadable(`${value} is not a count`);
    }
    return value;
  }

  numbers(): number[] {
    return Array.from({ length: this.count(8) }, () => this.number());
  }

  row(data: Float64Array, to: number, words: number): void {
    for (let i = 0; i < words; i++) data[to + i] = this.number();
  }

  text(): string {
    const length = this.count(1);
    const value = this.decoder.decode(this.bytes.subarray(this.at, this.at + length));
    this.at += length;
    return value;
  }

  texts(): string[] {
    return Array.from({ length: this.count(8) }, () => this.text());
  }

  /** Reads a count, and calls back that many times. */
  repeat(read: () => void): void {
    for (let left = this.count(8); left > 0; left--) read();
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.byteLength;
  }
}
