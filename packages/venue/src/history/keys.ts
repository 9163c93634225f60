/**
 * Keys of the history: big-endian numbers, so that byte order is numeric order. A key has 20 bytes: a
 * group (an account, a market), a place in it (a seq, a time), and an ordinal among equal places.
 */

export const KEY_BYTES = 20;
/** One table, orders by nonce, has a third u53 instead of the ordinal. */
export const WIDE_KEY_BYTES = 24;
const U32 = 2 ** 32;
export const MAX_ORDINAL = U32 - 1;
/** More than a venue lists. */
const MARKETS = 4_096;
/** The market of rows that belong to none. */
export const NO_MARKET = MARKETS - 1;

/**
 * The group of an account's rows in a market. Orders and fills are grouped so: a filter by market reads
 * only that market's rows, and a list over all markets merges one range of each.
 */
export function accountGroup(account: number, market: number): number {
  return account * MARKETS + market;
}

export function keyOf(group: number, place = 0, ordinal = 0): Buffer {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  writeKey(new DataView(key.buffer, key.byteOffset, KEY_BYTES), 0, group, place, ordinal);
  return key;
}

export function writeKey(
  view: DataView,
  at: number,
  group: number,
  place: number,
  ordinal: number,
): void {
  writeU53(view, at, group);
  writeU53(view, at + 8, place);
  view.setUint32(at + 16, ordinal);
}

export function writeWideKey(view: DataView, group: number, place: number, last: number): void {
  writeU53(view, 0, group);
  writeU53(view, 8, place);
  writeU53(view, 16, last);
}

export function groupOf(key: Buffer): number {
  return key.readUInt32BE(0) * U32 + key.readUInt32BE(4);
}

export function placeOf(key: Buffer): number {
  return key.readUInt32BE(8) * U32 + key.readUInt32BE(12);
}

export function ordinalOf(key: Buffer): number {
  return key.readUInt32BE(16);
}

function writeU53(view: DataView, at: number, value: number): void {
  const high = Math.floor(value / U32);
  view.setUint32(at, high);
  view.setUint32(at + 4, value - high * U32);
}

export function readU53(view: DataView, at: number): number {
  return view.getUint32(at) * U32 + view.getUint32(at + 4);
}
