/** Bytes to text and back, comparison, and a reader and writer of binary formats; no platform needed. */

import { isCount } from "../numbers/integers.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map([...ALPHABET].map((character, value) => [character, value]));

export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const group = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += ALPHABET.charAt(group >> 18) + ALPHABET.charAt((group >> 12) & 63);
    text += left > 1 ? ALPHABET.charAt((group >> 6) & 63) : "=";
    text += left > 2 ? ALPHABET.charAt(group & 63) : "=";
  }
  return text;
}

/** The bytes of canonical, padded base64; undefined for any other text. */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const digits = text.replace(/={1,2}$/, "");
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let [bits, held, at] = [0, 0, 0];
  for (const character of digits) {
    const value = VALUES.get(character);
    if (value === undefined) return undefined;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = (held >> bits) & 0xff;
  }
  return base64(bytes) === text ? bytes : undefined;
}

export function base64Url(bytes: Uint8Array): string {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function bytesFromBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return bytesFromBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, "="));
}

export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

export function joinBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Eight bytes, little-endian. @throws RangeError for what is no safe count. */
export function u64(value: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(8);
  if (!isCount(value)) throw new RangeError(`${value} is no count`);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
  return bytes;
}

/** Seven bits a byte, the lowest first; the top bit says that more follow. */
export function varint(value: number): Uint8Array {
  if (!isCount(value)) throw new RangeError(`${value} is no count`);
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Uint8Array.from([...bytes, rest]);
}

/** Reads a binary format from its beginning. Every method throws `RangeError` at bytes that do not fit. */
export class ByteReader {
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  take(length: number): Uint8Array {
    if (length > this.left) throw new RangeError("the bytes end too early");
    this.at += length;
    return this.bytes.slice(this.at - length, this.at);
  }

  /** A little-endian number of that many bytes. */
  count(length: number): number {
    const value = this.take(length).reduceRight((sum, byte) => sum * 256 + byte, 0);
    if (!isCount(value)) throw new RangeError("a number is too large");
    return value;
  }

  /** Refuses encodings that are longer than needed. */
  varint(): number {
    let [value, factor] = [0, 1];
    for (;;) {
      const [byte = 0] = this.take(1);
      value += (byte % 128) * factor;
      if (!isCount(value)) throw new RangeError("a number is too large");
      if (byte < 128) {
        if (byte === 0 && factor > 1) throw new RangeError("a number is longer than needed");
        return value;
      }
      factor *= 128;
    }
  }
}
