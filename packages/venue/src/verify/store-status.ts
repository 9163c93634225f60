/** What a folder's store has, and how far it is behind the log. Changes nothing; a venue may run. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { JournalDamaged } from "@perpgate/journal";
import { archivedTo, readArchived } from "../archive/archive-note.js";
import { FoundHistory } from "../history/found-history.js";
import { HISTORY_FORMAT, TABLES } from "../history/history-environment.js";
import { STORE_FILE } from "../history/sqlite.js";
import { dataFolder } from "../recovery/data-folder.js";
import { inspectStart } from "./starting-point.js";
import { hashOfTable, openStore, type TableReport } from "./stored-tables.js";

export interface StoreStatus {
  readonly file: string;
  readonly bytes: number;
  /** Of the write-ahead file. */
  readonly walBytes: number;
  readonly format: number;
  /** Of the last command in the store. */
  readonly position: number;
  /** Records of the log that are not in the store yet. */
  readonly behind: number;
  /** The first command whose changes private streams can resume from. */
  readonly changesFrom: number;
  /** Where its window begins; null if all rows are there. */
  readonly historyBefore: { readonly position: number; readonly time: number } | null;
  readonly tables: readonly TableReport[];
}

/** @throws {StoreUnusable} */
export async function storeStatus(
  directory: string,
  { hashes }: { readonly hashes: boolean },
): Promise<StoreStatus> {
  const folder = dataFolder(directory);
  const log = inspectStart(folder.journal);
  if (log instanceof JournalDamaged) throw log;
  const store = openStore(folder.history, log.logId);
  try {
    const { position, record, changesFrom, keptFrom, keptFromMs } = store.held;
    const tables: TableReport[] = [];
    for (const table of TABLES) {
      const rows = store.tables[table].count();
      const hash = hashes ? { sha256: await hashOfTable(store.environment, table) } : {};
      tables.push({ table, rows, ...hash });
    }
    const file = join(folder.history, STORE_FILE);
    return {
      file,
      bytes: statSync(file).size,
      walBytes: statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      format: HISTORY_FORMAT,
      position,
      behind: Math.max(0, log.end.record - record),
      changesFrom,
      historyBefore: keptFrom === 1 ? null : { position: keptFrom, time: keptFromMs },
      tables,
    };
  } finally {
    store.close();
  }
}

/** What a folder keeps of the past, as far as the header of its store tells. */
export interface StoreWindow {
  /** Of the file and its write-ahead file. */
  readonly bytes: number;
  /** Of the last command in the store. */
  readonly position: number;
  /** Where its window begins; null if all rows are there. */
  readonly historyBefore: StoreStatus["historyBefore"];
  /** The last command that the archive has which is fed from here; 0 if that is not known. */
  readonly archived: number;
}

/** Reads no rows. Undefined where there is no store, or none that can be read: the next start makes one. */
export function storeWindow(directory: string): StoreWindow | undefined {
  const folder = dataFolder(directory);
  const found = FoundHistory.find(folder.history);
  try {
    if (found.row === undefined) return undefined;
    const { position, keptFrom, keptFromMs } = found.row;
    const archived = readArchived(folder);
    const isSamePast = archivedTo(archived, (number) => found.block(number)) > 0;
    return {
      bytes: storedBytes(join(folder.history, STORE_FILE)),
      position,
      historyBefore: keptFrom === 1 ? null : { position: keptFrom, time: keptFromMs },
      archived: isSamePast ? (archived?.position ?? 0) : 0,
    };
  } finally {
    found.close();
  }
}

function storedBytes(file: string): number {
  return statSync(file).size + (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0);
}
