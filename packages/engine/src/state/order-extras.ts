/**
 * The terms that plain orders do not have, one row for each open order that has any. The order's row
 * holds the number of this one; which row it is differs between equal states, so snapshots leave it out.
 *
 * Most stops have no more than a size and three terms of a few values each. These are packed into a number
 * below NONE, which takes the place of the row's and no memory of its own. It is for reading; `OrderStore`
 * gives the order a row before one of its terms is written.
 */
import { type ClientIdWords, NO_CLIENT_ID } from "@perpgate/protocol/client-order-id";
import type { OrderExtras } from "../commands.js";
import { Expiries } from "./expiries.js";
import { NONE } from "./id-index.js";
import { int32, widen } from "./memory.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";
import { Table, type UndoLog } from "./table.js";

/** The words of a row, in the order of the snapshot format; literals, see orders.ts. */
export const EXTRA_WORDS = 16;

/** Packed terms: from the lowest bit on time in force (2), trigger (1), self-trade (2), size. */
const PACKED_SIZE = 32;
const MAX_PACKED_LOTS = 2 ** 47;

/** The terms as a number below NONE, or NONE if they need a row. */
export function packed(words: ArrayLike<number>): number {
  const [sizeLots, timeInForce, trigger, selfTrade] = [words[1]!, words[2]!, words[4]!, words[7]!];
  for (let i = 3; i < EXTRA_WORDS; i++) {
    if (i !== 4 && i !== 7 && words[i] !== 0) return NONE;
  }
  const fit =
    isBelow(sizeLots, MAX_PACKED_LOTS) &&
    isBelow(timeInForce, 4) &&
    isBelow(trigger, 2) &&
    isBelow(selfTrade, 4);
  if (!fit) return NONE;
  const value = sizeLots * PACKED_SIZE + selfTrade * 8 + trigger * 4 + timeInForce;
  return NONE - 1 - value;
}

/** A snapshot may hold anything. */
function isBelow(word: number, bound: number): boolean {
  return Number.isInteger(word) && word >= 0 && word < bound;
}

/** Of terms that are packed, the value. */
function packedValue(row: number): number {
  return NONE - 1 - row;
}

export class OrderExtrasStore {
  readonly table: Table;
  /** The rows of the open orders that expire; derived. */
  readonly expiries: Expiries;
  private readonly words = new Float64Array(EXTRA_WORDS);
  private free = int32(16);
  private freeCount = 0;

  constructor(undo: UndoLog, seed: HashSeed = FIXED_SEED) {
    this.table = new Table(16, undo);
    this.expiries = new Expiries(this.table, seed);
  }

  /** The order's id; 0 for a free row. */
  orderId(row: number): number {
    return this.table.data[row * 16 + 0]!;
  }
  /** The lots that the client asked for; 0: money decided them. */
  sizeLots(row: number): number {
    if (row < NONE) return Math.floor(packedValue(row) / PACKED_SIZE);
    return this.table.data[row * 16 + 1]!;
  }
  setSizeLots(row: number, lots: number): void {
    this.table.data[row * 16 + 1] = lots;
  }
  timeInForce(row: number): number {
    if (row < NONE) return packedValue(row) % 4;
    return this.table.data[row * 16 + 2]!;
  }
  /** 0: never. */
  expiresAtMs(row: number): number {
    if (row < NONE) return 0;
    return this.table.data[row * 16 + 3]!;
  }
  setExpiresAtMs(row: number, timeMs: number, account: number): void {
    if (this.expiresAtMs(row) !== 0) this.expiries.delete(row);
    this.table.data[row * 16 + 3] = timeMs;
    if (timeMs !== 0) this.expiries.add(row, account);
  }
  /** An order is not filled at or after its expiry. */
  isExpired(row: number, timeMs: number): boolean {
    if (row < NONE) return false;
    const expiresAtMs = this.table.data[row * 16 + 3]!;
    return expiresAtMs !== 0 && timeMs >= expiresAtMs;
  }
  trigger(row: number): number {
    if (row < NONE) return Math.floor(packedValue(row) / 4) % 2;
    return this.table.data[row * 16 + 4]!;
  }
  /** The limit of a stop once it is triggered; 0: none. */
  limitTicks(row: number): number {
    if (row < NONE) return 0;
    return this.table.data[row * 16 + 5]!;
  }
  setLimitTicks(row: number, ticks: number): void {
    this.table.data[row * 16 + 5] = ticks;
  }
  closesPosition(row: number): boolean {
    if (row < NONE) return false;
    return this.table.data[row * 16 + 6] !== 0;
  }
  /** Whether an order that closes its position was triggered: it closes what it finds from then on. */
  isTriggered(row: number): boolean {
    if (row < NONE) return false;
    return this.table.data[row * 16 + 6] === 2;
  }
  /** Once triggered it does not expire. */
  setTriggered(row: number): void {
    this.table.touch(row);
    this.table.data[row * 16 + 6] = 2;
    this.setExpiresAtMs(row, 0, 0);
  }
  selfTrade(row: number): number {
    if (row < NONE) return Math.floor(packedValue(row) / 8) % 4;
    return this.table.data[row * 16 + 7]!;
  }
  /** The cap on the sum of its fills; 0: none. */
  maxOrderNotional(row: number): number {
    if (row < NONE) return 0;
    return this.table.data[row * 16 + 8]!;
  }
  setMaxOrderNotional(row: number, micros: number): void {
    this.table.data[row * 16 + 8] = micros;
  }
  /** Whether its fills are bounded, and counted for that. */
  isBounded(row: number): boolean {
    return this.sizeLots(row) > 0 || this.maxOrderNotional(row) > 0;
  }
  /** What its fills came to; counted where they are bounded. */
  filledMicros(row: number): number {
    if (row < NONE) return 0;
    return this.table.data[row * 16 + 9]!;
  }
  setFilledMicros(row: number, micros: number): void {
    this.table.data[row * 16 + 9] = micros;
  }
  /** What of that opened. */
  openedMicros(row: number): number {
    if (row < NONE) return 0;
    return this.table.data[row * 16 + 10]!;
  }
  /** Counts a fill and the part of it that opened. */
  addFill(row: number, filledMicros: number, openedMicros: number): void {
    this.table.touch(row);
    this.table.data[row * 16 + 9]! += filledMicros;
    this.table.data[row * 16 + 10]! += openedMicros;
  }
  /** The client's id of the order. */
  clientId(row: number): ClientIdWords {
    if (row < NONE) return NO_CLIENT_ID;
    const { data } = this.table;
    const at = row * 16 + 11;
    return [data[at]!, data[at + 1]!, data[at + 2]!, data[at + 3]!, data[at + 4]!];
  }

