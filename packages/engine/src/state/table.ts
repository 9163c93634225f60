/**
 * Rows of integers in one Float64Array, with undo.
 *
 * Before a command changes a row it calls `touch(row)`, which saves the row's old words once per
 * command. If an invariant fails, `UndoLog.rollback` restores all of them, so that no command is
 * left half applied. Tables are primary state; indexes over them (book, lists, queues) are derived,
 * and are rebuilt after a rollback as after a restore.
 */

export class Table {
  data: Float64Array;
  /** Rows in use or free; row 0 is the first. */
  rows = 0;
  private savedAt: Float64Array;

  constructor(
    readonly stride: number,
    private readonly undo: UndoLog,
    capacity = 16,
    /** For a market's positions its number, else −1. */
    readonly market = -1,
  ) {
    this.data = new Float64Array(capacity * stride);
    this.savedAt = new Float64Array(capacity);
  }

  /** Appends a row of zeros and returns its number. */
  append(): number {
    const row = this.rows;
    if (row === this.savedAt.length) this.grow(row * 2);
    this.rows = row + 1;
    return row;
  }

  /** Must precede every write to the row. */
  touch(row: number): void {
    if (this.savedAt[row] === this.undo.epoch) return;
    this.savedAt[row] = this.undo.epoch;
    this.undo.save(this, row);
  }

  private grow(capacity: number): void {
    const data = new Float64Array(capacity * this.stride);
    data.set(this.data);
    this.data = data;
    const savedAt = new Float64Array(capacity);
    savedAt.set(this.savedAt);
    this.savedAt = savedAt;
  }
}

export class UndoLog {
  /** Rises with every command; a row saved in this epoch is not saved again. */
  epoch = 1;
  /** The saved rows of the command in progress, in order of first touch. */
  readonly tables: Table[] = [];
  readonly rows: number[] = [];
  count = 0;
  private words = new Float64Array(1 << 12);
  private used = 0;

  begin(): void {
    this.epoch++;
    this.count = 0;
    this.used = 0;
  }

  save(table: Table, row: number): void {
    const stride = table.stride;
    if (this.used + stride > this.words.length) this.growWords();
    const from = row * stride;
    const { words, used } = this;
    const data = table.data;
    for (let i = 0; i < stride; i++) words[used + i] = data[from + i]!;
    this.used = used + stride;
    this.tables[this.count] = table;
    this.rows[this.count] = row;
    this.count++;
  }

  /** A word of the first row that the command saved. */
  savedWord(field: number): number {
    return this.words[field]!;
  }

  rollback(): void {
    let end = this.used;
    for (let i = this.count - 1; i >= 0; i--) {
      const table = this.tables[i]!;
      const start = end - table.stride;
      table.data.set(this.words.subarray(start, end), this.rows[i]! * table.stride);
      end = start;
    }
    this.begin();
  }

  private growWords(): void {
    const words = new Float64Array(this.words.length * 2);
    words.set(this.words);
    this.words = words;
  }
}
