/**
 * Open orders: resting limits and pending stops of all markets in one table. A row is free while
 * its id is 0. The links (queue of a price level, list of an account) are derived and kept in a
 * separate array.
 */
import { type ClientIdWords, NO_CLIENT_ID } from "@perpgate/protocol/client-order-id";
import { LIMIT_ORDER, LONG, type PlaceOrder, SHORT, type Side, STOP_ORDER } from "../commands.js";
import { ClientIdIndex } from "./client-ids.js";
import { IdIndex, NONE } from "./id-index.js";
import { grown, int32, widen } from "./memory.js";
import { OrderExtrasStore, packed } from "./order-extras.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";
import { Table, type UndoLog } from "./table.js";

/**
 * A row is 16 words, two cache lines. The accessors below have the offsets as literals: a property or a
 * module constant would make them too large for V8 to inline always, which costs a tenth of `apply`.
 *
 * One word has the terms that are small numbers: from the lowest bit on whether it is a long, a stop,
 * reduce-only; 16 bits of the market; then the leverage.
 */
const IS_LONG = 1;
const IS_STOP = 2;
const IS_REDUCE_ONLY = 4;
const MARKET_SHIFT = 3;
const MARKETS = 1 << 16;
const LEVERAGE_UNIT = MARKETS << MARKET_SHIFT;

/** The words of an order in a snapshot, in this order; see `wordsOf`. */
export const ORDER_WORDS = 20;
/** A command queues fewer orders than this; a rank is its seq × this + the order's turn within it. */
export const RANKS_PER_COMMAND = 256;

/** The terms of an order, as its command has them. */
export type OrderRowTerms = Pick<
  PlaceOrder,
  | "market"
  | "side"
  | "type"
  | "priceTicks"
  | "marginMicros"
  | "leverage"
  | "reduceOnly"
  | "postOnly"
  | "session"
>;

export { NONE };
/** Words per order in `links`: its level's slot, and both neighbours in queue, list and list by kind. */
export const LINKS = 7;
export const LEVEL = 0;
export const LEVEL_PREV = 1;
export const LEVEL_NEXT = 2;
export const LIST_PREV = 3;
const LIST_NEXT = 4;
export const KIND_PREV = 5;
const KIND_NEXT = 6;

export class OrderStore {
  readonly table: Table;
  readonly extras: OrderExtrasStore;
  readonly index: IdIndex;
  readonly clientIds: ClientIdIndex;
  links = int32(16 * LINKS);
  private free = int32(16);
  private freeCount = 0;

  constructor(undo: UndoLog, seed: HashSeed = FIXED_SEED) {
    this.table = new Table(16, undo);
    this.extras = new OrderExtrasStore(undo, seed);
    this.index = new IdIndex(undefined, seed, this.table);
    this.clientIds = new ClientIdIndex(this, seed);
  }

  get open(): number {
    return this.table.rows - this.freeCount;
  }

