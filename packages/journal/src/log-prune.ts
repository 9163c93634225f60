/**
 * Removes old segments, the oldest first, with a sync of the directory after each, so a crash leaves
 * a shorter log without a gap.
 */

import { type Disk, type Steps, toEnd } from "./disk.js";
import { JournalLocked, PruneRefused } from "./errors.js";
import type { LogSeq } from "./journal.js";
import { SegmentReader } from "./log-reader.js";
import { inspectLog, listSegments, type SegmentFile } from "./log-state.js";
import { CLAIM_WINDOW, MIRROR_WRITER } from "./mirrored.js";
import { FileSnapshots } from "./snapshots.js";

interface PruneGuards {
  readonly snapshots: FileSnapshots;
  /** Where readings are; they only move on. */
  readonly readers: Iterable<LogSeq>;
  /** The durable end. */
  readonly end: LogSeq;
}

/** Removes the segments that are wholly below `below`; returns their number. */
export function pruneLog(
  disk: Disk,
  directory: string,
  below: LogSeq,
  guards: PruneGuards,
): number {
  return toEnd(pruneSteps(disk, directory, below, guards));
}

/** A step per piece of the snapshot that is read, and per segment that is removed. */
export function* pruneSteps(
  disk: Disk,
  directory: string,
  below: LogSeq,
  { snapshots, readers, end }: PruneGuards,
): Steps<number> {
  const newest = yield* snapshots.newestIntact();
  if (newest === undefined) throw new PruneRefused("there is no valid snapshot");
  if (newest.batch < below.batch) {
    throw new PruneRefused(`the newest valid snapshot is at batch ${newest.batch}`);
  }
  for (const reader of readers) {
    if (reader.batch < below.batch) {
      throw new PruneRefused(`a reading is still at batch ${reader.batch}`);
    }
  }
  const removed = segmentsBelow(disk, directory, below, end);
  for (const { path } of removed) {
    yield;
    disk.remove(path);
    // One sync per removal: if two removals reached the disk out of order, the log would have a gap.
    disk.syncDirectory(directory);
  }
  return removed.length;
}

/**
 * The segments that are wholly below `below`, oldest first. A mirror keeps its last `CLAIM_WINDOW`
 * messages: without them its gateway could not join the log again.
 */
export function segmentsBelow(
  disk: Disk,
  directory: string,
  below: LogSeq,
  end: LogSeq,
): SegmentFile[] {
  const segments = listSegments(disk, directory);
  const first = segments[0]?.header?.first;
  if (first === undefined) return [];
  const bound = isMirrorLog(disk, directory, first, end) ? end.batch - CLAIM_WINDOW : end.batch;
  const keptFrom = Math.min(below.batch, bound);
  const kept = segments.findIndex((_, index) => {
    const next = segments[index + 1]?.header;
    // The next segment becomes the oldest, so its header must be durable, which it is once its first
    // batch is.
    return next === undefined || next.first.batch > keptFrom || next.first.batch >= end.batch;
  });
  return segments.slice(0, Math.max(0, kept));
}

/** Whether it is the mirror of a replicated log; an empty log is not. */
export function isMirrorLog(disk: Disk, directory: string, first: LogSeq, end: LogSeq): boolean {
  const reader = new SegmentReader(disk, directory, first);
  try {
    return reader.nextStored(end.batch)?.id.writer === MIRROR_WRITER;
  } finally {
    reader.close();
  }
}

/** `pruneLog` for a log that no process has open; throws `JournalLocked` otherwise. */
export function pruneClosedLog(disk: Disk, directory: string, below: LogSeq): number {
  const lock = disk.lock(directory);
  if (!lock.held) throw new JournalLocked(directory, lock.holder);
  try {
    const log = inspectLog(disk, directory, "tail");
    if (log === undefined) throw new PruneRefused("there is no log");
    const snapshots = new FileSnapshots(disk, directory, log.logId);
    return pruneLog(disk, directory, below, { snapshots, readers: [], end: log.end });
  } finally {
    lock.release();
  }
}
