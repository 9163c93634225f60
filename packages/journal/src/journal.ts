/**
 * The journal: an ordered, durable log of byte records.
 *
 * Writers call `append` with batches of records; `read` delivers the same batches to every reader,
 * in the same order, and only once they are durable. The venue applies only what `read` delivers,
 * its own batches included, so it works the same on a log on one disk and on a replicated log. The
 * journal does not interpret records.
 *
 * After a crash every batch whose append resolved is in the log; a batch whose append did not
 * resolve is there whole or not at all.
 */

import { LOG_START, type LogSeq } from "./log-seq.js";
import type { Snapshots } from "./snapshots.js";

export { LOG_START, type LogSeq };

/**
 * Who wrote a batch, and which of their batches it is. A writer takes a new random id at each start and
 * counts its batches from 0. A writer that does not know whether its append succeeded appends the same
 * id again, so a replicated log may contain an id twice; those that apply the log accept each once.
 */
export interface BatchId {
  /** 16 bytes as 32 lower-case hex digits. */
  readonly writer: string;
  /** 0 … 2^53 − 1. */
  readonly counter: number;
}

export interface Batch {
  readonly id: BatchId;
  /** Index of its first record. */
  readonly seq: LogSeq;
  /** Index after its last record; in the mirror of a replicated log a batch counts as one record. */
  readonly end: LogSeq;
  /** Valid for as long as the reader keeps them. Read-only. */
  readonly records: readonly Uint8Array[];
  /**
   * Set if the reader of a replicated log judged it unfit: no replica applies it. If its writer cannot
   * be told, `id` is the mirror's.
   */
  readonly isUnfit?: true;
}

/**
 * The largest encoded batch. It equals the default message limit of NATS, so a replicated log
 * accepts every batch that a file accepts.
 */
export const MAX_BATCH_BYTES = 1024 * 1024;

export interface Journal {
  /**
   * Resolves once the batch is durable. Batches become durable in the order of the calls. The
   * caller must not change the records' bytes afterwards. Rejects with `BatchRefused` when the batch
   * is invalid (later appends still work), with `JournalStopped` when the log failed (every later
   * append rejects too) and with `JournalClosed`.
   */
  append(id: BatchId, records: readonly Uint8Array[]): Promise<void>;

  /**
   * Delivers every durable batch from `from` on: first those in the log, then each new one as it
   * becomes durable, without gap or repeat. Delivery is a synchronous call, without a promise or a
   * copy on the order path. A callback that throws ends its own reading.
   */
  read(from: LogSeq, onBatch: (batch: Batch) => void): Reading;

  /** After the last durable batch. */
  readonly end: LogSeq;

  readonly snapshots: Snapshots;

  /**
   * Removes the segments that are wholly below `below` and returns their number. Throws
   * `PruneRefused` unless a valid snapshot exists at or after `below` and no reading is before it.
   */
  prune(below: LogSeq): number;

  /** Resolves if the log fails. The process must then send no more answers, and exit. */
  readonly stopped: Promise<Error>;

  /** Waits for pending appends, then releases files, threads and the lock. */
  close(): Promise<void>;
}

export interface Reading {
  /** Resolves when every durable batch has been delivered, or on `close`; rejects on a failed read. */
  readonly live: Promise<void>;
  close(): void;
}
