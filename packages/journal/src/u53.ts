/** Integers up to 2^53 − 1 as eight little-endian bytes, without BigInt. */

const HIGH = 2 ** 32;

export function writeU53(into: Buffer, at: number, value: number): void {
  into.writeUInt32LE(value >>> 0, at);
  into.writeUInt32LE(Math.floor(value / HIGH), at + 4);
}

export function readU53(from: Buffer, at: number): number {
  return from.readUInt32LE(at + 4) * HIGH + from.readUInt32LE(at);
}