  id(row: number): number {
    return this.table.data[row * 16 + 0]!;
  }
  market(row: number): number {
    return (this.table.data[row * 16 + 1]! >> MARKET_SHIFT) & (MARKETS - 1);
  }
  account(row: number): number {
    return this.table.data[row * 16 + 2]!;
  }
  /** Row of the (account, market) position; derived. */
  position(row: number): number {
    return this.table.data[row * 16 + 3]!;
  }
  setPosition(row: number, position: number): void {
    this.table.data[row * 16 + 3] = position;
  }
  side(row: number): Side {
    return (this.table.data[row * 16 + 1]! & IS_LONG) !== 0 ? LONG : SHORT;
  }
  isStop(row: number): boolean {
    return (this.table.data[row * 16 + 1]! & IS_STOP) !== 0;
  }
  /** A stop becomes a limit order when it is triggered, if it has a limit. */
  setLimitType(row: number): void {
    this.table.data[row * 16 + 1]! -= IS_STOP;
    this.table.data[row * 16 + 10] = 0;
  }
  price(row: number): number {
    return this.table.data[row * 16 + 4]!;
  }
  setPrice(row: number, ticks: number): void {
    this.table.data[row * 16 + 4] = ticks;
  }
  /** Its lots in all: those that are filled and those that remain. */
  lots(row: number): number {
    return this.table.data[row * 16 + 5]!;
  }
  setLots(row: number, lots: number): void {
    this.table.data[row * 16 + 5] = lots;
  }
  remaining(row: number): number {
    return this.table.data[row * 16 + 6]!;
  }
  setRemaining(row: number, lots: number): void {
    this.table.data[row * 16 + 6] = lots;
  }
  /** Lots covered by the position that the order would close. */
  closing(row: number): number {
    return this.table.data[row * 16 + 7]!;
  }
  setClosing(row: number, lots: number): void {
    this.table.data[row * 16 + 7] = lots;
  }
  reserve(row: number): number {
    return this.table.data[row * 16 + 8]!;
  }
  setReserve(row: number, micros: number): void {
    this.table.data[row * 16 + 8] = micros;
  }
  /** The margin that it was sent with; 0: none. */
  margin(row: number): number {
    return this.table.data[row * 16 + 9]!;
  }
  /**
   * Of an exit, which is sent without a margin, the word holds the seq of the command in which it began to
   * cover lots.
   */
  coversSince(row: number): number {
    return this.table.data[row * 16 + 9]!;
  }
  setCoversSince(row: number, seq: number): void {
    this.table.data[row * 16 + 9] = seq;
  }
  leverage(row: number): number {
    return Math.floor(this.table.data[row * 16 + 1]! / LEVERAGE_UNIT);
  }
  isReduceOnly(row: number): boolean {
    return (this.table.data[row * 16 + 1]! & IS_REDUCE_ONLY) !== 0;
  }
  isPostOnly(row: number): boolean {
    return this.table.data[row * 16 + 10] !== 0 && !this.isStop(row);
  }
  /** Of a pending stop under version 3, in the word that says of limit orders whether they only post. */
  line(row: number): number {
    return (this.table.data[row * 16 + 10]! % 128) - 1;
  }
  /** Seq of the tick that moved a stop to its line; 0 if none did. */
  movedAt(row: number): number {
    return Math.floor(this.table.data[row * 16 + 10]! / 128);
  }
  setLine(row: number, line: number, movedAt = 0): void {
    this.table.data[row * 16 + 10] = 128 * movedAt + line + 1;
  }
  /** The session that placed it. */
  session(row: number): number {
    return this.table.data[row * 16 + 11]!;
  }
  /** Opening lots × price × unit, as counted in the position's resting notional. */
  openingNotional(row: number): number {
    return this.table.data[row * 16 + 12]!;
  }
  setOpeningNotional(row: number, micros: number): void {
    this.table.data[row * 16 + 12] = micros;
  }

  /** Its place in the queue and in its account's lists: see RANKS_PER_COMMAND. */
  rank(row: number): number {
    return this.table.data[row * 16 + 13]!;
  }
  setRank(row: number, rank: number): void {
    this.table.data[row * 16 + 13] = rank;
  }
  /** Cap on all positions of the session that placed or last amended it, in micros; 0: none. It outlives the session. */
  maxNotional(row: number): number {
    return this.table.data[row * 16 + 14]!;
  }
  setMaxNotional(row: number, micros: number): void {
    this.table.data[row * 16 + 14] = micros;
  }
  /** Row of its extras, below NONE if they are packed, or NONE for a plain order. */
  extrasRow(row: number): number {
    return this.table.data[row * 16 + 15]! - 1;
  }
  private setExtrasRow(row: number, extrasRow: number): void {
    this.table.data[row * 16 + 15] = extrasRow + 1;
  }
  /** Gives an order extras: the words of a row (order-extras.ts). A stop's are packed if they can be. */
  addExtras(row: number, words: Float64Array): number {
    let extras = this.isStop(row) ? packed(words) : NONE;
    if (extras === NONE) extras = this.extras.add(this.account(row), words);
    this.setExtrasRow(row, extras);
    return extras;
  }
  /** The row of its extras, to be written to; the order is touched already, and has some. */
  ownExtrasRow(row: number): number {
    const extras = this.extrasRow(row);
    if (extras > NONE) return extras;
    const own = this.extras.add(this.account(row), this.extras.wordsOf(extras, this.id(row)));
    this.setExtrasRow(row, own);
    return own;
  }

