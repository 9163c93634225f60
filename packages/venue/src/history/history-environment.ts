/**
 * The history's lmdb environment as every thread and process opens it: its tables, whose order
 * numbers them, and the one row that says which log it is of, in which format, and how far it has
 * come.
 */
import { createRequire } from "node:module";
import type { Database, GetOptions, RootDatabase } from "lmdb";

// Its one file for `require` is there in a third of the time that its modules take, in every thread.
const { open }: typeof import("lmdb") = createRequire(import.meta.url)("lmdb");

export const HISTORY_FORMAT = 3;
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
] as const;
export type TableName = (typeof TABLES)[number];

export type Environment = RootDatabase<Buffer, Buffer>;
export type StoredTable = Database<Buffer, Buffer>;

/** How far a store has come. */
export interface Held {
  /** The engine's position after the last command held. */
  readonly position: number;
  /** Batches and records of the log that are held to the last. */
  readonly batch: number;
  readonly record: number;
}

const HELD_KEY = Buffer.from("held");

export function openEnvironment(directory: string, readOnly: boolean): Environment {
  return open<Buffer, Buffer>({
    path: directory,
    keyEncoding: "binary",
    encoding: "binary",
    maxDbs: TABLES.length + 2,
    noMemInit: true,
    // What has committed is on disk: nothing is to be waited for after it.
    overlappingSync: false,
    readOnly,
  });
}

export type StoredTables = Readonly<Record<TableName, StoredTable>>;

export function openTables(environment: Environment, readOnly: boolean): StoredTables {
  const openOne = (name: TableName): StoredTable =>
    environment.openDB<Buffer, Buffer>({ name, keyEncoding: "binary", encoding: "binary" });
  const openAll = () => eachTable(openOne);
  // Where they are new, one transaction for all of them.
  return readOnly ? openAll() : environment.transactionSync(openAll);
}

/** A record with something for every table. */
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
  };
}

/** To be called within a transaction. */
export function writeHeld(environment: Environment, logId: string, held: Held): void {
  const row = { format: HISTORY_FORMAT, log: logId, ...held };
  environment.putSync(HELD_KEY, Buffer.from(JSON.stringify(row)));
}

/** What a store says of itself. */
export interface HeldRow extends Held {
  readonly format: number;
  /** The log's id, lower-case hex. */
  readonly log: string;
}

/** The row; undefined if there is none that can be read. */
export function readHeldRow(
  environment: Environment,
  options: GetOptions = {},
): HeldRow | undefined {
  const bytes = environment.get(HELD_KEY, options);
  if (bytes === undefined) return undefined;
  const row: unknown = JSON.parse(bytes.toString());
  return isRow(row) ? row : undefined;
}

/** Why a store that says this of itself cannot be used for that log. */
export function rowFault(row: HeldRow | undefined, logId: string): RowFault | undefined {
  if (row === undefined) return { kind: "damaged", reason: "it does not say what it holds" };
  if (row.log !== logId) return { kind: "foreign", reason: "it is of another log" };
  if (row.format === HISTORY_FORMAT) return undefined;
  return { kind: "other_format", reason: `it has format ${row.format}` };
}

export interface RowFault {
  readonly kind: "damaged" | "foreign" | "other_format";
  readonly reason: string;
}

function isRow(value: unknown): value is HeldRow {
  if (typeof value !== "object" || value === null) return false;
  return (
    "format" in value &&
    typeof value.format === "number" &&
    "log" in value &&
    typeof value.log === "string" &&
    "position" in value &&
    Number.isSafeInteger(value.position) &&
    "batch" in value &&
    Number.isSafeInteger(value.batch) &&
    "record" in value &&
    Number.isSafeInteger(value.record)
  );
}
