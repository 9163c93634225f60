/**
 * The history's lmdb environment as every thread and process opens it: its tables, numbered by their
 * order, and the header row with the log id, the format and the progress.
 */
import { createRequire } from "node:module";
import type { Database, GetOptions, RootDatabase } from "lmdb";
import { hasFields, isInteger, isNumber, isText } from "../stored-json.js";

// Its CommonJS bundle loads in a third of the time of its ES modules, in every thread.
const { open }: typeof import("lmdb") = createRequire(import.meta.url)("lmdb");

export const HISTORY_FORMAT = 8;
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
] as const;
export type TableName = (typeof TABLES)[number];

export type Environment = RootDatabase<Buffer, Buffer>;
export type StoredTable = Database<Buffer, Buffer>;

/** The progress of a store. */
export interface Held {
  /** Seq of the last command in the store, under its name in the header row. */
  readonly position: number;
  /** Batches and records of the log that are in the store completely. */
  readonly batch: number;
  readonly record: number;
  /** Batches of the log that it needs: one more than `batch` if it has a part of the next one. */
  readonly needs: number;
}

const HELD_KEY = Buffer.from("held");

export function openEnvironment(directory: string, readOnly: boolean): Environment {
  return open<Buffer, Buffer>({
    path: directory,
    keyEncoding: "binary",
    encoding: "binary",
    maxDbs: TABLES.length + 2,
    noMemInit: true,
    // A committed transaction is on disk: no separate flush to wait for.
    overlappingSync: false,
    readOnly,
  });
}

export type StoredTables = Readonly<Record<TableName, StoredTable>>;

export function openTables(environment: Environment, readOnly: boolean): StoredTables {
  const openOne = (name: TableName): StoredTable =>
    environment.openDB<Buffer, Buffer>({ name, keyEncoding: "binary", encoding: "binary" });
  const openAll = () => eachTable(openOne);
  // New tables are created in one transaction.
  return readOnly ? openAll() : environment.transactionSync(openAll);
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
  };
}

/** Must be called within a transaction. */
export function writeHeld(environment: Environment, logId: string, held: Held): void {
  const row = { format: HISTORY_FORMAT, log: logId, ...held };
  environment.putSync(HELD_KEY, Buffer.from(JSON.stringify(row)));
}

/** The header row. */
export interface HeldRow extends Held {
  readonly format: number;
  /** The log's id, lower-case hex. */
  readonly log: string;
}

/** Undefined if the row is missing or unreadable. */
export function readHeldRow(
  environment: Environment,
  options: GetOptions = {},
): HeldRow | undefined {
  const bytes = environment.get(HELD_KEY, options);
  if (bytes === undefined) return undefined;
  const row: unknown = JSON.parse(bytes.toString());
  return isRow(row) ? row : undefined;
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

function isRow(value: unknown): value is HeldRow {
  return hasFields(value, {
    format: isNumber,
    log: isText,
    position: isInteger,
    batch: isInteger,
    record: isInteger,
    needs: isInteger,
  });
}
