/**
 * Positions of one market, one row per account that ever traded there. Kept next to the table, and
 * derived from it: the lists of the account's orders, and per position the mark at which it may be
 * due for liquidation, so that checking 100,000 positions against a mark is one pass over one array.
 */
import { LONG, type Side } from "../commands.js";
import { float64, grown, int32, uint8, widen } from "./memory.js";
import { KIND_PREV, LINKS, LIST_PREV, NONE, type OrderStore } from "./orders.js";
import { Table, type UndoLog } from "./table.js";

/** The words of a row, in the order of the snapshot format; literals, see orders.ts. */
export const POSITION_WORDS = 12;

/** The lists of an account's open orders, ascending rank; the number is that of the head's word. */
export const LONG_LIST = 0;
export const SHORT_LIST = 2;
export const STOP_LIST = 4;
export const ORDER_LISTS = [LONG_LIST, SHORT_LIST, STOP_LIST] as const;
/**
 * And those of orders that a rule looks for: reduce-only ones, those that close the position, and by side
 * the resting ones that may open. Also ascending rank; a pending order that may open is in none.
 */
export const REDUCE_ONLY_LIST = 16;
export const CLOSING_LIST = 18;
export const LONG_ENTRY_LIST = 20;
export const SHORT_ENTRY_LIST = 22;
export const KIND_LISTS = [
  REDUCE_ONLY_LIST,
  CLOSING_LIST,
  LONG_ENTRY_LIST,
  SHORT_ENTRY_LIST,
] as const;
type OrderList = (typeof ORDER_LISTS)[number];
export type List = OrderList | (typeof KIND_LISTS)[number];

/** The list of resting orders of that side. */
export function restingList(side: Side): OrderList {
  return side === LONG ? LONG_LIST : SHORT_LIST;
}

/** The word of an order's links that names its previous neighbour in that list; the next follows it. */
function previousLink(list: List): number {
  return list < REDUCE_ONLY_LIST ? LIST_PREV : KIND_PREV;
}

/** Rows that a pass over the watches skips together. */
export const WATCH_BLOCK = 16;

/** The watch of a row without a position of that side: no mark reaches it. */
export const NO_WATCH = -(2 ** 100);

export function blockOf(row: number): number {
  return row >>> 4;
}

const SHORT_CLASS = 64;

/** 0 for flat, else the number of bits of |lots|, and 64 more for a short. */
function sizeClass(lots: number): number {
  const size = Math.abs(lots);
  const bits = size < 2 ** 32 ? 32 - Math.clz32(size) : 64 - Math.clz32(size / 2 ** 32);
  return lots < 0 ? SHORT_CLASS + bits : bits;
}

/** By size class: an order of that side closes a position of the class only if it has fewer lots. */
export function closingBounds(side: Side): Float64Array {
  const first = side === LONG ? SHORT_CLASS : 0;
  const bounds = new Float64Array(2 * SHORT_CLASS);
  for (let bits = 1; bits < SHORT_CLASS; bits++) bounds[first + bits] = 2 ** bits;
  return bounds;
}

export class PositionStore {
  readonly table: Table;
  /** For rows that are not of that side NO_WATCH; money/watch.ts says what the figures mean. */
  longWatch = float64(WATCH_BLOCK);
  shortWatch = float64(WATCH_BLOCK);
  /** Per block of rows, no less than the highest watch of either side. */
  longBounds = float64(1);
  shortBounds = float64(1);
  /** And no less than its largest number of lots. */
  sizeBounds = float64(1);
  /**
   * As of its last refresh, dense, because passes over all rows read them: lots, cost, and the margin
   * with what the lots would owe if all of the cumulative funding were theirs.
   */
  held = float64(WATCH_BLOCK);
  costs = float64(WATCH_BLOCK);
  worths = float64(WATCH_BLOCK);
  /** The cumulative funding that watches are relative to, those of rows below `rewatched` apart. */
  watchBase = 0;
  nextWatchBase = 0;
  rewatched = 0;
  /** What a byte can tell of them, for passes in random order: see `sizeClass`. */
  sizes = uint8(WATCH_BLOCK);
  /** Rows whose cost or margin has changed, while the liquidations of a tick want to know; else null. */
  changed: number[] | null = null;
  /**
   * Twenty-five words per row: head and tail of the three lists (0–5), closing side (6), frontier (7), and,
   * long then short, the numbers of reduce-only orders (8, 9), of those that close the position (10, 11)
   * and of all others (12, 13); the triggered stops that close it, by trigger (14, 15); last head and tail
   * of the four lists by kind (16–23), and the newest pair of exits that covers lots (24).
   */
  private links = int32(WATCH_BLOCK * 25);
  private coveredLots = float64(WATCH_BLOCK);
  /** Stops in lines of the market (state/stop-lines.ts). */
  private stopCounts = int32(WATCH_BLOCK);
  /** Rows that the arrays next to the table have room for. */
  private capacity = WATCH_BLOCK;
  /** The account's row + 1; 0 if it has none. */
  private rowOfAccount = int32(16);

