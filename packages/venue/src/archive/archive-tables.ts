/**
 * The tables that an archive has: those of the store, declared from its schema, without the outbox of the
 * private streams, which a store alone needs.
 */
import { TABLES, type TableName } from "../history/history-environment.js";
import { CODECS } from "../history/row-codecs.js";
import { HISTORY_FORMAT, SCHEMA } from "../history/schema.js";
import { type Cell, type Database, openDatabase, prepare } from "../history/sqlite.js";

export { HISTORY_FORMAT as ARCHIVE_FORMAT };

type ArchiveColumnType = "integer" | "number" | "text" | "bytes";

export interface ArchiveColumn {
  readonly name: string;
  readonly type: ArchiveColumnType;
}

export interface ArchiveTable {
  readonly name: string;
  readonly columns: readonly ArchiveColumn[];
  readonly key: readonly string[];
  /** Its milliseconds say to which day a row belongs; null for a table that is not divided by days. */
  readonly day: string | null;
  /** What a later row with the same key changes; null if there is none. */
  readonly changing: readonly string[] | null;
}

/** Tables with a row for every order, fill or payment, by the column with its time. */
const DAYS: Readonly<Record<string, string>> = {
  order_rows: "created",
  fill_rows: "time",
  trade_rows: "time",
  payment_rows: "time",
  ledger_rows: "time",
  ack_rows: "time",
};
/** Rows of these are written once. */
const WRITTEN_ONCE: ReadonlySet<string> = new Set([
  ...["fill_rows", "trade_rows", "payment_rows", "ledger_rows", "ack_rows", "result_rows"],
  ...["block_rows", "tree_rows", "funding_rows"],
]);
/** Of an order, the acknowledgement of its placement stays. */
const STAYS = /^ack_/;
/** Ids of exits are quarters. */
const ORDER_IDS: ReadonlySet<string> = new Set([
  "order_rows.id",
  "fill_rows.order_id",
  "ack_rows.order_id",
]);

export function isWrittenOnce(table: string): boolean {
  return WRITTEN_ONCE.has(table);
}

export function isArchived(table: TableName): boolean {
  return CODECS[table].table !== null && table !== "changes";
}

export function archiveTables(): readonly ArchiveTable[] {
  const database = openDatabase(":memory:", false);
  try {
    database.exec(SCHEMA);
    return TABLES.filter(isArchived).map((table) => tableOf(database, CODECS[table].table ?? ""));
  } finally {
    database.close();
  }
}

function tableOf(database: Database, name: string): ArchiveTable {
  const declared = prepare(database, `PRAGMA table_info(${name})`).all();
  const columns = declared.map(([, column, type]) => ({
    name: textOf(column),
    type: typeOf(name, textOf(column), textOf(type)),
  }));
  const key = declared
    .filter(([, , , , , place]) => place !== 0)
    .sort((a, b) => Number(a[5]) - Number(b[5]))
    .map(([, column]) => textOf(column));
  const changing = columns
    .map((column) => column.name)
    .filter((column) => !key.includes(column) && !STAYS.test(column));
  return {
    name,
    columns,
    key,
    day: DAYS[name] ?? null,
    changing: isWrittenOnce(name) ? null : changing,
  };
}

function typeOf(table: string, column: string, declared: string): ArchiveColumnType {
  if (ORDER_IDS.has(`${table}.${column}`) || declared === "REAL") return "number";
  if (declared === "TEXT") return "text";
  return declared === "BLOB" ? "bytes" : "integer";
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === "string" ? cell : "";
}
