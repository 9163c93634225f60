/**
 * The journal in files of one directory.
 *
 * The path of a batch: `append` queues it; at the end of the current microtask queue it is encoded
 * into the ring; the committer writes and syncs it; `durable` delivers it to the readings, in order,
 * and then resolves its append. Nothing is delivered or resolved before `durable`. The committer
 * calls `failed` at most once; after that every pending and every later append rejects.
 */

import { encodeBatch, encodedBytes } from "./batch-format.js";
import { CommitRing, newRingMemory } from "./commit-ring.js";
import type { CommitEvents, Committer } from "./committer.js";
import type { Disk, DiskLock } from "./disk.js";
import { BatchRefused, JournalClosed, JournalStopped } from "./errors.js";
import { FileReading } from "./file-reading.js";
import type { Batch, BatchId, Journal, LogSeq, Reading } from "./journal.js";
import { pruneLog } from "./log-prune.js";
import type { CutTail } from "./log-repair.js";
import { type PendingAppend, PendingAppends } from "./pending.js";
import { FileSnapshots } from "./snapshots.js";

const WRITER = /^[0-9a-f]{32}$/;

interface Recovery {
  readonly logId: Uint8Array;
  readonly first: LogSeq;
  readonly end: LogSeq;
  /** Incomplete commits that a crash had left. None of them was acknowledged. */
  readonly cut: readonly CutTail[];
}

/** Whether the next segment exists. Without it the journal fails when the current one is full. */
export interface SpareStatus {
  /** Failed attempts to create it since the journal was opened. */
  readonly failures: number;
  /** Why the last attempt failed; undefined if it did not. */
  readonly problem: Error | undefined;
}

export class FileJournal implements Journal, CommitEvents {
  readonly snapshots: FileSnapshots;
  readonly stopped: Promise<Error>;
  readonly ring: CommitRing;
  spare: SpareStatus = { failures: 0, problem: undefined };
  private readonly pending = new PendingAppends();
  private readonly readings = new Set<FileReading>();
  private readonly onSpare: (status: SpareStatus) => void;
  private durableEnd: LogSeq;
  private committer: Committer | undefined;
  private publishing = false;
  private failure: JournalStopped | undefined;
  private closing: Promise<void> | undefined;
  /** Resolves when the committer does not prune. */
  private pruned: Promise<unknown> = Promise.resolve();
  private announceStop: (error: Error) => void = () => undefined;
  private announceIdle: (() => void) | undefined;

  constructor(
    private readonly disk: Disk,
    private readonly directory: string,
    private readonly lock: DiskLock,
    readonly recovery: Recovery,
    private readonly maxBatchBytes: number,
    onSpare: (status: SpareStatus) => void = () => undefined,
  ) {
    this.onSpare = onSpare;
    this.ring = new CommitRing(newRingMemory(maxBatchBytes));
    this.snapshots = new FileSnapshots(disk, directory, recovery.logId);
    this.durableEnd = recovery.end;
    this.stopped = new Promise((resolve) => {
      this.announceStop = resolve;
    });
  }

  /** Called once, before the journal is returned to its user. */
  useCommitter(committer: Committer): void {
    this.committer = committer;
  }

  get end(): LogSeq {
    return this.durableEnd;
  }

  append(id: BatchId, records: readonly Uint8Array[]): Promise<void> {
    const length = encodedBytes(records);
    const refusal =
      this.failure ?? this.closedError() ?? refuse(id, records, length, this.maxBatchBytes);
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.pending.push({ id, records, length, resolve, reject });
      this.publishSoon();
    });
  }

  read(from: LogSeq, onBatch: (batch: Batch) => void): Reading {
    const reading = new FileReading(
      this.disk,
      this.directory,
      from,
      () => this.durableEnd,
      onBatch,
      (closed) => this.readings.delete(closed),
    );
    this.readings.add(reading);
    return reading;
  }

  prune(below: LogSeq): number {
    const guards = { snapshots: this.snapshots, readers: this.readers(), end: this.durableEnd };
    return pruneLog(this.disk, this.directory, below, guards);
  }

  /** As `prune`, by the committer, between its commits. One after the other; `close` waits for it. */
  pruneBetweenCommits(below: LogSeq): Promise<number> {
    const pruned = this.pruned.then(async () => {
      const refusal = this.failure ?? this.closedError();
      if (refusal !== undefined) throw refusal;
      const request = { below, readers: this.readers(), end: this.durableEnd };
      return (await this.committer?.prune(request)) ?? 0;
    });
    this.pruned = pruned.catch(() => undefined);
    return pruned;
  }

  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  durable(batches: number): void {
    for (let count = 0; count < batches; count++) {
      const { id, records, resolve } = this.pending.shift();
      const seq = this.durableEnd;
      this.durableEnd = { batch: seq.batch + 1, record: seq.record + records.length };
      if (this.readings.size > 0) this.deliver({ id, seq, end: this.durableEnd, records });
      resolve();
    }
    if (this.pending.size === 0) this.announceIdle?.();
    else this.publishSoon();
  }

  failed(cause: unknown): void {
    const failure = new JournalStopped(cause);
    this.failure = failure;
    for (const { reject } of this.pending.drain()) reject(failure);
    this.announceStop(failure);
    this.announceIdle?.();
  }

  spareAttempted(problem: Error | undefined): void {
    const { failures } = this.spare;
    this.spare = { failures: problem === undefined ? failures : failures + 1, problem };
    this.onSpare(this.spare);
  }

  private readers(): LogSeq[] {
    return Array.from(this.readings, (reading) => reading.seq);
  }

  private deliver(batch: Batch): void {
    for (const reading of this.readings) reading.deliver(batch, this.durableEnd);
  }

  /**
   * Encodes after the microtasks queued so far, so that all appends of one turn share one commit.
   */
  private publishSoon(): void {
    if (this.publishing) return;
    this.publishing = true;
    queueMicrotask(() => {
      this.publishing = false;
      if (this.failure !== undefined) return;
      this.pending.placeWith((append) => this.place(append));
      this.ring.publish();
      this.committer?.wake();
    });
  }

  private place({ id, records, length }: PendingAppend): boolean {
    const at = this.ring.reserve(length);
    if (at === undefined) return false;
    encodeBatch(this.ring.view, at, length, id, records);
    return true;
  }

  private closedError(): JournalClosed | undefined {
    return this.closing === undefined ? undefined : new JournalClosed();
  }

  private async finish(): Promise<void> {
    if (this.pending.size > 0) {
      await new Promise<void>((resolve) => {
        this.announceIdle = resolve;
      });
    }
    for (const reading of this.readings) reading.close();
    await this.pruned;
    await this.committer?.close();
    this.lock.release();
  }
}

function refuse(
  { writer, counter }: BatchId,
  records: readonly Uint8Array[],
  length: number,
  maxBytes: number,
): BatchRefused | undefined {
  if (records.length === 0) return new BatchRefused("batch_empty", "a batch needs a record");
  if (length > maxBytes) {
    const message = `a batch takes ${maxBytes} bytes at most, this one has ${length}`;
    return new BatchRefused("batch_too_large", message);
  }
  if (!WRITER.test(writer)) {
    return new BatchRefused("writer_invalid", `a writer is 32 hex digits, not ${writer}`);
  }
  if (!Number.isSafeInteger(counter) || counter < 0) {
    return new BatchRefused("counter_out_of_range", `a counter is 0 … 2^53 − 1, not ${counter}`);
  }
  return undefined;
}
