/**
 * Rows of integers in one Float64Array, with undo.
 *
 * Before a command changes a row it calls `touch(row)`, which saves the row's old words once per
 * command. If an invariant fails, `UndoLog.rollback` restores all of them, so that no command is
 * left half applied. Tables are primary state; indexes over them (book, lists, queues) are derived,
 * and are rebuilt after a rollback as after a restore.
 *
 * A large table grows while commands go on: copying 1,000,000 rows in one command would hold up the
 * order path for 100 ms. Reads and writes go to the old array until the larger one has every row; the
 * rows that a command changes are known to the undo log and are copied again before the next one.
 */

import { float64, int32, widen } from "./memory.js";

/** A table of fewer words than this is copied in one go when it grows. */
const SMALL_WORDS = 1 << 15;
/** Rows that each command copies while a table grows. */
const COPIED_ROWS = 64;

export class Table {
  data: Float64Array;
  /** Rows in use or free; row 0 is the first. */
  rows = 0;
  /** The last epoch in which each row was saved. */
  private savedAt: Int32Array;
  /** While the table grows: the larger array, and how many rows it has so far. */
  private next: Float64Array | null = null;
  private copied = 0;

  constructor(
    readonly stride: number,
    private readonly undo: UndoLog,
    capacity = 16,
    /** For a market's positions its number, else −1. */
    readonly market = -1,
  ) {
    this.data = float64(capacity * stride);
    this.savedAt = int32(capacity);
    undo.know(this);
  }

  /** Appends a row of zeros and returns its number. */
  append(): number {
    const row = this.rows;
    if (row === this.savedAt.length) this.growNow();
    this.rows = row + 1;
    if (this.isHalfFull && this.data.length > SMALL_WORDS) this.undo.grow(this);
    return row;
  }

  /** From here on every command copies a few rows into the larger array. */
  private get isHalfFull(): boolean {
    return 2 * this.rows >= this.savedAt.length;
  }

  /** Must precede every write to the row. */
  touch(row: number): void {
    if (this.savedAt[row] === this.undo.epoch) return;
    this.savedAt[row] = this.undo.epoch;
    this.undo.save(this, row);
  }

  /** Reads what a later `touch` and the accessors read, so that it is in the cache by then. */
  warm(row: number): number {
    const at = row * this.stride;
    return this.savedAt[row]! + this.data[at]! + this.data[at + this.stride - 1]!;
  }

  /** Instead of `touch` before a free row is written: undone, it is a row of zeros. */
  touchFree(row: number): void {
    if (this.savedAt[row] === this.undo.epoch) return;
    this.savedAt[row] = this.undo.epoch;
    this.undo.noteFree(this, row);
  }

  /** Epochs begin again: no row was saved in one that is to come. */
  forgetSaved(): void {
    this.savedAt.fill(0);
  }

  /** Before a command: copies the next rows into the larger array; returns whether it is in use. */
  copyMore(): boolean {
    if (!this.isHalfFull) return true;
    this.next ??= float64(2 * this.data.length);
    const end = Math.min(this.rows, this.copied + COPIED_ROWS);
    this.copy(this.next, this.copied, end);
    this.copied = end;
    if (end < this.rows) return false;
    this.data = this.next;
    // No row is saved yet in the epoch that begins.
    this.savedAt = int32(2 * this.savedAt.length);
    this.next = null;
    this.copied = 0;
    return true;
  }

  /** Copies a row again that the last command has changed. */
  copyAgain(row: number): void {
    if (this.next !== null && row < this.copied) this.copy(this.next, row, row + 1);
  }

  /** After changes to rows that no command has touched: all are copied again. */
  restartGrowth(): void {
    this.copied = 0;
  }

  private copy(to: Float64Array, row: number, end: number): void {
    to.set(this.data.subarray(row * this.stride, end * this.stride), row * this.stride);
  }

  /** For tables that are small or filled without commands, as when a snapshot is read. */
  private growNow(): void {
    this.data = widen(this.data, float64(2 * this.data.length));
    this.savedAt = widen(this.savedAt, int32(2 * this.savedAt.length));
    this.next = null;
    this.copied = 0;
  }
}

const LAST_EPOCH = 2 ** 31 - 1;

export class UndoLog {
  /** Rises with every command; a row saved in this epoch is not saved again. */
  epoch = 1;
  /** The saved rows of the command in progress, in order of first touch. */
  readonly tables: Table[] = [];
  readonly rows: number[] = [];
  /** Where the old words of each begin in `words`; −1 for a row that was free. */
  private readonly starts: number[] = [];
  count = 0;
  private words = new Float64Array(1 << 12);
  private used = 0;
  private growing: Table[] = [];
  private readonly known: Table[] = [];

  /** Every table says so once. */
  know(table: Table): void {
    this.known.push(table);
  }

  begin(): void {
    if (this.growing.length > 0) this.copyTables();
    if (this.epoch === LAST_EPOCH) {
      for (const table of this.known) table.forgetSaved();
      this.epoch = 0;
    }
    this.epoch++;
    this.count = 0;
    this.used = 0;
  }

  /** From now on each command copies a part of the table, until it has grown. */
  grow(table: Table): void {
    if (!this.growing.includes(table)) this.growing.push(table);
  }

  save(table: Table, row: number): void {
    const stride = table.stride;
    if (this.used + stride > this.words.length) this.growWords();
    const from = row * stride;
    const { words, used } = this;
    const data = table.data;
    for (let i = 0; i < stride; i++) words[used + i] = data[from + i]!;
    this.used = used + stride;
    this.starts[this.count] = used;
    this.tables[this.count] = table;
    this.rows[this.count] = row;
    this.count++;
  }

  noteFree(table: Table, row: number): void {
    this.starts[this.count] = -1;
    this.tables[this.count] = table;
    this.rows[this.count] = row;
    this.count++;
  }

  /** A word of the first row that the command saved. */
  savedWord(field: number): number {
    return this.words[field]!;
  }

  /** An old word of the i-th row, which was not free. */
  savedWordOf(i: number, field: number): number {
    return this.words[this.starts[i]! + field]!;
  }

  rollback(): void {
    for (let i = this.count - 1; i >= 0; i--) {
      const { data, stride } = this.tables[i]!;
      const at = this.rows[i]! * stride;
      const start = this.starts[i]!;
      if (start < 0) data.fill(0, at, at + stride);
      else data.set(this.words.subarray(start, start + stride), at);
    }
    this.begin();
  }

  private copyTables(): void {
    for (let i = 0; i < this.count; i++) this.tables[i]!.copyAgain(this.rows[i]!);
    this.growing = this.growing.filter((table) => !table.copyMore());
  }

  private growWords(): void {
    const words = new Float64Array(this.words.length * 2);
    words.set(this.words);
    this.words = words;
  }
}
