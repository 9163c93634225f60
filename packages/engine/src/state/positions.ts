/**
 * Positions of one market, one row per account that ever traded there. Beside the table stand the
 * derived parts: the account's order lists, and one number per position that tells at which mark it
 * may have to be liquidated, so that marking 100,000 positions is one pass over one array.
 */
import { NONE } from "./orders.js";
import { Table, type UndoLog } from "./table.js";

export const POSITION_WORDS = 10;
export const POSITION = {
  ACCOUNT: 0,
  LOTS: 1,
  COST: 2,
  MARGIN: 3,
  REALIZED: 4,
  FUNDING: 5,
  /** Σ reserves of its resting orders. */
  RESERVED: 6,
  /** Σ opening lots × price of its resting orders, in micros. */
  RESTING_NOTIONAL: 7,
  /** Σ lots × price of its pending orders that are not reduce-only, in micros. */
  PENDING_NOTIONAL: 8,
  OPEN_ORDERS: 9,
} as const;

/** Derived words per position: list ends, closing capacity in use, reduce-only orders per side. */
export const PLINKS = 12;
export const PLINK = {
  LONG_HEAD: 0,
  LONG_TAIL: 1,
  SHORT_HEAD: 2,
  SHORT_TAIL: 3,
  PENDING_HEAD: 4,
  PENDING_TAIL: 5,
  /** Side whose resting orders close the position: 1, −1, or 0 while flat. */
  CLOSING_SIDE: 6,
  /** First order of that side whose lots are not all covered, or NONE. */
  FRONTIER: 7,
  REDUCE_ONLY_LONG: 8,
  REDUCE_ONLY_SHORT: 9,
} as const;

export class PositionStore {
  readonly table: Table;
  links = new Int32Array(16 * PLINKS);
  /** Lots of closing capacity handed out to resting orders. */
  given = new Float64Array(16);
  /**
   * Positive: a long, due for a closer look when mark ≤ it. Negative: a short, when mark ≥ its
   * magnitude. 0: flat.
   */
  watch = new Float64Array(16);
  private rowOfAccount = new Int32Array(16).fill(NONE);

  constructor(undo: UndoLog, market: number) {
    this.table = new Table(POSITION_WORDS, undo, 16, market);
  }

  /** The account's row, or NONE. */
  rowOf(account: number): number {
    return account < this.rowOfAccount.length ? this.rowOfAccount[account]! : NONE;
  }

  /** The account's row, made if it has none; touched either way. */
  ensure(account: number): number {
    const known = this.rowOf(account);
    if (known !== NONE) {
      this.table.touch(known);
      return known;
    }
    const row = this.table.append();
    this.table.touch(row);
    this.table.data[row * POSITION_WORDS + POSITION.ACCOUNT] = account;
    this.adopt(row, account);
    return row;
  }

  /** Drops the derived parts and makes them anew, without orders. */
  reindex(): void {
    this.rowOfAccount.fill(NONE);
    const data = this.table.data;
    for (let row = 0; row < this.table.rows; row++) {
      // A row whose command was undone has no account; it is not handed out again, which only
      // a rollback (a bug or an overflow) can cause.
      const account = data[row * POSITION_WORDS + POSITION.ACCOUNT]!;
      if (account !== 0) this.adopt(row, account);
    }
  }

  private adopt(row: number, account: number): void {
    while (account >= this.rowOfAccount.length) {
      const wider = new Int32Array(this.rowOfAccount.length * 2).fill(NONE);
      wider.set(this.rowOfAccount);
      this.rowOfAccount = wider;
    }
    this.rowOfAccount[account] = row;
    if (row >= this.given.length) this.growDerived(Math.max(row + 1, this.given.length * 2));
    const base = row * PLINKS;
    this.links.fill(NONE, base, base + 6);
    this.links[base + PLINK.CLOSING_SIDE] = 0;
    this.links[base + PLINK.FRONTIER] = NONE;
    this.links[base + PLINK.REDUCE_ONLY_LONG] = 0;
    this.links[base + PLINK.REDUCE_ONLY_SHORT] = 0;
    this.given[row] = 0;
    this.watch[row] = 0;
  }

  private growDerived(capacity: number): void {
    const links = new Int32Array(capacity * PLINKS);
    links.set(this.links);
    this.links = links;
    const given = new Float64Array(capacity);
    given.set(this.given);
    this.given = given;
    const watch = new Float64Array(capacity);
    watch.set(this.watch);
    this.watch = watch;
  }
}
