/**
 * Keys of the history: numbers in big-endian, so that the order of the bytes is the order of the
 * numbers. Every table has keys of one shape, 20 bytes: a group (an account, a market), a place in
 * it (a position, a time), and a number that tells apart what shares a place.
 */

export const KEY_BYTES = 20;
const U32 = 2 ** 32;

export function keyOf(group: number, place = 0, ordinal = 0): Buffer {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  writeU53(key, 0, group);
  writeU53(key, 8, place);
  key.writeUInt32BE(ordinal, 16);
  return key;
}

export function groupOf(key: Buffer): number {
  return readU53(key, 0);
}

export function placeOf(key: Buffer): number {
  return readU53(key, 8);
}

export function ordinalOf(key: Buffer): number {
  return key.readUInt32BE(16);
}

function writeU53(bytes: Buffer, at: number, value: number): void {
  const high = Math.floor(value / U32);
  bytes.writeUInt32BE(high, at);
  bytes.writeUInt32BE(value - high * U32, at + 4);
}

function readU53(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * U32 + bytes.readUInt32BE(at + 4);
}
