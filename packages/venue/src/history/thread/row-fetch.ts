/** What the thread that reads the store (reader-thread.ts) does for one request: all rows of one moment. */

import { HistoryDamaged } from "../../venue-errors.js";
import { eachTable, openEnvironment, TABLES, type TableName } from "../history-environment.js";
import { Slice } from "../slice.js";
import { type Database, prepare, type Statement } from "../sqlite.js";
import type { Want } from "../store-read.js";
import { StoredTable } from "../stored-table.js";

export interface FetchRequest {
  readonly id: number;
  readonly wants: readonly Want[];
}

export type FetchAnswer =
  | {
      readonly id: number;
      /** Seq of the last command in the store then. */
      readonly position: number;
      /** The rows, as a slice has them, want by want. */
      readonly bytes: Uint8Array<ArrayBuffer>;
      /** How many rows each want got. */
      readonly counts: readonly number[];
      readonly failure?: undefined;
    }
  | { readonly id: number; readonly failure: FetchFailure };

interface FetchFailure {
  readonly reason: string;
  readonly isDamage: boolean;
}

export class RowFetch {
  private readonly database: Database;
  private readonly tables: Readonly<Record<TableName, StoredTable>>;
  private readonly position: Statement;
  private readonly answer = new Slice(0);

  constructor(directory: string) {
    const database = openEnvironment(directory, true);
    this.database = database;
    this.tables = eachTable((name) => new StoredTable(database, name));
    this.position = prepare(database, "SELECT position FROM store WHERE one = 1");
  }

  take({ id, wants }: FetchRequest): FetchAnswer {
    try {
      // One transaction: all rows are of the same moment, which is after the request was sent.
      this.database.exec("BEGIN");
      try {
        return { id, ...this.read(wants) };
      } finally {
        this.database.exec("COMMIT");
      }
    } catch (error) {
      const isDamage = error instanceof HistoryDamaged;
      const text = error instanceof Error ? error.message : String(error);
      return { id, failure: { reason: isDamage ? error.reason : text, isDamage } };
    }
  }

  close(): void {
    this.database.close();
  }

  private read(wants: readonly Want[]) {
    const { answer } = this;
    const [position] = this.position.get() ?? [];
    if (typeof position !== "number") throw new HistoryDamaged("its header row is missing");
    answer.begin(0);
    const counts = wants.map((want) => {
      const before = answer.count;
      this.readWant(want);
      return answer.count - before;
    });
    return { position, bytes: answer.copy(), counts };
  }

  private readWant({ table, from, to, limit, isAscending, isAfter }: Want): void {
    const { answer } = this;
    const number = TABLES.indexOf(table);
    const begin = Buffer.from(from, "latin1");
    if (to === undefined) {
      const value = this.tables[table].get(begin);
      if (value !== undefined) answer.add(number, begin, value);
      return;
    }
    // The row at which the last fetch ended may be gone by now.
    const count = isAfter ? limit + 1 : limit;
    const end = Buffer.from(to, "latin1");
    let left = limit;
    for (const { key, value } of this.tables[table].range(begin, end, count, isAscending)) {
      if (isAfter && key.equals(begin)) continue;
      if (left-- === 0) return;
      answer.add(number, key, value);
    }
  }
}
