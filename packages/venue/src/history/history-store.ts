/**
 * The history's files. Everything in them is derived from the log; whatever is missing, foreign or
 * unreadable is removed and made again, never repaired. A log that was pruned cannot make it again:
 * then nothing is removed, since what looks useless here may be the only copy, and the start fails.
 *
 * lmdb maps the file into memory, so a damaged one can end the process while it is opened. What can
 * be told from outside is looked at first (lmdb-file.ts); for the rest a marker stands beside it
 * during that moment, and a start that finds it takes the store for damaged.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LOG_START, type LogPosition } from "@perpgate/journal";
import { HistoryLost } from "../venue-errors.js";
import {
  type Environment,
  eachTable,
  type Held,
  openEnvironment,
  openTables,
  readHeld,
  TABLES,
  type TableName,
  writeHeld,
} from "./history-environment.js";
import { HistoryTable } from "./history-table.js";
import { lmdbFileFault } from "./lmdb-file.js";
import type { Slice } from "./slice.js";
import { proveWritable } from "./thread/disk-probe.js";
import type { WriterData } from "./thread/messages.js";

export type Tables = Readonly<Record<TableName, HistoryTable>>;

const MARKER = "opening";

export interface HistoryStore {
  readonly environment: Environment;
  readonly tables: Tables;
  readonly held: Held;
  /** Slices that are not on disk, the oldest first; tables read them beside the disk. */
  readonly recent: Slice[];
  /** By which another thread opens the same store to write it. */
  readonly writerData: WriterData;
}

export interface OpenedStore {
  readonly store: HistoryStore;
  /** Why an existing store was thrown away; undefined if it was taken as it is. */
  readonly discarded: string | undefined;
}

const NOTHING_HELD: Held = { position: 0, batch: 0, record: 0 };

/** Opens the store of that log, or, if the log is there from its beginning, makes an empty one. */
export async function openHistoryStore(
  directory: string,
  logId: Uint8Array,
  isWithinLog: (held: Held) => boolean,
  first: LogPosition = LOG_START,
): Promise<OpenedStore> {
  const marker = join(directory, MARKER);
  let discarded: string | undefined;
  if (existsSync(marker)) discarded = "the last attempt to open it did not return";
  else if (existsSync(join(directory, "data.mdb"))) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    proveWritable(directory);
    writeFileSync(marker, "");
    const found = await tryOpen(directory, logId, isWithinLog);
    rmSync(marker);
    if (typeof found !== "string") return { store: found, discarded: undefined };
    discarded = found;
  }
  if (first.batch > 0) {
    const advice = existsSync(marker) ? `, or remove ${marker} to try it once more` : "";
    throw new HistoryLost(first, discarded ?? "there is none", advice);
  }
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  proveWritable(directory);
  const environment = openEnvironment(directory, false);
  const store = storeOf(directory, environment, logId, NOTHING_HELD);
  environment.transactionSync(() => writeHeld(environment, hexOf(logId), NOTHING_HELD));
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
  const held = readHeld(environment, hexOf(logId));
  if (typeof held !== "string") return storeOf(directory, environment, logId, held, true);
  await environment.close();
  return undefined;
}

async function tryOpen(
  directory: string,
  logId: Uint8Array,
  isWithinLog: (held: Held) => boolean,
): Promise<HistoryStore | string> {
  let environment: Environment;
  try {
    const fault = lmdbFileFault(join(directory, "data.mdb"));
    if (fault !== null) return fault;
    environment = openEnvironment(directory, false);
  } catch (error) {
    return `it cannot be opened: ${error instanceof Error ? error.message : error}`;
  }
  let held: Held | string;
  try {
    held = readHeld(environment, hexOf(logId));
    if (typeof held !== "string") {
      if (!isWithinLog(held)) held = `it holds position ${held.position}, past the end of the log`;
      else {
        const store = storeOf(directory, environment, logId, held);
        for (const name of TABLES) store.tables[name].probe();
        return store;
      }
    }
  } catch (error) {
    held = `it cannot be read: ${error instanceof Error ? error.message : error}`;
  }
  await environment.close();
  return held;
}

function storeOf(
  directory: string,
  environment: Environment,
  logId: Uint8Array,
  held: Held,
  readOnly = false,
): HistoryStore {
  const recent: Slice[] = [];
  const stored = openTables(environment, readOnly);
  return {
    environment,
    held,
    recent,
    writerData: { directory, logId: hexOf(logId) },
    tables: eachTable((name) => new HistoryTable(stored[name], TABLES.indexOf(name), recent)),
  };
}

function hexOf(logId: Uint8Array): string {
  return Buffer.from(logId).toString("hex");
}
