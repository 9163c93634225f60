/**
 * Finds the segments of a log that no restart needs. Changes nothing; may run next to a live venue.
 *
 * A restart needs an intact snapshot that this release can read, the log from there on, and the
 * history up to there: a pruned log can rebuild neither the state nor the history before its start.
 * So each kept snapshot is read completely, and one that the history has not reached does not count.
 * With two of them kept, one may become damaged.
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
import { openForReading } from "./history/history-store.js";
import { dataFolder } from "./recovery/data-folder.js";
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
