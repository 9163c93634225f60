/**
 * Opens the store's file. All of it is derived from the log: a history that is missing, of another
 * log, or unreadable is set aside (set-aside.ts) and rebuilt, never repaired. A pruned log cannot
 * rebuild it: then the start fails and nothing is changed, because it may be the only copy.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { LOG_START, type LogSeq } from "@perpgate/journal";
import { HistoryDamaged, HistoryLost } from "../venue-errors.js";
import { OUTBOX_COMMANDS } from "./change-projection.js";
import { damageIn, FoundHistory } from "./found-history.js";
import {
  createTables,
  eachTable,
  type Held,
  openEnvironment,
  type RowFault,
  readHeldRow,
  rowFault,
  TABLES,
  type TableName,
  writeHeld,
} from "./history-environment.js";
import { HistoryTable } from "./history-table.js";
import { setAside } from "./set-aside.js";
import type { Slice } from "./slice.js";
import { createPrivate, type Database, inTransaction, STORE_FILE, storeFailure } from "./sqlite.js";
import { StoredTable } from "./stored-table.js";
import type { WriterData } from "./thread/messages.js";

export type Tables = Readonly<Record<TableName, HistoryTable>>;

export interface HistoryStore {
  /** For reading alone. */
  readonly environment: Database;
  readonly tables: Tables;
  readonly held: Held;
  /** Slices that are not on disk, the oldest first; tables read them before the disk. */
  readonly recent: Slice[];
  /** For the thread that opens the same store to write it. */
  readonly writerData: WriterData;
}

/** Why an existing history is not used, and where it was put. */
interface Discarded {
  readonly reason: string;
  /** Undefined if it was removed. */
  readonly movedTo: string | undefined;
}

export interface OpenedStore {
  readonly store: HistoryStore;
  /** Undefined if the existing history is used, or if there was none. */
  readonly discarded: Discarded | undefined;
}

export const NOTHING_HELD: Held = {
  ...{ position: 0, batch: 0, record: 0, needs: 0 },
  ...{ changesFrom: 1, keptFrom: 1, keptFromMs: 0 },
};

/** Finds and adopts in one step, for callers without a log to repair. */
export function openHistoryStore(
  directory: string,
  logId: Uint8Array,
  first: LogSeq = LOG_START,
): OpenedStore {
  return adoptHistory(FoundHistory.find(directory), logId, first, Date.now());
}

/** The found history, or, if the log is complete, an empty one. @throws {HistoryLost} */
export function adoptHistory(
  found: FoundHistory,
  logId: Uint8Array,
  first: LogSeq,
  nowMs: number,
): OpenedStore {
  const { directory, row } = found;
  found.close();
  let { fault } = found;
  if (row !== undefined) {
    const adopted = rowFault(row, hexOf(logId)) ?? tryTables(directory, logId, row);
    if (!("kind" in adopted)) return { store: adopted, discarded: undefined };
    fault = adopted;
  }
  if (first.batch > 0) throw new HistoryLost(first, fault?.reason ?? "there is none");
  return newHistory(directory, logId, fault, nowMs);
}

/** Creates an empty history; one that cannot be used is moved away or removed first. */
export function newHistory(
  directory: string,
  logId: Uint8Array,
  fault: RowFault | undefined,
  nowMs: number,
): OpenedStore {
  let discarded: Discarded | undefined;
  if (fault !== undefined) {
    const isKept = fault.kind !== "other_format";
    const movedTo = isKept ? setAside(directory, fault.reason, nowMs) : undefined;
    discarded = { reason: fault.reason, movedTo };
  }
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  createPrivate(join(directory, STORE_FILE));
  let environment: Database | undefined;
  try {
    const database = openEnvironment(directory, false);
    environment = database;
    inTransaction(database, () => {
      createTables(database);
      writeHeld(database, hexOf(logId), NOTHING_HELD);
    });
  } catch (error) {
    throw storeFailure(directory, error);
  } finally {
    environment?.close();
  }
  return { store: openTables(directory, logId, NOTHING_HELD), discarded };
}

/** A read-only view of a store at one moment. */
export interface ReadStore extends HistoryStore {
  close(): void;
}

/**
 * Opens a store that another process may be writing; returns undefined if there is none, or why it
 * cannot be used. All reads show the moment of opening. Until `close`, the write-ahead file of a busy venue
 * grows.
 *
 * @throws a system error if it cannot be opened now, which shows nothing about its content.
 */
export function openForReading(
  directory: string,
  logId: Uint8Array,
): ReadStore | RowFault | undefined {
  if (!existsSync(join(directory, STORE_FILE))) return FoundHistory.find(directory).fault;
  let environment: Database | undefined;
  try {
    environment = openEnvironment(directory, true);
    const database = environment;
    database.exec("BEGIN");
    const row = readHeldRow(database);
    const fault = rowFault(row, hexOf(logId));
    if (row !== undefined && fault === undefined) {
      const store = storeOf(database, directory, logId, row);
      return { ...store, close: () => database.close() };
    }
    database.close();
    return fault;
  } catch (error) {
    if (environment?.isOpen === true) environment.close();
    return { kind: "damaged", reason: damageIn(error, directory) };
  }
}

function tryTables(directory: string, logId: Uint8Array, held: Held): HistoryStore | RowFault {
  let store: HistoryStore | undefined;
  try {
    store = openTables(directory, logId, held);
    for (const name of TABLES) store.tables[name].probe();
    return store;
  } catch (error) {
    store?.environment.close();
    const reason =
      error instanceof HistoryDamaged
        ? `it cannot be read: ${error.message}`
        : damageIn(error, directory);
    return { kind: "damaged", reason };
  }
}

function openTables(directory: string, logId: Uint8Array, held: Held): HistoryStore {
  const environment = openEnvironment(directory, true);
  try {
    return storeOf(environment, directory, logId, held);
  } catch (error) {
    environment.close();
    throw error;
  }
}

function storeOf(
  environment: Database,
  directory: string,
  logId: Uint8Array,
  { position, batch, record, needs, changesFrom, keptFrom, keptFromMs }: Held,
): HistoryStore {
  const recent: Slice[] = [];
  return {
    environment,
    held: { position, batch, record, needs, changesFrom, keptFrom, keptFromMs },
    recent,
    writerData: { directory, logId: hexOf(logId), outboxCommands: OUTBOX_COMMANDS },
    tables: tablesOf(environment, recent),
  };
}

/** The tables; without an environment only those in memory. */
export function tablesOf(environment: Database | undefined, recent: readonly Slice[]): Tables {
  return eachTable((name) => {
    const stored = environment === undefined ? undefined : new StoredTable(environment, name);
    return new HistoryTable(stored, TABLES.indexOf(name), recent);
  });
}

export function hexOf(logId: Uint8Array): string {
  return Buffer.from(logId).toString("hex");
}
