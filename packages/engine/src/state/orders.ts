/**
 * Open orders: resting limits and pending stops of all markets in one table. A row is free while
 * its id is 0. The links (queue of a price level, list of an account) are derived and kept in a
 * separate array.
 */
import { LONG, type OrderType, SHORT, type Side, STOP_ORDER } from "../commands.js";
import { IdIndex } from "./id-index.js";
import { Table, type UndoLog } from "./table.js";

/** The words of a row. Their order is part of the snapshot format. */
const WORDS = 17;
const WORD = {
  ID: 0,
  MARKET: 1,
  ACCOUNT: 2,
  POSITION: 3,
  SIDE: 4,
  TYPE: 5,
  PRICE: 6,
  LOTS: 7,
  REMAINING: 8,
  CLOSING: 9,
  RESERVE: 10,
  MARGIN: 11,
  LEVERAGE: 12,
  REDUCE_ONLY: 13,
  POST_ONLY: 14,
  SESSION: 15,
  OPENING_NOTIONAL: 16,
} as const;
export const ORDER_WORDS = WORDS;
export const ORDER_POSITION_WORD = WORD.POSITION;

/** What an order is opened with. */
export interface NewOrder {
  readonly id: number;
  readonly market: number;
  readonly account: number;
  /** Row of the (account, market) position. */
  readonly position: number;
  readonly side: Side;
  readonly type: OrderType;
  readonly priceTicks: number;
  readonly lots: number;
  readonly remainingLots: number;
  readonly marginMicros: number;
  readonly leverage: number;
  readonly reduceOnly: boolean;
  readonly postOnly: boolean;
  readonly session: number;
}

export const NONE = -1;
/** Words per order in `links`: its level's slot, and both neighbours in queue and list. */
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
    this.table = new Table(WORDS, undo);
  }

  get open(): number {
    return this.table.rows - this.freeCount;
  }

  id(row: number): number {
    return this.table.data[row * WORDS + WORD.ID]!;
  }
  market(row: number): number {
    return this.table.data[row * WORDS + WORD.MARKET]!;
  }
  account(row: number): number {
    return this.table.data[row * WORDS + WORD.ACCOUNT]!;
  }
  /** Row of the (account, market) position; derived. */
  position(row: number): number {
    return this.table.data[row * WORDS + WORD.POSITION]!;
  }
  setPosition(row: number, position: number): void {
    this.table.data[row * WORDS + WORD.POSITION] = position;
  }
  side(row: number): Side {
    return this.table.data[row * WORDS + WORD.SIDE] === LONG ? LONG : SHORT;
  }
  isStop(row: number): boolean {
    return this.table.data[row * WORDS + WORD.TYPE] === STOP_ORDER;
  }
  price(row: number): number {
    return this.table.data[row * WORDS + WORD.PRICE]!;
  }
  remaining(row: number): number {
    return this.table.data[row * WORDS + WORD.REMAINING]!;
  }
  setRemaining(row: number, lots: number): void {
    this.table.data[row * WORDS + WORD.REMAINING] = lots;
  }
  /** Lots covered by the position that the order would close. */
  closing(row: number): number {
    return this.table.data[row * WORDS + WORD.CLOSING]!;
  }
  setClosing(row: number, lots: number): void {
    this.table.data[row * WORDS + WORD.CLOSING] = lots;
  }
  reserve(row: number): number {
    return this.table.data[row * WORDS + WORD.RESERVE]!;
  }
  setReserve(row: number, micros: number): void {
    this.table.data[row * WORDS + WORD.RESERVE] = micros;
  }
  leverage(row: number): number {
    return this.table.data[row * WORDS + WORD.LEVERAGE]!;
  }
  isReduceOnly(row: number): boolean {
    return this.table.data[row * WORDS + WORD.REDUCE_ONLY] !== 0;
  }
  /** The session that placed it. */
  session(row: number): number {
    return this.table.data[row * WORDS + WORD.SESSION]!;
  }
  /** Opening lots × price × unit, as counted in the position's resting notional. */
  openingNotional(row: number): number {
    return this.table.data[row * WORDS + WORD.OPENING_NOTIONAL]!;
  }
  setOpeningNotional(row: number, micros: number): void {
    this.table.data[row * WORDS + WORD.OPENING_NOTIONAL] = micros;
  }

  /** The next order of the same price level, or NONE. */
  nextAtLevel(row: number): number {
    return this.links[row * LINKS + LEVEL_NEXT]!;
  }
  /** Neighbours in the account's list, or NONE. */
  next(row: number): number {
    return this.links[row * LINKS + LIST_NEXT]!;
  }
  previous(row: number): number {
    return this.links[row * LINKS + LIST_PREV]!;
  }

  /** Writes a new order into a free row, and into the id index; the links are not set. */
  add(order: NewOrder): number {
    const row = this.allocate();
    this.table.touch(row);
    const { data } = this.table;
    const at = row * WORDS;
    data[at + WORD.ID] = order.id;
    data[at + WORD.MARKET] = order.market;
    data[at + WORD.ACCOUNT] = order.account;
    data[at + WORD.POSITION] = order.position;
    data[at + WORD.SIDE] = order.side;
    data[at + WORD.TYPE] = order.type;
    data[at + WORD.PRICE] = order.priceTicks;
    data[at + WORD.LOTS] = order.lots;
    data[at + WORD.REMAINING] = order.remainingLots;
    data[at + WORD.CLOSING] = 0;
    data[at + WORD.RESERVE] = 0;
    data[at + WORD.MARGIN] = order.marginMicros;
    data[at + WORD.LEVERAGE] = order.leverage;
    data[at + WORD.REDUCE_ONLY] = order.reduceOnly ? 1 : 0;
    data[at + WORD.POST_ONLY] = order.postOnly ? 1 : 0;
    data[at + WORD.SESSION] = order.session;
    data[at + WORD.OPENING_NOTIONAL] = 0;
    this.index.set(order.id, row);
    return row;
  }

  release(row: number): void {
    this.index.delete(this.id(row));
    this.table.data[row * WORDS + WORD.ID] = 0;
    this.pushFree(row);
  }

  /** Rows in use, ascending id. */
  openRows(): number[] {
    const rows: number[] = [];
    for (let row = 0; row < this.table.rows; row++) if (this.id(row) !== 0) rows.push(row);
    return rows.sort((a, b) => this.id(a) - this.id(b));
  }

  /** Rebuilds the id index and the free list from the table. */
  reindex(): void {
    this.index.clear();
    this.freeCount = 0;
    for (let row = 0; row < this.table.rows; row++) {
      const id = this.id(row);
      if (id === 0) this.pushFree(row);
      else this.index.set(id, row);
    }
    while (this.links.length < this.table.rows * LINKS) {
      this.links = new Int32Array(this.links.length * 2);
    }
  }

  private allocate(): number {
    const row = this.freeCount > 0 ? this.free[--this.freeCount]! : this.table.append();
    if (row * LINKS >= this.links.length) {
      const links = new Int32Array(this.links.length * 2);
      links.set(this.links);
      this.links = links;
    }
    return row;
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
