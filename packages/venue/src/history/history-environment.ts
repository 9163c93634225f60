/**
 * The store's file as every thread and process opens it: its tables, numbered by their order, and the header
 * row with the log id, the format and the progress.
 */
import { join } from "node:path";
import type { RowTable } from "./rows.js";
import { HISTORY_FORMAT, SCHEMA } from "./schema.js";
import { type Cell, type Database, openDatabase, prepare, STORE_FILE } from "./sqlite.js";

export { HISTORY_FORMAT };
export const TABLES = [
  "acks",
  "blocks",
  "fills",
  "trades",
  "candles",
  "funding",
  "orders",
  "nonces",
  "positions",
  "sessions",
  "changes",
  "deposits",
  "watchers",
  "votes",
  "payments",
  "ledger",
  "results",
  "tree",
  "clientIds",
  "markets",
  "withdrawals",
  "withdrawalVotes",
] as const;
export type TableName = (typeof TABLES)[number];

/** The progress of a store. */
export interface Held {
  /** Seq of the last command in the store, under its name in the header row. */
  readonly position: number;
  /** Batches and records of the log that are in the store completely. */
  readonly batch: number;
  readonly record: number;
  /** Batches of the log that it needs: one more than `batch` if it has a part of the next one. */
  readonly needs: number;
  /** The first seq of the outbox: the changes of earlier commands are not kept. */
  readonly changesFrom: number;
  /** Where the window begins (retention.ts): the rows of this seq and of all after it are kept. */
  readonly keptFrom: number;
  /** No row from there on is older, and none before is newer. */
  readonly keptFromMs: number;
}

export function openEnvironment(directory: string, readOnly: boolean): Database {
  return openDatabase(join(directory, STORE_FILE), readOnly);
}

/** Creates the tables of an empty file. Must be called within a transaction. */
export function createTables(database: Database): void {
  database.exec(SCHEMA);
}

/** An object with one property per table. */
export function eachTable<T>(make: (name: TableName) => T): Readonly<Record<TableName, T>> {
  return {
    acks: make("acks"),
    blocks: make("blocks"),
    fills: make("fills"),
    trades: make("trades"),
    candles: make("candles"),
    funding: make("funding"),
    orders: make("orders"),
    nonces: make("nonces"),
    positions: make("positions"),
    sessions: make("sessions"),
    changes: make("changes"),
    deposits: make("deposits"),
    watchers: make("watchers"),
    votes: make("votes"),
    payments: make("payments"),
    ledger: make("ledger"),
    results: make("results"),
    tree: make("tree"),
    clientIds: make("clientIds"),
    markets: make("markets"),
    withdrawals: make("withdrawals"),
    withdrawalVotes: make("withdrawalVotes"),
  };
}

/** The tables as projections name them. */
export const ROW_TABLES: Readonly<Record<TableName, RowTable>> = eachTable((name) => ({
  number: TABLES.indexOf(name),
}));

/** Must be called within a transaction. */
export function writeHeld(database: Database, logId: string, held: Held): void {
  const { position, batch, record, needs, changesFrom, keptFrom, keptFromMs } = held;
  prepare(database, "INSERT OR REPLACE INTO store VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
    HISTORY_FORMAT,
    logId,
    position,
    batch,
    record,
    needs,
    changesFrom,
    keptFrom,
    keptFromMs,
  );
}

/** The header row. */
export interface HeldRow extends Held {
  readonly format: number;
  /** The log's id, lower-case hex. */
  readonly log: string;
}

/** Undefined if the row is missing or unreadable. */
export function readHeldRow(database: Database): HeldRow | undefined {
  // The columns that every format has.
  const sql = "SELECT log, format, position, batch, record, needs FROM store WHERE one = 1";
  const [log, ...rest] = prepare(database, sql).get() ?? [];
  if (typeof log !== "string" || !rest.every(isInteger)) return undefined;
  const [format = 0, position = 0, batch = 0, record = 0, needs] = rest;
  if (needs === undefined) return undefined;
  const held = { log, format, position, batch, record, needs };
  if (format !== HISTORY_FORMAT) {
    return { ...held, changesFrom: position + 1, keptFrom: 1, keptFromMs: 0 };
  }
  const kept = "SELECT changes_from, kept_from, kept_from_ms FROM store";
  const cells = prepare(database, kept).get() ?? [];
  if (!cells.every(isInteger)) return undefined;
  const [changesFrom = 1, keptFrom = 1, keptFromMs = 0] = cells;
  return { ...held, changesFrom, keptFrom, keptFromMs };
}

function isInteger(cell: Cell): cell is number {
  return Number.isSafeInteger(cell);
}

/** Why a store with this header row cannot be used for the log. */
export function rowFault(row: HeldRow | undefined, logId: string): RowFault | undefined {
  if (row === undefined)
    return { kind: "damaged", reason: "its header row is missing or unreadable" };
  if (row.log !== logId) return { kind: "foreign", reason: "it is of another log" };
  if (row.format === HISTORY_FORMAT) return undefined;
  return { kind: "other_format", reason: `it has format ${row.format}` };
}

export interface RowFault {
  readonly kind: "damaged" | "foreign" | "other_format";
  readonly reason: string;
}