  /** Whether it closes the whole position when it triggers. */
  closesPosition(row: number): boolean {
    const extras = this.extrasRow(row);
    return extras !== NONE && this.extras.closesPosition(extras);
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
  /** Neighbours in the account's list of orders of its kind, or NONE. */
  nextOfKind(row: number): number {
    return this.links[row * LINKS + KIND_NEXT]!;
  }
  previousOfKind(row: number): number {
    return this.links[row * LINKS + KIND_PREV]!;
  }

  /** Writes a new order into a free row, and into the id index; the links are not set. */
  add(
    id: number,
    account: number,
    position: number,
    order: OrderRowTerms,
    lots: number,
    remainingLots: number,
  ): number {
    const row = this.allocate();
    this.table.touchFree(row);
    const { data } = this.table;
    const at = row * 16;
    const { market, side, type, leverage, reduceOnly } = order;
    data[at] = id;
    data[at + 1] = termsWord(market, side, type === STOP_ORDER, leverage, reduceOnly);
    data[at + 2] = account;
    data[at + 3] = position;
    data[at + 4] = order.priceTicks;
    data[at + 5] = lots;
    data[at + 6] = remainingLots;
    data[at + 7] = 0;
    data[at + 8] = 0;
    data[at + 9] = order.marginMicros;
    data[at + 10] = order.postOnly ? 1 : 0;
    data[at + 11] = order.session;
    data[at + 12] = 0;
    data[at + 13] = id * 256;
    data[at + 14] = 0;
    data[at + 15] = 0;
    this.index.set(id, row);
    return row;
  }

  /** The client's id of the order; zeros for none. */
  clientId(row: number): ClientIdWords {
    const extras = this.extrasRow(row);
    return extras === NONE ? NO_CLIENT_ID : this.extras.clientId(extras);
  }

  release(row: number): void {
    const extras = this.extrasRow(row);
    if (extras !== NONE) {
      this.clientIds.remove(row);
      this.extras.release(extras);
    }
    this.index.delete(this.id(row));
    this.table.data[row * 16 + 0] = 0;
    this.pushFree(row);
  }

  /** Takes back the last row that was released, whose words are restored. */
  reclaim(row: number): void {
    if (this.free[--this.freeCount] !== row) throw new Error("rows are reclaimed last first");
    this.index.set(this.id(row), row);
    const extras = this.extrasRow(row);
    if (extras === NONE) return;
    this.extras.reclaim(extras);
    this.clientIds.add(row);
  }

  /** The words of a snapshot. Rows of the position and of the extras differ between equal states: not they. */
  wordsOf(row: number): Float64Array {
    const { data } = this.table;
    const at = row * 16;
    return Float64Array.of(
      data[at]!,
      this.market(row),
      data[at + 2]!,
      0,
      this.side(row),
      this.isStop(row) ? STOP_ORDER : LIMIT_ORDER,
      ...data.subarray(at + 4, at + 10),
      this.leverage(row),
      this.isReduceOnly(row) ? 1 : 0,
      ...data.subarray(at + 10, at + 15),
      this.extrasRow(row) === NONE ? 0 : 1,
    );
  }

  /** Appends a row of a snapshot, without its extras; returns its number. */
  appendWords(words: Float64Array): number {
    const row = this.table.append();
    const { data } = this.table;
    const at = row * 16;
    const [, market, , , side, type, , , , , , , leverage, reduceOnly] = words;
    data[at] = words[0]!;
    data[at + 1] = termsWord(market!, side!, type === STOP_ORDER, leverage!, reduceOnly !== 0);
    data[at + 2] = words[2]!;
    data.set(words.subarray(6, 12), at + 4);
    data.set(words.subarray(14, 19), at + 10);
    return row;
  }

  /** Rows in use, ascending id. */
  openRows(): number[] {
    const rows: number[] = [];
    for (let row = 0; row < this.table.rows; row++) if (this.id(row) !== 0) rows.push(row);
    return rows.sort((a, b) => this.id(a) - this.id(b));
  }

  /** Rows in use, in the order of queues and lists. */
  rowsByRank(): number[] {
    return this.openRows().sort((a, b) => this.rank(a) - this.rank(b));
  }

  /** Rebuilds the id index and the free list from the table. */
  reindex(): void {
    this.table.restartGrowth();
    this.extras.reindex();
    this.index.clear();
    this.clientIds.clear();
    this.freeCount = 0;
    for (let row = 0; row < this.table.rows; row++) {
      const id = this.id(row);
      if (id === 0) this.pushFree(row);
      else this.enter(id, row);
    }
    while (this.links.length < this.table.rows * LINKS) {
      this.links = int32(grown(this.links.length / LINKS) * LINKS);
    }
  }

  private enter(id: number, row: number): void {
    this.index.set(id, row);
    this.clientIds.add(row);
    const extras = this.extrasRow(row);
    if (extras !== NONE) this.extras.enter(extras, this.account(row));
  }

  private allocate(): number {
    const row = this.freeCount > 0 ? this.free[--this.freeCount]! : this.table.append();
    if (row * LINKS >= this.links.length) {
      this.links = widen(this.links, int32(grown(this.links.length / LINKS) * LINKS));
    }
    return row;
  }

  private pushFree(row: number): void {
    if (this.freeCount === this.free.length) {
      this.free = widen(this.free, int32(grown(this.free.length)));
    }
    this.free[this.freeCount++] = row;
  }
}

function termsWord(
  market: number,
  side: number,
  isStop: boolean,
  leverage: number,
  isReduceOnly: boolean,
): number {
  const bits =
    (side === LONG ? IS_LONG : 0) | (isStop ? IS_STOP : 0) | (isReduceOnly ? IS_REDUCE_ONLY : 0);
  return bits + market * (1 << MARKET_SHIFT) + leverage * LEVERAGE_UNIT;
}
