/**
 * Gives up old segments. The oldest goes first and the directory is synced after, so a crash
 * leaves a shorter log without a gap.
 */

import type { Disk } from "./disk.js";
import { PruneRefused } from "./errors.js";
import type { LogPosition } from "./journal.js";
import { listSegments } from "./log-state.js";
import type { Snapshots } from "./snapshots.js";

export interface PruneGuards {
  readonly snapshots: Snapshots;
  readonly readers: Iterable<LogPosition>;
  /** The durable end. */
  readonly end: LogPosition;
}

/** Removes the segments that lie wholly below a place; returns how many. */
export function pruneLog(
  disk: Disk,
  directory: string,
  below: LogPosition,
  { snapshots, readers, end }: PruneGuards,
): number {
  const standing = snapshots.newest().snapshot?.position;
  if (standing === undefined) throw new PruneRefused("there is no valid snapshot");
  if (standing.batch < below.batch) {
    throw new PruneRefused(`the newest valid snapshot stands at batch ${standing.batch}`);
  }
  for (const reader of readers) {
    if (reader.batch < below.batch) {
      throw new PruneRefused(`a reading is still at batch ${reader.batch}`);
    }
  }
  const segments = listSegments(disk, directory);
  let removed = 0;
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1]?.header;
    if (next === undefined || next.first.batch > below.batch) break;
    // The next segment becomes the oldest, so its header must be durable, as its first batch is.
    if (next.first.batch >= end.batch) break;
    disk.remove(segment.path);
    // One at a time: were two removals to reach the disk out of order, the log would have a gap.
    disk.syncDirectory(directory);
    removed += 1;
  }
  return removed;
}
