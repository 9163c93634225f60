/**
 * Which segments of a log a venue can do without, and why not more.
 *
 * In: a data folder, and how many snapshots a restart must be able to begin from. Out: the place
 * below which the log may go, and the segments that lie wholly below it. It changes nothing, and may
 * run next to a live venue.
 *
 * A restart needs a snapshot that is intact and that this version can read, the log from there on,
 * and the history up to there: from a pruned log neither the state nor the history before its
 * beginning can be rebuilt. So the snapshots are read to the last byte, and one that the history has
 * not reached does not count. With two of them kept, one that is damaged later costs nothing.
 */
import { statSync } from "node:fs";
import {
  FileSnapshots,
  inspectLog,
  type LogSeq,
  listSegments,
  nodeDisk,
  PruneRefused,
  segmentsBelow,
} from "@perpgate/journal";
import { openForReading } from "../history/history-store.js";
import { dataFolder } from "../recovery/data-folder.js";
import { newestState } from "../recovery/newest-state.js";

export interface PrunePlan {
  /** Where the oldest of the kept snapshots stands. */
  readonly below: LogSeq;
  /** Files that go, oldest first. */
  readonly files: readonly string[];
  readonly bytes: number;
  /** Segments that stay, the one that is not begun included. */
  readonly keptSegments: number;
}

/** Throws `PruneRefused` with the reason if nothing may go. */
export async function planPrune(directory: string, keepSnapshots: number): Promise<PrunePlan> {
  const folder = dataFolder(directory);
  const log = inspectLog(nodeDisk, folder.journal, "tail");
  if (log === undefined) throw new PruneRefused("there is no log");
  const history = await openForReading(folder.history, log.logId);
  if (history === undefined || "kind" in history) {
    throw new PruneRefused("there is no history of this log, and a pruned log cannot rebuild it");
  }
  const { batch: held } = history.held;
  await history.close();
  const snapshots = new FileSnapshots(nodeDisk, folder.journal, log.logId);
  const usable: LogSeq[] = [];
  for (let bound = held; usable.length < keepSnapshots; ) {
    const from = newestState(snapshots, bound)?.from;
    if (from === undefined) {
      const found = `${usable.length} of ${keepSnapshots} snapshots are usable`;
      throw new PruneRefused(`${found}; wait for the next, or keep fewer`);
    }
    usable.push(from);
    bound = from.batch - 1;
  }
  const below = usable.at(-1) ?? log.first;
  const gone = segmentsBelow(nodeDisk, folder.journal, below, log.end);
  return {
    below,
    files: gone.map(({ path }) => path),
    bytes: gone.reduce((sum, { path }) => sum + statSync(path).size, 0),
    keptSegments: listSegments(nodeDisk, folder.journal).length - gone.length,
  };
}
