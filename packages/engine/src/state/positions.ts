/**
 * Positions of one market, one row per account that ever traded there. Kept next to the table, and
 * derived from it: the lists of the account's orders, and per position the mark at which it may be
 * due for liquidation, so that checking 100,000 positions against a mark is one pass over one array.
 */
import { LONG, type Side } from "../commands.js";
import { LINKS, LIST_NEXT, LIST_PREV, NONE, type OrderStore } from "./orders.js";
import { Table, type UndoLog } from "./table.js";

/** The words of a row. Their order is part of the snapshot format. */
const WORDS = 10;
const WORD = {
  ACCOUNT: 0,
  LOTS: 1,
  COST: 2,
  MARGIN: 3,
  REALIZED: 4,
  FUNDING: 5,
  RESERVED: 6,
  RESTING_NOTIONAL: 7,
  PENDING_NOTIONAL: 8,
  OPEN_ORDERS: 9,
} as const;
export const POSITION_WORDS = WORDS;

/** Words per position in `links`: ends of three lists, the closing side, counts of reduce-only. */
const LINK_WORDS = 10;
const CLOSING_SIDE = 6;
const FRONTIER = 7;
const REDUCE_ONLY_LONG = 8;
const REDUCE_ONLY_SHORT = 9;

/** The lists of an account's open orders, ascending id; the number is that of the head's word. */
export const LONG_LIST = 0;
export const SHORT_LIST = 2;
export const STOP_LIST = 4;
export type List = typeof LONG_LIST | typeof SHORT_LIST | typeof STOP_LIST;

/** The list of resting orders of that side. */
export function restingList(side: Side): List {
  return side === LONG ? LONG_LIST : SHORT_LIST;
}

export class PositionStore {
  readonly table: Table;
  /**
   * Positive: a long, to be checked when mark ≤ it. Negative: a short, when mark ≥ its magnitude.
   * 0: flat.
   */
  watch = new Float64Array(16);
  private links = new Int32Array(16 * LINK_WORDS);
  private coveredLots = new Float64Array(16);
  private rowOfAccount = new Int32Array(16).fill(NONE);

  constructor(undo: UndoLog, market: number) {
    this.table = new Table(WORDS, undo, 16, market);
  }

  account(row: number): number {
    return this.table.data[row * WORDS + WORD.ACCOUNT]!;
  }
  lots(row: number): number {
    return this.table.data[row * WORDS + WORD.LOTS]!;
  }
  cost(row: number): number {
    return this.table.data[row * WORDS + WORD.COST]!;
  }
  margin(row: number): number {
    return this.table.data[row * WORDS + WORD.MARGIN]!;
  }
  realized(row: number): number {
    return this.table.data[row * WORDS + WORD.REALIZED]!;
  }
  funding(row: number): number {
    return this.table.data[row * WORDS + WORD.FUNDING]!;
  }
  /** Σ reserves of its resting orders. */
  reserved(row: number): number {
    return this.table.data[row * WORDS + WORD.RESERVED]!;
  }
  /** Σ opening lots × price of its resting orders, in micros. */
  restingNotional(row: number): number {
    return this.table.data[row * WORDS + WORD.RESTING_NOTIONAL]!;
  }
  /** Σ lots × price of its pending orders that are not reduce-only, in micros. */
  pendingNotional(row: number): number {
    return this.table.data[row * WORDS + WORD.PENDING_NOTIONAL]!;
  }
  openOrders(row: number): number {
    return this.table.data[row * WORDS + WORD.OPEN_ORDERS]!;
  }

  // Each `add…` requires a touched row.
  addLots(row: number, delta: number): void {
    this.add(row * WORDS + WORD.LOTS, delta);
  }
  addCost(row: number, delta: number): void {
    this.add(row * WORDS + WORD.COST, delta);
  }
  addMargin(row: number, delta: number): void {
    this.add(row * WORDS + WORD.MARGIN, delta);
  }
  addRealized(row: number, delta: number): void {
    this.add(row * WORDS + WORD.REALIZED, delta);
  }
  addFunding(row: number, delta: number): void {
    this.add(row * WORDS + WORD.FUNDING, delta);
  }
  addReserved(row: number, delta: number): void {
    this.add(row * WORDS + WORD.RESERVED, delta);
  }
  addRestingNotional(row: number, delta: number): void {
    this.add(row * WORDS + WORD.RESTING_NOTIONAL, delta);
  }
  addPendingNotional(row: number, delta: number): void {
    this.add(row * WORDS + WORD.PENDING_NOTIONAL, delta);
  }
  addOpenOrders(row: number, delta: number): void {
    this.add(row * WORDS + WORD.OPEN_ORDERS, delta);
  }