  constructor(undo: UndoLog, market: number) {
    this.table = new Table(12, undo, 16, market);
  }

  account(row: number): number {
    return this.table.data[row * 12 + 0]!;
  }
  lots(row: number): number {
    return this.table.data[row * 12 + 1]!;
  }
  cost(row: number): number {
    return this.table.data[row * 12 + 2]!;
  }
  margin(row: number): number {
    return this.table.data[row * 12 + 3]!;
  }
  realized(row: number): number {
    return this.table.data[row * 12 + 4]!;
  }
  funding(row: number): number {
    return this.table.data[row * 12 + 5]!;
  }
  /** Σ reserves of its resting orders. */
  reserved(row: number): number {
    return this.table.data[row * 12 + 6]!;
  }
  /** Σ opening lots × price of its resting orders, in micros. */
  restingNotional(row: number): number {
    return this.table.data[row * 12 + 7]!;
  }
  /** Σ lots × price of its pending orders that are not reduce-only, in micros. */
  pendingNotional(row: number): number {
    return this.table.data[row * 12 + 8]!;
  }
  openOrders(row: number): number {
    return this.table.data[row * 12 + 9]!;
  }

  /** The market's cumulative funding when it was last settled: micros per lot, and billionths. */
  settledFunding(row: number): number {
    return this.table.data[row * 12 + 10]!;
  }
  settledFundingBillionths(row: number): number {
    return this.table.data[row * 12 + 11]!;
  }
  setSettledFunding(row: number, microsPerLot: number, billionths: number): void {
    this.table.data[row * 12 + 10] = microsPerLot;
    this.table.data[row * 12 + 11] = billionths;
  }

  // Each `add…` requires a touched row.
  addLots(row: number, delta: number): void {
    this.add(row * 12 + 1, delta);
  }
  addCost(row: number, delta: number): void {
    this.add(row * 12 + 2, delta);
  }
  addMargin(row: number, delta: number): void {
    this.add(row * 12 + 3, delta);
  }
  addRealized(row: number, delta: number): void {
    this.add(row * 12 + 4, delta);
  }
  addFunding(row: number, delta: number): void {
    this.add(row * 12 + 5, delta);
  }
  addReserved(row: number, delta: number): void {
    this.add(row * 12 + 6, delta);
  }
  addRestingNotional(row: number, delta: number): void {
    this.add(row * 12 + 7, delta);
  }
  addPendingNotional(row: number, delta: number): void {
    this.add(row * 12 + 8, delta);
  }
  addOpenOrders(row: number, delta: number): void {
    this.add(row * 12 + 9, delta);
  }

  /** First and last order of a list, or NONE. */
  head(row: number, list: List): number {
    return this.links[row * 25 + list]!;
  }
  tail(row: number, list: List): number {
    return this.links[row * 25 + list + 1]!;
  }
  /** Side whose resting orders close the position: 1, −1, or 0 while flat. */
  closingSide(row: number): number {
    return this.links[row * 25 + 6]!;
  }
  setClosingSide(row: number, side: number): void {
    this.links[row * 25 + 6] = side;
  }
  /** First order of the closing side whose lots are not all covered, or NONE. */
  frontier(row: number): number {
    return this.links[row * 25 + 7]!;
  }
  setFrontier(row: number, order: number): void {
    this.links[row * 25 + 7] = order;
  }
  /** Lots of the position that resting orders of the closing side cover. */
  covered(row: number): number {
    return this.coveredLots[row]!;
  }
  addCovered(row: number, delta: number): void {
    this.coveredLots[row] = this.coveredLots[row]! + delta;
  }
  stops(row: number): number {
    return this.stopCounts[row]!;
  }
  addStops(row: number, delta: number): void {
    this.stopCounts[row] = this.stopCounts[row]! + delta;
  }
  reduceOnlyOrders(row: number, side: Side): number {
    return this.links[row * 25 + (side === LONG ? 8 : 9)]!;
  }
  addReduceOnlyOrders(row: number, side: Side, delta: number): void {
    const at = row * 25 + (side === LONG ? 8 : 9);
    this.links[at] = this.links[at]! + delta;
  }

