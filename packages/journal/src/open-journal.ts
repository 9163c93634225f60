/**
 * Opens a journal, in this order: lock the directory, inspect the log, compare its end with proofs,
 * repair the tail, start the committer.
 *
 * Throws `JournalLocked` while another process has the journal open, `JournalDamaged` when the log is
 * not what was written, and `LogBehind` when a proof shows that its end is missing; in all three
 * cases nothing on disk has changed. A torn tail is copied, cut and reported. Readers see a batch
 * found here only after the repair has made it durable. A crash at any step leaves a state that the
 * next open handles.
 */

import { randomBytes } from "node:crypto";
import { type Committer, InlineCommitter } from "./committer.js";
import { type Disk, type DiskLock, isNoRoom } from "./disk.js";
import { JournalDamaged, JournalError, JournalLocked, LogBehind, type LogProof } from "./errors.js";
import { FileJournal, type SpareStatus } from "./file-journal.js";
import { LOG_START, type LogSeq, MAX_BATCH_BYTES } from "./journal.js";
import { removeUnfinished, repairLog } from "./log-repair.js";
import { inspectLog, type LogState } from "./log-state.js";
import { nodeDisk } from "./node-disk.js";
import {
  encodeSegmentHeader,
  LOG_ID_BYTES,
  SEGMENT_HEADER_BYTES,
  segmentPath,
} from "./segment-format.js";
import type { WriterState } from "./segment-writer.js";
import { FileSnapshots, isSnapshotName } from "./snapshots.js";
import { allocateSegment } from "./spare-segments.js";
import { ThreadCommitter } from "./thread/thread-committer.js";

interface JournalOptions {
  readonly directory: string;
  /** Size of new segments. A batch must fit into one. */
  readonly segmentBytes?: number;
  /**
   * What an open checks: the whole log (the default), or only its last segment. Readers check every
   * batch again, so "tail" suffices for a replica that reads on from a snapshot; the part before the
   * snapshot then remains unchecked until `verify`.
   */
  readonly verify?: "all" | "tail";
  /** Where commits run: in a separate thread (the default), or in the caller's. */
  readonly commit?: "thread" | "inline";
  /** A simulated disk, which only `commit: "inline"` can use. */
  readonly disk?: Disk;
  /** Called after every attempt to create the next segment in advance. */
  readonly onSpare?: (status: SpareStatus) => void;
  /** Memory of an `ExitDeadline`; the committing thread sets it when the log fails. */
  readonly exitDeadline?: SharedArrayBuffer;
  /** Id of a log that is created; random by default, fixed in tests. */
  readonly newLogId?: Uint8Array;
  /**
   * Indexes that the log must have reached, in addition to those of its snapshots. Called with the
   * lock held, before anything is changed; `logId` is undefined if there is no log.
   */
  readonly proofs?: (logId: Uint8Array | undefined) => Promise<readonly LogProof[]>;
  /**
   * Called instead of throwing `LogBehind`, before anything is changed. When it resolves, every file
   * that proved the loss, snapshots included, must have been moved away.
   */
  readonly giveUp?: (loss: Loss) => Promise<void>;
}

/** What is missing from a log. */
export interface Loss {
  readonly logId: Uint8Array;
  readonly first: LogSeq;
  readonly end: LogSeq;
  /** Those after `end`. */
  readonly proofs: readonly LogProof[];
  /** The last segment, and the one after it if a torn commit wrote to it. */
  readonly tailFiles: readonly string[];
}

export const DEFAULT_SEGMENT_BYTES = 64 * 1024 * 1024;