  /** The words of a row for those terms. */
  wordsFor(
    orderId: number,
    extras: OrderExtras,
    clientId: ClientIdWords,
    maxOrderNotionalMicros: number,
  ): Float64Array {
    const { words } = this;
    words[0] = orderId;
    words[1] = extras.sizeLots;
    words[2] = extras.timeInForce;
    words[3] = extras.expiresAtMs;
    words[4] = extras.trigger;
    words[5] = extras.limitTicks;
    words[6] = extras.closePosition ? 1 : 0;
    words[7] = extras.selfTrade;
    words[8] = maxOrderNotionalMicros;
    words[9] = 0;
    words[10] = 0;
    words.set(clientId, 11);
    return words;
  }

  /** The words of an order's terms, packed or in a row. */
  wordsOf(row: number, orderId: number): Float64Array {
    if (row > NONE) return this.table.data.subarray(row * 16, (row + 1) * 16);
    const { words } = this;
    words.fill(0);
    words[0] = orderId;
    words[1] = this.sizeLots(row);
    words[2] = this.timeInForce(row);
    words[4] = this.trigger(row);
    words[7] = this.selfTrade(row);
    return words;
  }

  /** Writes the terms of an order into a free row. */
  add(account: number, words: Float64Array): number {
    const row = this.freeCount > 0 ? this.free[--this.freeCount]! : this.table.append();
    this.table.touch(row);
    this.table.data.set(words, row * 16);
    if (this.expiresAtMs(row) !== 0) this.expiries.add(row, account);
    return row;
  }

  release(row: number): void {
    if (row < NONE) return;
    if (this.expiresAtMs(row) !== 0) this.expiries.delete(row);
    this.table.touch(row);
    this.table.data[row * 16 + 0] = 0;
    this.pushFree(row);
  }

  /** Takes back the last row that was released, whose words are restored. */
  reclaim(row: number): void {
    if (row < NONE) return;
    if (this.free[--this.freeCount] !== row) throw new Error("rows are reclaimed last first");
    this.enter(row, this.expiries.accountOf(row));
  }

  /** Rebuilds the free list; `enter` follows for the rows in use. */
  reindex(): void {
    this.table.restartGrowth();
    this.freeCount = 0;
    this.expiries.clear();
    for (let row = 0; row < this.table.rows; row++) {
      if (this.orderId(row) === 0) this.pushFree(row);
    }
  }

  /** Lets the order of an account expire, if it does. */
  enter(row: number, account: number): void {
    if (this.expiresAtMs(row) !== 0) this.expiries.add(row, account);
  }

  private pushFree(row: number): void {
    if (this.freeCount === this.free.length) {
      this.free = widen(this.free, int32(this.free.length * 2));
    }
    this.free[this.freeCount++] = row;
  }
}