  /** Open orders that close the position, whatever its size. */
  closePositionOrders(row: number, side: Side): number {
    return this.links[row * 25 + (side === LONG ? 10 : 11)]!;
  }
  addClosePositionOrders(row: number, side: Side, delta: number): void {
    const at = row * 25 + (side === LONG ? 10 : 11);
    this.links[at] = this.links[at]! + delta;
  }
  /** Open orders, resting and pending, that could open a position of that side. */
  entryOrders(row: number, side: Side): number {
    return this.links[row * 25 + (side === LONG ? 12 : 13)]!;
  }
  addEntryOrders(row: number, side: Side, delta: number): void {
    const at = row * 25 + (side === LONG ? 12 : 13);
    this.links[at] = this.links[at]! + delta;
  }

  /** The triggered stop that closes this position, by what triggered it, or NONE; from version 3. */
  triggeredStop(row: number, trigger: number): number {
    return this.links[row * 25 + 14 + trigger]!;
  }
  setTriggeredStop(row: number, trigger: number, order: number): void {
    this.links[row * 25 + 14 + trigger] = order;
  }
  forgetTriggeredStop(row: number, order: number): void {
    const at = row * 25 + 14;
    if (this.links[at] === order) this.links[at] = NONE;
    if (this.links[at + 1] === order) this.links[at + 1] = NONE;
  }

  /** The newest pair of exits that covers lots of the position (exit-pairs.ts), or NONE. */
  newestPair(row: number): number {
    return this.links[row * 25 + 24]!;
  }
  setNewestPair(row: number, pair: number): void {
    this.links[row * 25 + 24] = pair;
  }

  /** Appends an order to a list; its rank is the highest, so the list stays in order. */
  append(row: number, list: List, order: number, { links }: OrderStore): void {
    const head = row * 25 + list;
    const previous = previousLink(list);
    const tail = this.links[head + 1]!;
    links[order * LINKS + previous] = tail;
    links[order * LINKS + previous + 1] = NONE;
    if (tail === NONE) this.links[head] = order;
    else links[tail * LINKS + previous + 1] = order;
    this.links[head + 1] = order;
  }

  /** Removes an order from a list; a frontier moves on to the next order. */
  unlink(row: number, list: List, order: number, { links }: OrderStore): void {
    const head = row * 25 + list;
    const link = previousLink(list);
    const previous = links[order * LINKS + link]!;
    const next = links[order * LINKS + link + 1]!;
    if (previous === NONE) this.links[head] = next;
    else links[previous * LINKS + link + 1] = next;
    if (next === NONE) this.links[head + 1] = previous;
    else links[next * LINKS + link] = previous;
    if (link === LIST_PREV && this.frontier(row) === order) this.setFrontier(row, next);
  }

  setWatches(row: number, long: number, short: number): void {
    const block = blockOf(row);
    this.longWatch[row] = long;
    this.shortWatch[row] = short;
    if (long > this.longBounds[block]!) this.longBounds[block] = long;
    if (short > this.shortBounds[block]!) this.shortBounds[block] = short;
  }

  /** Makes the bounds of a block exact. */
  tightenBounds(from: number, to: number): void {
    const { longWatch, shortWatch, held } = this;
    let long = NO_WATCH;
    let short = NO_WATCH;
    let size = 0;
    for (let row = from; row < to; row++) {
      long = Math.max(long, longWatch[row]!);
      short = Math.max(short, shortWatch[row]!);
      size = Math.max(size, Math.abs(held[row]!));
    }
    const block = blockOf(from);
    this.longBounds[block] = long;
    this.shortBounds[block] = short;
    this.sizeBounds[block] = size;
  }

  /** Before the watches of all these rows are set: whole blocks, the last one apart. */
  clearBounds(from: number, to: number): void {
    this.longBounds.fill(NO_WATCH, blockOf(from), blockOf(to + WATCH_BLOCK - 1));
    this.shortBounds.fill(NO_WATCH, blockOf(from), blockOf(to + WATCH_BLOCK - 1));
  }

