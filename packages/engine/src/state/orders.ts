/**
 * Open orders: resting limits and pending stops of all markets in one table. A row is free while
 * its ID is 0. Links (level queue, account list) are derived and live beside the table.
 */
import { IdIndex } from "./id-index.js";
import { Table, type UndoLog } from "./table.js";

export const ORDER_WORDS = 17;
export const ORDER = {
  ID: 0,
  MARKET: 1,
  ACCOUNT: 2,
  /** Row of the (account, market) position; derived. */
  POSITION: 3,
  SIDE: 4,
  TYPE: 5,
  PRICE: 6,
  LOTS: 7,
  REMAINING: 8,
  /** Lots covered by the position it would close. */
  CLOSING: 9,
  RESERVE: 10,
  MARGIN: 11,
  LEVERAGE: 12,
  REDUCE_ONLY: 13,
  POST_ONLY: 14,
  /** The session that placed it. */
  SESSION: 15,
  /** Opening lots × price × unit, as counted in the position's RESTING_NOTIONAL. */
  OPENING_NOTIONAL: 16,
} as const;

export const NONE = -1;
export const LINKS = 5;
export const LEVEL = 0;
export const LEVEL_PREV = 1;
export const LEVEL_NEXT = 2;
export const LIST_PREV = 3;
export const LIST_NEXT = 4;

export class OrderStore {
  readonly table: Table;
  readonly index = new IdIndex();
  links = new Int32Array(16 * LINKS);
  private free = new Int32Array(16);
  private freeCount = 0;

  constructor(undo: UndoLog) {
    this.table = new Table(ORDER_WORDS, undo);
  }

  get open(): number {
    return this.table.rows - this.freeCount;
  }

  /** A free row; the caller touches it, writes every word, ID included, then calls `index.set`. */
  allocate(): number {
    const row = this.freeCount > 0 ? this.free[--this.freeCount]! : this.table.append();
    if (row * LINKS >= this.links.length) {
      const links = new Int32Array(this.links.length * 2);
      links.set(this.links);
      this.links = links;
    }
    return row;
  }

  release(row: number): void {
    const data = this.table.data;
    this.index.delete(data[row * ORDER_WORDS + ORDER.ID]!);
    data[row * ORDER_WORDS + ORDER.ID] = 0;
    this.pushFree(row);
  }

  /** Rows in use in ascending id, after dropping and rebuilding the index and the free list. */
  reindex(): number[] {
    this.index.clear();
    this.freeCount = 0;
    const rows: number[] = [];
    const data = this.table.data;
    for (let row = 0; row < this.table.rows; row++) {
      const id = data[row * ORDER_WORDS + ORDER.ID]!;
      if (id === 0) {
        this.pushFree(row);
      } else {
        this.index.set(id, row);
        rows.push(row);
      }
    }
    while (this.links.length < this.table.rows * LINKS) {
      this.links = new Int32Array(this.links.length * 2);
    }
    rows.sort((a, b) => data[a * ORDER_WORDS + ORDER.ID]! - data[b * ORDER_WORDS + ORDER.ID]!);
    return rows;
  }

  private pushFree(row: number): void {
    if (this.freeCount === this.free.length) {
      const free = new Int32Array(this.free.length * 2);
      free.set(this.free);
      this.free = free;
    }
    this.free[this.freeCount++] = row;
  }
}
