/**
 * The history's files: one lmdb environment, its tables, and one row that says which log it is of,
 * in which format, and how far it has come. Everything in it is derived from the log; whatever is
 * missing, foreign or unreadable is removed and made again, never repaired.
 *
 * lmdb maps the file into memory, so a damaged one can end the process while it is opened. What can
 * be told from outside is looked at first (lmdb-file.ts); for the rest a marker stands beside it
 * during that moment, and a start that finds it takes the store for damaged.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { HistoryTable } from "./history-table.js";
import { lmdbFileFault } from "./lmdb-file.js";
import type { Held } from "./write-queue.js";

export const HISTORY_FORMAT = 3;
const TABLES = [
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
export type Tables = Readonly<Record<TableName, HistoryTable>>;

const HELD_KEY = Buffer.from("held");
const MARKER = "opening";

export interface HistoryStore {
  readonly environment: RootDatabase<Buffer, Buffer>;
  readonly tables: Tables;
  readonly held: Held;
  /** Writes the row; to be called within a transaction, whose outcome the promise tells again. */
  writeHeld(held: Held): Promise<boolean>;
}

export interface OpenedStore {
  readonly store: HistoryStore;
  /** Why an existing store was thrown away; undefined if it was taken as it is. */
  readonly discarded: string | undefined;
}

const NOTHING_HELD: Held = { position: 0, batch: 0, record: 0 };

/** Opens the store of that log, or makes an empty one. */
export async function openHistoryStore(
  directory: string,
  logId: Uint8Array,
  isWithinLog: (held: Held) => boolean,
): Promise<OpenedStore> {
  const marker = join(directory, MARKER);
  let discarded: string | undefined;
  if (existsSync(marker)) discarded = "the last attempt to open it did not return";
  else if (existsSync(join(directory, "data.mdb"))) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(marker, "");
    const found = await tryOpen(directory, logId, isWithinLog);
    rmSync(marker);
    if (typeof found !== "string") return { store: found, discarded: undefined };
    discarded = found;
  }
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const environment = openEnvironment(directory, false);
  const store = storeOf(environment, logId, NOTHING_HELD);
  await environment.batch(() => void store.writeHeld(NOTHING_HELD));
  return { store, discarded };
}

/** Opens a store that another process may be writing; undefined if there is none of that log left. */
export async function openForReading(
  directory: string,
  logId: Uint8Array,
): Promise<HistoryStore | undefined> {
  const file = join(directory, "data.mdb");
  if (!existsSync(file) || lmdbFileFault(file) !== null) return undefined;
  const environment = openEnvironment(directory, true);
  const held = readHeld(environment, logId);
  if (typeof held !== "string") return storeOf(environment, logId, held);
  await environment.close();
  return undefined;
}

async function tryOpen(
  directory: string,
  logId: Uint8Array,
  isWithinLog: (held: Held) => boolean,
): Promise<HistoryStore | string> {
  let environment: RootDatabase<Buffer, Buffer>;
  try {
    const fault = lmdbFileFault(join(directory, "data.mdb"));
    if (fault !== null) return fault;
    environment = openEnvironment(directory, false);
  } catch (error) {
    return `it cannot be opened: ${error instanceof Error ? error.message : error}`;
  }
  let held: Held | string;
  try {
    held = readHeld(environment, logId);
    if (typeof held !== "string") {
      if (!isWithinLog(held)) held = `it holds position ${held.position}, past the end of the log`;
      else {
        const store = storeOf(environment, logId, held);
        // Both ends of every table: a tree that cannot be walked shows here, not under load.
        for (const name of TABLES) probe(store.tables[name]);
        return store;
      }
    }
  } catch (error) {
    held = `it cannot be read: ${error instanceof Error ? error.message : error}`;
  }
  await environment.close();
  return held;
}

function probe({ database }: HistoryTable): void {
  for (const reverse of [false, true]) {
    for (const { value } of database.getRange({ limit: 1, reverse })) {
      if (value.length === 0) throw new Error("an entry is empty");
    }
  }
}

function openEnvironment(directory: string, readOnly: boolean): RootDatabase<Buffer, Buffer> {
  return open<Buffer, Buffer>({
    path: directory,
    keyEncoding: "binary",
    encoding: "binary",
    maxDbs: TABLES.length + 2,
    noMemInit: true,
    readOnly,
  });
}

function storeOf(
  environment: RootDatabase<Buffer, Buffer>,
  logId: Uint8Array,
  held: Held,
): HistoryStore {
  const table = (name: TableName): HistoryTable =>
    new HistoryTable(
      environment.openDB<Buffer, Buffer>({ name, keyEncoding: "binary", encoding: "binary" }),
    );
  return {
    environment,
    held,
    tables: {
      acks: table("acks"),
      blocks: table("blocks"),
      fills: table("fills"),
      trades: table("trades"),
      candles: table("candles"),
      funding: table("funding"),
      orders: table("orders"),
      nonces: table("nonces"),
      positions: table("positions"),
      sessions: table("sessions"),
      changes: table("changes"),
      deposits: table("deposits"),
      watchers: table("watchers"),
      votes: table("votes"),
    },
    writeHeld: (now) => {
      const row = { format: HISTORY_FORMAT, log: Buffer.from(logId).toString("hex"), ...now };
      return environment.put(HELD_KEY, Buffer.from(JSON.stringify(row)));
    },
  };
}

/** The row, or why this is not a store of that log. */
function readHeld(environment: RootDatabase<Buffer, Buffer>, logId: Uint8Array): Held | string {
  const bytes = environment.get(HELD_KEY);
  if (bytes === undefined) return "it does not say what it holds";
  const row: unknown = JSON.parse(bytes.toString());
  if (!isRow(row)) return "it does not say what it holds";
  if (row.format !== HISTORY_FORMAT) return `it has format ${row.format}`;
  if (row.log !== Buffer.from(logId).toString("hex")) return "it is of another log";
  return { position: row.position, batch: row.batch, record: row.record };
}

function isRow(value: unknown): value is Held & { readonly format: number; readonly log: string } {
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