  /** Puts an order back that was unlinked, in the reverse order; the frontier is not changed. */
  relink(row: number, list: List, order: number, { links }: OrderStore): void {
    const head = row * 25 + list;
    const link = previousLink(list);
    const previous = links[order * LINKS + link]!;
    const next = links[order * LINKS + link + 1]!;
    if (previous === NONE) this.links[head] = order;
    else links[previous * LINKS + link + 1] = order;
    if (next === NONE) this.links[head + 1] = order;
    else links[next * LINKS + link] = order;
  }

  /** Reads what the rules of orders read next to the table; see `Table.warm`. */
  warm(row: number): number {
    return this.links[row * 25]! + this.coveredLots[row]!;
  }

  /** Refreshes what is kept of the position next to the table. */
  hold(row: number, lots: number, costMicros: number, worthMicros: number): void {
    this.held[row] = lots;
    const size = Math.abs(lots);
    if (size > this.sizeBounds[blockOf(row)]!) this.sizeBounds[blockOf(row)] = size;
    this.sizes[row] = sizeClass(lots);
    this.costs[row] = costMicros;
    this.worths[row] = worthMicros;
  }

  /** The account's row, or NONE. */
  rowOf(account: number): number {
    return account < this.rowOfAccount.length ? this.rowOfAccount[account]! - 1 : NONE;
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
    this.table.data[row * 12 + 0] = account;
    this.adopt(row, account);
    return row;
  }

  /** Writes the account of a row again whose first command was undone. */
  reopen(row: number, account: number): void {
    this.table.touch(row);
    this.table.data[row * 12 + 0] = account;
  }

  /** Rows with a position, ascending account: an order that no history can change. */
  openRows(): number[] {
    return this.rowsWhere(1);
  }
  rowsWithOrders(): number[] {
    return this.rowsWhere(9);
  }
  allRows(): number[] {
    return this.rowsWhere(0);
  }

  /** Resets the derived parts, without orders. */
  reindex(): void {
    this.changed = null;
    this.table.restartGrowth();
    this.rowOfAccount.fill(0);
    for (let row = 0; row < this.table.rows; row++) {
      // A row whose command was undone has no account. It is not reused: rollbacks are rare (a
      // bug or an overflow).
      const account = this.account(row);
      if (account !== 0) this.adopt(row, account);
    }
  }

  private add(at: number, delta: number): void {
    this.table.data[at]! += delta;
  }

  private rowsWhere(word: number): number[] {
    const { data, rows: count } = this.table;
    const rows: number[] = [];
    for (let row = 0; row < count; row++) if (data[row * 12 + word] !== 0) rows.push(row);
    return rows.sort((a, b) => this.account(a) - this.account(b));
  }

  private adopt(row: number, account: number): void {
    while (account >= this.rowOfAccount.length) {
      const accounts = grown(this.rowOfAccount.length);
      this.rowOfAccount = widen(this.rowOfAccount, int32(accounts));
    }
    this.rowOfAccount[account] = row + 1;
    while (row >= this.capacity) this.widen();
    const base = row * 25;
    this.links.fill(NONE, base, base + 6);
    this.links.fill(0, base + 6, base + 14);
    this.links[base + 7] = NONE;
    this.links.fill(NONE, base + 14, base + 25);
    this.coveredLots[row] = 0;
    this.stopCounts[row] = 0;
    if (row % WATCH_BLOCK === 0) this.clearBounds(row, row + 1);
    this.setWatches(row, NO_WATCH, NO_WATCH);
    this.hold(row, 0, 0, 0);
  }

  /** Makes room for more rows in the arrays next to the table. */
  private widen(): void {
    const rows = grown(this.capacity);
    this.links = widen(this.links, int32(rows * 25));
    this.coveredLots = widen(this.coveredLots, float64(rows));
    this.stopCounts = widen(this.stopCounts, int32(rows));
    this.longWatch = widen(this.longWatch, float64(rows));
    this.shortWatch = widen(this.shortWatch, float64(rows));
    this.longBounds = widen(this.longBounds, float64(blockOf(rows)));
    this.shortBounds = widen(this.shortBounds, float64(blockOf(rows)));
    this.sizeBounds = widen(this.sizeBounds, float64(blockOf(rows)));
    this.held = widen(this.held, float64(rows));
    this.costs = widen(this.costs, float64(rows));
    this.worths = widen(this.worths, float64(rows));
    this.sizes = widen(this.sizes, uint8(rows));
    this.capacity = rows;
  }
}
