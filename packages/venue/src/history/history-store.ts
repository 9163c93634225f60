/**
 * Opens the history's files. All of it is derived from the log: a history that is missing, of another
 * log, or unreadable is set aside (set-aside.ts) and rebuilt, never repaired. A pruned log cannot
 * rebuild it: then the start fails and nothing is changed, because it may be the only copy.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { LOG_START, type LogSeq } from "@perpgate/journal";
import type { GetOptions, Transaction } from "lmdb";
import { HistoryLost } from "../venue-errors.js";
import { FoundHistory } from "./found-history.js";
import {
  type Environment,
  eachTable,
  type Held,
  openEnvironment,
  openTables,
  type RowFault,
  readHeldRow,
  rowFault,
  TABLES,
  type TableName,
  writeHeld,
} from "./history-environment.js";
import { HistoryTable } from "./history-table.js";
import { lmdbFileFault } from "./lmdb-file.js";
import { setAside } from "./set-aside.js";
import type { Slice } from "./slice.js";
import { proveWritable } from "./thread/disk-probe.js";
import type { WriterData } from "./thread/messages.js";

export type Tables = Readonly<Record<TableName, HistoryTable>>;

export interface HistoryStore {
  readonly environment: Environment;
  readonly tables: Tables;
  readonly held: Held;
  /** Slices that are not on disk, the oldest first; tables read them before the disk. */
  readonly recent: Slice[];
  /** For the thread that opens the same store to write it. */
  readonly writerData: WriterData;
}

/** Why an existing history is not used, and where it was put. */
export interface Discarded {
  readonly reason: string;
  /** Undefined if it was removed. */
  readonly movedTo: string | undefined;
}

export interface OpenedStore {
  readonly store: HistoryStore;
  /** Undefined if the existing history is used, or if there was none. */
  readonly discarded: Discarded | undefined;
}

const MDB_READERS_FULL = -30_790;
const NOTHING_HELD: Held = { position: 0, batch: 0, record: 0, needs: 0 };

/** Finds, adopts and settles in one step, for callers without a log to repair. */
export async function openHistoryStore(
  directory: string,
  logId: Uint8Array,
  first: LogSeq = LOG_START,
): Promise<OpenedStore> {
  const found = await FoundHistory.find(directory);
  const opened = await adoptHistory(found, logId, first, Date.now());
  found.settle();
  return opened;
}

/** The found history, or, if the log is complete, an empty one. @throws {HistoryLost} */
export async function adoptHistory(
  found: FoundHistory,
  logId: Uint8Array,
  first: LogSeq,
  nowMs: number,
): Promise<OpenedStore> {
  const { directory, environment, row } = found;
  let fault: RowFault | undefined;
  if (found.fault !== undefined) fault = { kind: "damaged", reason: found.fault };
  else if (environment !== undefined && row !== undefined) {
    const adopted = rowFault(row, hexOf(logId)) ?? tryTables(directory, environment, logId, row);
    if (!("kind" in adopted)) return { store: adopted, discarded: undefined };
    fault = adopted;
  }
  if (first.batch > 0) {
    const advice = existsSync(found.marker)
      ? `, or remove ${found.marker} to try it once more`
      : "";
    throw new HistoryLost(first, fault?.reason ?? "there is none", advice);
  }
  await found.close();
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
  proveWritable(directory);
  const environment = openEnvironment(directory, false);
  const store = storeOf(directory, environment, logId, NOTHING_HELD);
  environment.transactionSync(() => writeHeld(environment, hexOf(logId), NOTHING_HELD));
  return { store, discarded };
}

/** A read-only view of a store at one moment. */
export interface ReadStore extends HistoryStore {
  close(): Promise<void>;
}

/**
 * Opens a store that another process may be writing; returns undefined if there is none, or why it
 * cannot be used. All reads show the moment of opening. Until `close`, lmdb cannot reuse pages that
 * were replaced since, so the file of a busy venue grows.
 *
 * @throws a system error if it cannot be opened now, which shows nothing about its content.
 */
export async function openForReading(
  directory: string,
  logId: Uint8Array,
): Promise<ReadStore | RowFault | undefined> {
  const file = join(directory, "data.mdb");
  if (!existsSync(file)) return undefined;
  const damage = lmdbFileFault(file);
  if (damage !== null) return { kind: "damaged", reason: damage };
  let environment: Environment | undefined;
  let transaction: Transaction | undefined;
  const close = async (): Promise<void> => {
    transaction?.done();
    await environment?.close();
  };
  try {
    environment = openEnvironment(directory, true);
    // Before the read transaction: opening a table ends open transactions.
    const stored = openTables(environment, true);
    transaction = environment.useReadTransaction();
    const row = readHeldRow(environment, { transaction });
    const fault = rowFault(row, hexOf(logId));
    if (row !== undefined && fault === undefined) {
      return { ...storeOf(directory, environment, logId, row, stored, { transaction }), close };
    }
    await close();
    return fault;
  } catch (error) {
    await close();
    throwRefusal(directory, error);
    const reason = `it cannot be read: ${error instanceof Error ? error.message : error}`;
    return { kind: "damaged", reason };
  }
}

/** Throws if the system, or lmdb for want of a reader's place, refused to open the file. */
function throwRefusal(directory: string, error: unknown): void {
  if (!(error instanceof Error)) return;
  if ("syscall" in error) throw error;
  // lmdb's codes are numbers: positive ones of the system, negative ones of its own.
  const code = "code" in error && typeof error.code === "number" ? error.code : 0;
  if (code <= 0 && code !== MDB_READERS_FULL) return;
  const refusal = new Error(`cannot open ${directory}: ${error.message}`, { cause: error });
  throw Object.assign(refusal, { code, syscall: "open" });
}

function tryTables(
  directory: string,
  environment: Environment,
  logId: Uint8Array,
  held: Held,
): HistoryStore | RowFault {
  try {
    const store = storeOf(directory, environment, logId, held);
    for (const name of TABLES) store.tables[name].probe();
    return store;
  } catch (error) {
    const reason = `it cannot be read: ${error instanceof Error ? error.message : error}`;
    return { kind: "damaged", reason };
  }
}

function storeOf(
  directory: string,
  environment: Environment,
  logId: Uint8Array,
  held: Held,
  stored = openTables(environment, false),
  reading?: GetOptions,
): HistoryStore {
  const recent: Slice[] = [];
  const { position, batch, record, needs } = held;
  return {
    environment,
    held: { position, batch, record, needs },
    recent,
    writerData: { directory, logId: hexOf(logId) },
    tables: eachTable(
      (name) => new HistoryTable(stored[name], TABLES.indexOf(name), recent, reading),
    ),
  };
}

export function hexOf(logId: Uint8Array): string {
  return Buffer.from(logId).toString("hex");
}
