/** Changes rows of a closed history, as damage or an attacker would. */
import { join } from "node:path";
import { openEnvironment, type TableName } from "../history/history-environment.js";
import { CODECS } from "../history/row-codecs.js";
import { type Cell, type Database, prepare } from "../history/sqlite.js";

export function editStore<T>(folder: string, edit: (database: Database) => T): T {
  const database = openEnvironment(join(folder, "history"), false);
  try {
    return edit(database);
  } finally {
    database.close();
  }
}

export function runSql(folder: string, sql: string): void {
  editStore(folder, (database) => database.exec(sql));
}

/** The SQL table that holds the rows. */
export function sqlTable(name: TableName): string {
  const { table } = CODECS[name];
  if (table === null) throw new Error(`${name} has no rows of its own`);
  return table;
}

/** The row with the highest key, all cells of it. */
export function lastRow(database: Database, name: TableName): readonly Cell[] {
  const order = CODECS[name].keys.map((key) => `${key.replace(/^\w\./, "")} DESC`).join(", ");
  return prepare(database, `SELECT * FROM ${sqlTable(name)} ORDER BY ${order} LIMIT 1`).get() ?? [];
}

export function putRow(database: Database, name: TableName, cells: readonly Cell[]): void {
  const marks = cells.map(() => "?").join(", ");
  const sql = `INSERT OR REPLACE INTO ${sqlTable(name)} VALUES (${marks})`;
  prepare(database, sql).run(...cells);
}

export function flipped(cell: Cell | undefined): Cell {
  if (typeof cell === "number") return cell % 2 === 0 ? cell + 1 : cell - 1;
  if (cell instanceof Uint8Array) {
    const bytes = Buffer.from(cell);
    const at = Math.max(0, bytes.length - 2);
    bytes[at] = (bytes[at] ?? 0) ^ 8;
    return bytes;
  }
  throw new Error("there is nothing to change");
}