export async function openJournal(options: JournalOptions): Promise<FileJournal> {
  const { directory, disk = nodeDisk, segmentBytes = DEFAULT_SEGMENT_BYTES } = options;
  disk.makeDirectory(directory);
  const lock = disk.lock(directory);
  if (!lock.held) throw new JournalLocked(directory, lock.holder);
  try {
    return await openLocked(options, disk, segmentBytes, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openLocked(
  options: JournalOptions,
  disk: Disk,
  segmentBytes: number,
  lock: DiskLock,
): Promise<FileJournal> {
  const { directory } = options;
  const verify = options.verify ?? "all";
  let state = inspectLog(disk, directory, verify);
  await compareWithProofs(options, disk, state);
  removeUnfinished(disk, directory);
  if (state === undefined) {
    createLog(disk, directory, segmentBytes, options.newLogId ?? randomBytes(LOG_ID_BYTES));
    state = inspectLog(disk, directory, verify);
  }
  if (state === undefined) throw new Error(`no log could be made in ${directory}`);
  const cut = repairLog(disk, directory, state);
  const { logId, first, end } = state;
  const maxBatchBytes = Math.min(MAX_BATCH_BYTES, segmentBytes - SEGMENT_HEADER_BYTES);
  const recovery = { logId, first, end, cut };
  const journal = new FileJournal(disk, directory, lock, recovery, maxBatchBytes, options.onSpare);
  journal.useCommitter(await startCommitter(options, disk, segmentBytes, state, journal));
  return journal;
}

/** Refuses if there are snapshots: then there was a log, and a new one would hide its loss. */
function createLog(disk: Disk, directory: string, segmentBytes: number, logId: Uint8Array): void {
  if (disk.list(directory).some(isSnapshotName)) {
    throw new JournalDamaged(segmentPath(directory, 1), 0, "there are snapshots but no log");
  }
  const header = encodeSegmentHeader({ logId, number: 1, first: LOG_START, previous: 0 });
  try {
    allocateSegment(disk, directory, 1, segmentBytes, header);
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    // Keeps the system's code for callers that handle disk errors by code.
    throw new JournalError(
      "ENOSPC",
      `there is no room in ${directory} for a log: each of its segments takes ${segmentBytes} bytes, ` +
        "and 16 MiB more must stay free",
      { cause: error },
    );
  }
}

/** A log that ends before an index it had reached has lost acknowledged batches. */
async function compareWithProofs(
  { directory, proofs, giveUp }: JournalOptions,
  disk: Disk,
  state: LogState | undefined,
): Promise<void> {
  const others = (await proofs?.(state?.logId)) ?? [];
  if (state === undefined) {
    const [proof] = others;
    if (proof === undefined) return;
    const reason = `there is no log, but ${proof.source} shows position ${proof.record}`;
    throw new JournalDamaged(segmentPath(directory, 1), 0, reason);
  }
  const { logId, first, end } = state;
  const past = [...snapshotProofs(disk, directory, logId), ...others].filter(
    ({ batch, record }) => batch > end.batch || record > end.record,
  );
  if (past.length === 0) return;
  if (giveUp === undefined) throw new LogBehind(directory, end, past, first);
  const last = segmentPath(directory, state.segment);
  const tailFiles = new Set([last, ...state.torn.map(({ file }) => file)]);
  await giveUp({ logId, first, end, proofs: past, tailFiles: [...tailFiles] });
}

/** Snapshots are proofs: they are made of durable batches only. */
function snapshotProofs(disk: Disk, directory: string, logId: Uint8Array): LogProof[] {
  const snapshots = new FileSnapshots(disk, directory, logId).list();
  return snapshots.map(({ file, seq }) => ({ source: file, ...seq }));
}

async function startCommitter(
  options: JournalOptions,
  disk: Disk,
  segmentBytes: number,
  state: LogState,
  journal: FileJournal,
): Promise<Committer> {
  const { logId, segment, offset, previous, end: seq, spareReady } = state;
  const { directory } = options;
  const start: WriterState = {
    directory,
    logId,
    segment,
    offset,
    previous,
    seq,
    spareReady,
  };
  if (options.commit === "inline" || disk !== nodeDisk) {
    return new InlineCommitter(disk, start, segmentBytes, journal.ring, journal);
  }
  const { exitDeadline } = options;
  const data = { state: start, segmentBytes, exitDeadline };
  return ThreadCommitter.start(data, journal.ring, journal);
}
