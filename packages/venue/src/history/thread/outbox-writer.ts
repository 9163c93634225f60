/** Writes the changes of accounts into two tables by turns; see change-projection.ts. */
import { outboxTurn } from "../change-projection.js";
import { placeOf } from "../keys.js";
import { CODECS } from "../row-codecs.js";
import { type Database, prepare, type Statement } from "../sqlite.js";

const TABLES = ["change_rows_0", "change_rows_1"];

export class OutboxWriter {
  private readonly inserts: readonly Statement[];
  private readonly clears: readonly Statement[];

  constructor(
    database: Database,
    private readonly outboxCommands: number,
  ) {
    this.inserts = TABLES.map((table) =>
      prepare(database, `INSERT INTO ${table} VALUES (?, ?, ?, ?, ?)`),
    );
    // Without a condition: SQLite drops the pages and reads no row.
    this.clears = TABLES.map((table) => prepare(database, `DELETE FROM ${table}`));
  }

  /** Empties the tables whose turn comes again between two commands; before the rows of a transaction. */
  beginTransaction(written: number, last: number): void {
    const turns = this.turnOf(last) - this.turnOf(written);
    if (turns > 0) this.clears[this.turnOf(last) % 2]!.run();
    if (turns > 1) this.clears[(this.turnOf(last) + 1) % 2]!.run();
  }

  put(key: Buffer, value: Buffer): void {
    this.inserts[this.turnOf(placeOf(key)) % 2]!.run(...CODECS.changes.cells(key, value));
  }

  private turnOf(seq: number): number {
    return outboxTurn(seq, this.outboxCommands);
  }
}
