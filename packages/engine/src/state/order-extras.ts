/**
 * The terms that plain orders do not have, one row for each open order that has any. The order's row
 * holds the number of this one; which row it is differs between equal states, so snapshots leave it out.
 */
import type { ClientIdWords } from "@perpgate/protocol/client-order-id";
import type { OrderExtras } from "../commands.js";
import { Expiries } from "./expiries.js";
import { int32, widen } from "./memory.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";
import { Table, type UndoLog } from "./table.js";

/** The words of a row, in the order of the snapshot format; literals, see orders.ts. */
export const EXTRA_WORDS = 16;

export class OrderExtrasStore {
  readonly table: Table;
  /** The rows of the open orders that expire; derived. */
  readonly expiries: Expiries;
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
    return this.table.data[row * 16 + 1]!;
  }
  setSizeLots(row: number, lots: number): void {
    this.table.data[row * 16 + 1] = lots;
  }
  timeInForce(row: number): number {
    return this.table.data[row * 16 + 2]!;
  }
  /** 0: never. */
  expiresAtMs(row: number): number {
    return this.table.data[row * 16 + 3]!;
  }
  setExpiresAtMs(row: number, timeMs: number, account: number): void {
    if (this.expiresAtMs(row) !== 0) this.expiries.delete(row);
    this.table.data[row * 16 + 3] = timeMs;
    if (timeMs !== 0) this.expiries.add(row, account);
  }
  /** An order is not filled at or after its expiry. */
  isExpired(row: number, timeMs: number): boolean {
    const expiresAtMs = this.table.data[row * 16 + 3]!;
    return expiresAtMs !== 0 && timeMs >= expiresAtMs;
  }
  trigger(row: number): number {
    return this.table.data[row * 16 + 4]!;
  }
  /** The limit of a stop once it is triggered; 0: none. */
  limitTicks(row: number): number {
    return this.table.data[row * 16 + 5]!;
  }
  setLimitTicks(row: number, ticks: number): void {
    this.table.data[row * 16 + 5] = ticks;
  }
  closesPosition(row: number): boolean {
    return this.table.data[row * 16 + 6] !== 0;
  }
  /** Whether an order that closes its position was triggered: it closes what it finds from then on. */
  isTriggered(row: number): boolean {
    return this.table.data[row * 16 + 6] === 2;
  }
  /** Once triggered it does not expire. */
  setTriggered(row: number): void {
    this.table.touch(row);
    this.table.data[row * 16 + 6] = 2;
    this.setExpiresAtMs(row, 0, 0);
  }
  selfTrade(row: number): number {
    return this.table.data[row * 16 + 7]!;
  }
  /** The cap on the sum of its fills; 0: none. */
  maxOrderNotional(row: number): number {
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
    return this.table.data[row * 16 + 9]!;
  }
  setFilledMicros(row: number, micros: number): void {
    this.table.data[row * 16 + 9] = micros;
  }
  /** What of that opened. */
  openedMicros(row: number): number {
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
    const { data } = this.table;
    const at = row * 16 + 11;
    return [data[at]!, data[at + 1]!, data[at + 2]!, data[at + 3]!, data[at + 4]!];
  }

  /** Writes the extras of a new order into a free row. */
  add(
    orderId: number,
    account: number,
    extras: OrderExtras,
    clientId: ClientIdWords,
    maxOrderNotionalMicros: number,
  ): number {
    const row = this.freeCount > 0 ? this.free[--this.freeCount]! : this.table.append();
    this.table.touch(row);
    const { data } = this.table;
    const at = row * 16;
    data[at] = orderId;
    data[at + 1] = extras.sizeLots;
    data[at + 2] = extras.timeInForce;
    data[at + 3] = extras.expiresAtMs;
    data[at + 4] = extras.trigger;
    data[at + 5] = extras.limitTicks;
    data[at + 6] = extras.closePosition ? 1 : 0;
    data[at + 7] = extras.selfTrade;
    data[at + 8] = maxOrderNotionalMicros;
    data[at + 9] = 0;
    data[at + 10] = 0;
    data.set(clientId, at + 11);
    if (extras.expiresAtMs !== 0) this.expiries.add(row, account);
    return row;
  }

  release(row: number): void {
    if (this.expiresAtMs(row) !== 0) this.expiries.delete(row);
    this.table.touch(row);
    this.table.data[row * 16 + 0] = 0;
    this.pushFree(row);
  }

  /** Takes back the last row that was released, whose words are restored. */
  reclaim(row: number): void {
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
