/** The rows of one table on disk, by key. */
import { HistoryDamaged } from "../venue-errors.js";
import type { TableName } from "./history-environment.js";
import { CODECS, type Entry, type RowCodec } from "./row-codecs.js";
import { type Database, isDamage, prepare, type Statement } from "./sqlite.js";

/** Rows that a range reads at first; each further read of it takes twice as many, up to the second. */
const FIRST_CHUNK = 128;
const MOST_CHUNK = 1_024;

export class StoredTable {
  private readonly codec: RowCodec;
  private readonly byKey: Statement;
  private readonly up: Statement;
  private readonly down: Statement;

  constructor(
    private readonly database: Database,
    readonly name: TableName,
  ) {
    this.codec = CODECS[name];
    const { from, where = "TRUE", keys, columns } = this.codec;
    const select = `SELECT ${[...keys, ...columns].join(", ")} FROM ${from} WHERE ${where} AND`;
    const tuple = keys.length === 1 ? keys[0] : `(${keys.join(", ")})`;
    const marks = keys.length === 1 ? "?" : `(${keys.map(() => "?").join(", ")})`;
    const order = (direction: string) => keys.map((key) => `${key} ${direction}`).join(", ");
    const range = `${select} ${tuple} >= ${marks} AND ${tuple} < ${marks}`;
    const equal = keys.map((key) => `${key} = ?`).join(" AND ");
    this.byKey = prepare(database, `${select} ${equal}`);
    this.up = prepare(database, `${range} ORDER BY ${order("ASC")} LIMIT ?`);
    this.down = prepare(database, `${range} ORDER BY ${order("DESC")} LIMIT ?`);
  }

  get(key: Buffer): Buffer | undefined {
    return this.reading(() => {
      const cells = this.byKey.get(...this.codec.keyCells(key));
      return cells === undefined ? undefined : this.codec.entry(cells).value;
    });
  }

  /** Up to `limit` entries with from ≤ key < to; reads little further than the caller does. */
  range(from: Buffer, to: Buffer, limit: number, isAscending: boolean): Iterable<Entry> {
    return this.inChunks(from, to, limit, isAscending);
  }

  private *inChunks(
    from: Buffer,
    to: Buffer,
    limit: number,
    isAscending: boolean,
  ): Generator<Entry> {
    const { codec } = this;
    let [low, high] = [codec.keyCells(from), codec.keyCells(to)];
    let left = limit;
    let isFirst = true;
    for (let chunk = FIRST_CHUNK; left > 0; chunk = Math.min(2 * chunk, MOST_CHUNK)) {
      // One more for the row that the last read ended with, which an ascending one begins with.
      const count = Math.min(chunk, left) + (isFirst || !isAscending ? 0 : 1);
      const statement = isAscending ? this.up : this.down;
      const rows = this.reading(() => statement.all(...low, ...high, count).map(codec.entry));
      const isLast = rows.length < count;
      if (!isFirst && isAscending) rows.shift();
      isFirst = false;
      yield* rows;
      left -= rows.length;
      const last = rows.at(-1);
      if (isLast || last === undefined) return;
      if (isAscending) low = codec.keyCells(last.key);
      else high = codec.keyCells(last.key);
    }
  }

  count(condition = "TRUE"): number {
    const { from, where = "TRUE" } = this.codec;
    return this.reading(() => {
      const sql = `SELECT count(*) FROM ${from} WHERE ${where} AND ${condition}`;
      const [count] = prepare(this.database, sql).get() ?? [];
      return typeof count === "number" ? count : 0;
    });
  }

  /** Reads both ends, so that a damaged tree shows at the start and not under load. */
  probe(): void {
    const { from, where = "TRUE", keys, columns } = this.codec;
    const select = `SELECT ${[...keys, ...columns].join(", ")} FROM ${from} WHERE ${where}`;
    for (const direction of ["ASC", "DESC"]) {
      const order = keys.map((key) => `${key} ${direction}`).join(", ");
      const sql = `${select} ORDER BY ${order} LIMIT 1`;
      const cells = this.reading(() => prepare(this.database, sql).get());
      if (cells !== undefined) this.codec.entry(cells);
    }
  }

  private reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!isDamage(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new HistoryDamaged(`${this.name}: ${reason}`, { cause: error });
    }
  }
}
