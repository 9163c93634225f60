/**
 * Keys of the history: big-endian doubles from 0 on, whose byte order is numeric order. A key has 20 bytes: a
 * group (an account, a market), a place in it (a seq, a time, the id of an order or of an exit), and an
 * ordinal among equal places.
 */

import { CLIENT_ID_WORDS } from "@perpgate/protocol/client-order-id";

export const KEY_BYTES = 20;
/** Orders by nonce and by the client's id: a third double, the order's id, instead of the ordinal. */
export const WIDE_KEY_BYTES = 24;
const U32 = 2 ** 32;
export const MAX_ORDINAL = U32 - 1;
/** More than a venue lists. */
export const MARKETS = 4_096;
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
  view.setFloat64(at, group);
  view.setFloat64(at + 8, place);
  view.setUint32(at + 16, ordinal);
}

export function writeWideKey(view: DataView, group: number, place: number, last: number): void {
  view.setFloat64(0, group);
  view.setFloat64(8, place);
  view.setFloat64(16, last);
}

export function groupOf(key: Buffer): number {
  return key.readDoubleBE(0);
}

export function placeOf(key: Buffer): number {
  return key.readDoubleBE(8);
}

export function ordinalOf(key: Buffer): number {
  return key.readUInt32BE(16);
}

/** The third part of a wide key. */
export function lastOf(key: Buffer): number {
  return key.readDoubleBE(16);
}

export function wideKeyOf(group: number, place: number, last: number): Buffer {
  const key = Buffer.allocUnsafe(WIDE_KEY_BYTES);
  writeWideKey(new DataView(key.buffer, key.byteOffset, WIDE_KEY_BYTES), group, place, last);
  return key;
}

/**
 * 53 bits of a client's id, given as its five words. Ids may share them; the orders' rows have all words.
 */
export function clientIdPlace(words: ArrayLike<number>, at: number): number {
  let high = 0x811c_9dc5;
  let low = 0x9e37_79b9;
  for (let i = at; i < at + CLIENT_ID_WORDS; i++) {
    const word = words[i]!;
    const lower = word >>> 0;
    const upper = Math.floor(word / U32);
    high = Math.imul(Math.imul(high ^ lower, 0x0100_0193) ^ upper, 0x0100_0193);
    low = Math.imul(low ^ lower ^ (low >>> 15), 0x85eb_ca6b);
    low = Math.imul(low ^ upper ^ (low >>> 15), 0x85eb_ca6b);
  }
  return (high >>> 11) * U32 + ((low ^ (low >>> 13)) >>> 0);
}