  /** First and last order of a list, or NONE. */
  head(row: number, list: List): number {
    return this.links[row * LINK_WORDS + list]!;
  }
  tail(row: number, list: List): number {
    return this.links[row * LINK_WORDS + list + 1]!;
  }
  /** Side whose resting orders close the position: 1, −1, or 0 while flat. */
  closingSide(row: number): number {
    return this.links[row * LINK_WORDS + CLOSING_SIDE]!;
  }
  setClosingSide(row: number, side: number): void {
    this.links[row * LINK_WORDS + CLOSING_SIDE] = side;
  }
  /** First order of the closing side whose lots are not all covered, or NONE. */
  frontier(row: number): number {
    return this.links[row * LINK_WORDS + FRONTIER]!;
  }
  setFrontier(row: number, order: number): void {
    this.links[row * LINK_WORDS + FRONTIER] = order;
  }
  /** Lots of the position that resting orders of the closing side cover. */
  covered(row: number): number {
    return this.coveredLots[row]!;
  }
  addCovered(row: number, delta: number): void {
    this.coveredLots[row] = this.coveredLots[row]! + delta;
  }
  reduceOnlyOrders(row: number, side: Side): number {
    return this.links[row * LINK_WORDS + (side === LONG ? REDUCE_ONLY_LONG : REDUCE_ONLY_SHORT)]!;
  }
  addReduceOnlyOrders(row: number, side: Side, delta: number): void {
    const at = row * LINK_WORDS + (side === LONG ? REDUCE_ONLY_LONG : REDUCE_ONLY_SHORT);
    this.links[at] = this.links[at]! + delta;
  }

  /** Appends an order to a list; ids rise, so the list stays in order. */
  append(row: number, list: List, order: number, { links }: OrderStore): void {
    const head = row * LINK_WORDS + list;
    const tail = this.links[head + 1]!;
    links[order * LINKS + LIST_PREV] = tail;
    links[order * LINKS + LIST_NEXT] = NONE;
    if (tail === NONE) this.links[head] = order;
    else links[tail * LINKS + LIST_NEXT] = order;
    this.links[head + 1] = order;
  }

  /** Removes an order from a list; a frontier moves on to the next order. */
  unlink(row: number, list: List, order: number, { links }: OrderStore): void {
    const head = row * LINK_WORDS + list;
    const previous = links[order * LINKS + LIST_PREV]!;
    const next = links[order * LINKS + LIST_NEXT]!;
    if (previous === NONE) this.links[head] = next;
    else links[previous * LINKS + LIST_NEXT] = next;
    if (next === NONE) this.links[head + 1] = previous;
    else links[next * LINKS + LIST_PREV] = previous;
    if (this.frontier(row) === order) this.setFrontier(row, next);
  }

  /** The account's row, or NONE. */
  rowOf(account: number): number {
    return account < this.rowOfAccount.length ? this.rowOfAccount[account]! : NONE;
  }

  /** The account's row, created if it has none; touched in both cases. */
  ensure(account: number): number {
    const known = this.rowOf(account);
    if (known !== NONE) {
      this.table.touch(known);
      return known;
    }
    const row = this.table.append();
    this.table.touch(row);
    this.table.data[row * WORDS + WORD.ACCOUNT] = account;
    this.adopt(row, account);
    return row;
  }

  /** Rows with a position, ascending account: an order that no history can change. */
  openRows(): number[] {
    return this.rowsWhere(WORD.LOTS);
  }
  rowsWithOrders(): number[] {
    return this.rowsWhere(WORD.OPEN_ORDERS);
  }
  allRows(): number[] {
    return this.rowsWhere(WORD.ACCOUNT);
  }

  /** Resets the derived parts, without orders. */
  reindex(): void {
    this.rowOfAccount.fill(NONE);
    for (let row = 0; row < this.table.rows; row++) {
      // A row whose command was undone has no account. It is not reused: rollbacks are rare (a
      // bug or an overflow).
      const account = this.account(row);
      if (account !== 0) this.adopt(row, account);
    }
  }

  private add(at: number, delta: number): void {
    const { data } = this.table;
    data[at] = data[at]! + delta;
  }

  private rowsWhere(word: number): number[] {
    const { data, rows: count } = this.table;
    const rows: number[] = [];
    for (let row = 0; row < count; row++) if (data[row * WORDS + word] !== 0) rows.push(row);
    return rows.sort((a, b) => this.account(a) - this.account(b));
  }

  private adopt(row: number, account: number): void {
    while (account >= this.rowOfAccount.length) {
      const wider = new Int32Array(this.rowOfAccount.length * 2).fill(NONE);
      wider.set(this.rowOfAccount);
      this.rowOfAccount = wider;
    }
    this.rowOfAccount[account] = row;
    if (row >= this.watch.length) this.growDerived(Math.max(row + 1, this.watch.length * 2));
    const base = row * LINK_WORDS;
    this.links.fill(NONE, base, base + CLOSING_SIDE);
    this.links.fill(0, base + CLOSING_SIDE, base + LINK_WORDS);
    this.links[base + FRONTIER] = NONE;
    this.coveredLots[row] = 0;
    this.watch[row] = 0;
  }

  private growDerived(capacity: number): void {
    const links = new Int32Array(capacity * LINK_WORDS);
    links.set(this.links);
    this.links = links;
    const covered = new Float64Array(capacity);
    covered.set(this.coveredLots);
    this.coveredLots = covered;
    const watch = new Float64Array(capacity);
    watch.set(this.watch);
    this.watch = watch;
  }
}
