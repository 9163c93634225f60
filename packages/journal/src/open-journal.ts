/**
 * Opens a journal: lock, look, compare with what else is on disk, repair, start the committer, in
 * that order.
 *
 * Refuses with `JournalLocked` while another process has it, with `JournalDamaged` when the log is
 * not what was written, and with `LogBehind` when something else shows that its end is missing; in
 * all three cases it has changed nothing. A torn tail is copied, cut and reported. Nothing found here is shown to a reader
 * before it is durable. A crash at any step is met by the next open.
 */

import { randomBytes } from "node:crypto";
import { type Committer, InlineCommitter } from "./committer.js";
import { type Disk, type DiskLock, isNoRoom } from "./disk.js";
import { JournalDamaged, JournalError, JournalLocked, LogBehind, type LogProof } from "./errors.js";
import { FileJournal, type SpareStatus } from "./file-journal.js";
import { LOG_START, type LogSeq, MAX_BATCH_BYTES } from "./journal.js";
import { type CutTail, removeUnfinished, repairLog } from "./log-repair.js";
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

export interface JournalOptions {
  readonly directory: string;
  /** Size of the segments made from now on. A batch must fit into one. */
  readonly segmentBytes?: number;
  /**
   * What an open checks: the whole log (the default), or only its last segment. Reading checks
   * every batch again, so a replica that reads on from a snapshot needs only the tail; what lies
   * before the snapshot is then for an auditor to check.
   */
  readonly verify?: "all" | "tail";
  /** Where commits run: in a thread of their own (the default), or in the caller's. */
  readonly commit?: "thread" | "inline";
  /** A simulated disk, which only `commit: "inline"` can use. */
  readonly disk?: Disk;
  /** Called after every attempt to make the next segment ahead of need. */
  readonly onSpare?: (status: SpareStatus) => void;
  /** Memory of an `ExitDeadline`, which the committing thread sets when the log fails. */
  readonly exitDeadline?: SharedArrayBuffer;
  /** The id of a log that does not exist yet; random unless a test needs it fixed. */
  readonly newLogId?: Uint8Array;
  /**
   * Places that the log must have reached, besides those of its snapshots. Called under the lock and
   * before anything is changed, with the log's id, or undefined where there is no log.
   */
  readonly proofs?: (logId: Uint8Array | undefined) => Promise<readonly LogProof[]>;
  /**
   * Called instead of a refusal with `LogBehind`, before anything is changed. On return everything
   * that showed the loss, snapshots included, must lie elsewhere.
   */
  readonly giveUp?: (loss: Loss) => Promise<void>;
}

/** What is missing from a log. */
export interface Loss {
  readonly logId: Uint8Array;
  readonly first: LogSeq;
  readonly end: LogSeq;
  /** Those past the end. */
  readonly proofs: readonly LogProof[];
  /** The last segment, and the one after it where a torn commit reached into it. */
  readonly tailFiles: readonly string[];
}

export interface Recovery {
  readonly logId: Uint8Array;
  readonly first: LogSeq;
  readonly end: LogSeq;
  /** What a crash had left in part. None of it was acknowledged. */
  readonly cut: readonly CutTail[];
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

/** Where snapshots lie there was a log, and a new one in its place would hide the loss. */
function createLog(disk: Disk, directory: string, segmentBytes: number, logId: Uint8Array): void {
  if (disk.list(directory).some(isSnapshotName)) {
    throw new JournalDamaged(segmentPath(directory, 1), 0, "there are snapshots but no log");
  }
  const header = encodeSegmentHeader({ logId, number: 1, first: LOG_START, previous: 0 });
  try {
    allocateSegment(disk, directory, 1, segmentBytes, header);
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    // Under the system's own code: to a caller that tells disk errors apart it is one.
    throw new JournalError(
      "ENOSPC",
      `there is no room in ${directory} for a log: each of its segments takes ${segmentBytes} bytes`,
      { cause: error },
    );
  }
}

/** A log that ends before a place it had reached has lost what was acknowledged. */
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
  if (giveUp === undefined) throw new LogBehind(directory, end, past);
  const last = segmentPath(directory, state.segment);
  const tailFiles = new Set([last, ...state.torn.map(({ file }) => file)]);
  await giveUp({ logId, first, end, proofs: past, tailFiles: [...tailFiles] });
}

/** A snapshot stands for durable batches only. */
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
  return ThreadCommitter.start(start, segmentBytes, journal.ring, journal, options.exitDeadline);
}
