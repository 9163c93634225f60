/**
 * Finds the segments of a log that no restart needs. Changes nothing; may run next to a live venue.
 *
 * A restart needs an intact snapshot that this release can read, the log from there on, and the
 * history up to there: a pruned log can rebuild neither the state nor the history before its start.
 * So each kept snapshot is read completely, and one that the history has not reached does not count.
 * With two of them kept, one may become damaged.
 *
 * An archive that is fed from here needs the log from where it is, and a snapshot at or before that.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import {
  FileSnapshots,
  inspectLog,
  isNotThere,
  type LogSeq,
  listSegments,
  nodeDisk,
  PruneRefused,
  segmentsBelow,
} from "@perpgate/journal";
import { archivedTo, readArchived } from "./archive/archive-note.js";
import { decodeBlock } from "./blocks/block-header.js";
import { openForReading, type ReadStore } from "./history/history-store.js";
import { keyOf } from "./history/keys.js";
import { type DataFolder, dataFolder } from "./recovery/data-folder.js";
import { refuseUnknownLog } from "./recovery/log-version.js";
import { newestState } from "./recovery/newest-state.js";

export interface PrunePlan {
  /** Position of the oldest kept snapshot. */
  readonly below: LogSeq;
  /** Of the last command in that snapshot: what is up to there cannot be replayed from this folder. */
  readonly position: number;
  /** Files to remove, oldest first. */
  readonly files: readonly string[];
  readonly bytes: number;
  /** Segments that stay, including the allocated one that is still empty. */
  readonly keptSegments: number;
}

/** @throws {PruneRefused} with the reason if nothing may be removed. */
export async function planPrune(directory: string, keepSnapshots: number): Promise<PrunePlan> {
  const folder = dataFolder(directory);
  const log = inspectLog(nodeDisk, folder.journal, "tail");
  if (log === undefined) throw new PruneRefused("there is no log");
  refuseUnknownLog(folder.journal);
  const history = openForReading(folder.history, log.logId);
  if (history === undefined || "kind" in history) {
    const reason = history === undefined ? "" : ` (${history.reason})`;
    throw new PruneRefused(
      `there is no history of this log${reason}, and a pruned log cannot rebuild it`,
    );
  }
  const { batch: held } = history.held;
  const archived = archivedBatch(folder, history);
  history.close();
  const snapshots = new FileSnapshots(nodeDisk, folder.journal, log.logId);
  const usable: LogSeq[] = [];
  let position = 0;
  for (let bound = held; usable.length < keepSnapshots; ) {
    const found = newestState(snapshots, bound);
    if (found === undefined) {
      const kept = `${usable.length} of ${keepSnapshots} snapshots are usable`;
      throw new PruneRefused(`${kept}; wait for the next, or keep fewer`);
    }
    const { from, state } = found;
    position = state.engine.seq;
    usable.push(from);
    bound = from.batch - 1;
  }
  const oldest = usable.at(-1);
  if (archived !== undefined && oldest !== undefined && oldest.batch > archived) {
    const found = newestState(snapshots, archived);
    if (found === undefined) {
      throw new PruneRefused(
        `the archive has the log up to batch ${archived}, and no snapshot is as old: wait until it has more. ` +
          "If there is no archive any more, remove archived.json",
      );
    }
    position = found.state.engine.seq;
    usable.push(found.from);
  }
  const below = usable.at(-1) ?? log.first;
  const gone = segmentsBelow(nodeDisk, folder.journal, below, log.end);
  return {
    below,
    position,
    files: gone.map(({ path }) => path),
    bytes: gone.reduce((sum, { path }) => sum + statSync(path).size, 0),
    keptSegments: listSegments(nodeDisk, folder.journal).length - gone.length,
  };
}

/** Batches of the log that the archive has; undefined: there is none. */
function archivedBatch(folder: DataFolder, history: ReadStore): number | undefined {
  const held = readArchived(folder);
  if (held === undefined) return undefined;
  const blockOf = (number: number) => {
    const bytes = history.tables.blocks.get(keyOf(number));
    return bytes === undefined ? undefined : decodeBlock(bytes);
  };
  return archivedTo(held, blockOf) === 0 ? 0 : held.batch;
}

const COMPARED_BYTES = 1024 * 1024;

/** @throws {PruneRefused} unless the copy of the folder has all these segments, byte for byte. */
export async function compareWithBackup(files: readonly string[], backup: string): Promise<void> {
  const { journal } = dataFolder(backup);
  for (const file of files) {
    const name = basename(file);
    const isSame = await isSameFile(file, join(journal, name)).catch((error: unknown) => {
      if (!isNotThere(error)) throw error;
      throw new PruneRefused(`${backup} does not have ${name}: back the folder up first`);
    });
    if (!isSame)
      throw new PruneRefused(`${name} differs in ${backup}: it is no copy of this folder`);
  }
}

/** In pieces; a signal gets a turn between them. */
async function isSameFile(file: string, other: string): Promise<boolean> {
  if (statSync(file).size !== statSync(other).size) return false;
  const [first, second] = [openSync(file, "r"), openSync(other, "r")];
  const [own, copied] = [Buffer.alloc(COMPARED_BYTES), Buffer.alloc(COMPARED_BYTES)];
  try {
    for (;;) {
      const length = readSync(first, own);
      if (length !== readSync(second, copied)) return false;
      if (length === 0) return true;
      if (!own.subarray(0, length).equals(copied.subarray(0, length))) return false;
      await new Promise((resume) => setImmediate(resume));
    }
  } finally {
    closeSync(first);
    closeSync(second);
  }
}
