/**
 * The journal: an ordered, durable log of byte records.
 *
 * Batches of records come in through `append`; the same batches go out through `read`, in one
 * order for every reader, and only once they are durable. The venue applies only what `read`
 * delivers, its own batches included, so a log on one disk and a log replicated over many machines
 * are the same thing to it. The journal knows nothing of what a record means.
 *
 * After a crash every batch whose append resolved is in the log; a batch whose append did not
 * resolve is there whole or not at all.
 */

import type { Snapshots } from "./snapshots.js";

/**
 * Who wrote a batch, and which of their batches it is. A writer counts up; it finds its last
 * counter in the log after a restart. Unknown outcomes are settled by appending the same id again,
 * so the log may hold an id twice, and whoever applies the log skips a counter it has passed.
 */
export interface BatchId {
  /** 0 … 2^32 − 1, one per gateway. */
  readonly writer: number;
  /** 0 … 2^53 − 1. */
  readonly counter: number;
}

/**
 * A place between two batches: how many batches and how many records precede it. Readers derive
 * it by counting; no writer stamps it, since in a replicated log no writer knows it.
 */
export interface LogSeq {
  readonly batch: number;
  readonly record: number;
}

export const LOG_START: LogSeq = { batch: 0, record: 0 };

export interface Batch {
  readonly id: BatchId;
  /** The place of its first record. */
  readonly seq: LogSeq;
  /** Valid for as long as the reader keeps them; never to be written to. */
  readonly records: readonly Uint8Array[];
}

/**
 * The largest batch, encoded. It is the default message limit of NATS, so that any batch a file
 * takes is one that a replicated log takes.
 */
export const MAX_BATCH_BYTES = 1024 * 1024;

export interface Journal {
  /**
   * Resolves once the batch is durable. Batches become durable in the order of the calls. The
   * records belong to the journal from here on: the caller must not change their bytes. Rejects
   * with `BatchRefused` when the batch can never be taken (the journal goes on), with
   * `JournalStopped` when the log failed (nothing will be taken again) and with `JournalClosed`.
   */
  append(id: BatchId, records: readonly Uint8Array[]): Promise<void>;

  /**
   * Delivers every durable batch from `from` on: first those in the log, then each new one as it
   * becomes durable, without gap or repeat. Delivery is a plain call, so that the order path pays
   * no promise and no copy for it. A callback that throws ends its own reading.
   */
  read(from: LogSeq, onBatch: (batch: Batch) => void): Reading;

  /** The place after the last durable batch. */
  readonly end: LogSeq;

  readonly snapshots: Snapshots;

  /**
   * Gives up the log below a place, in whole segments, and returns how many went. Refused with
   * `PruneRefused` unless a valid snapshot stands at or after that place and no reading is below.
   */
  prune(below: LogSeq): number;

  /** Resolves if the log fails. The process should then answer nothing more, and exit. */
  readonly stopped: Promise<Error>;

  /** Waits for what was appended, then lets go of the log. */
  close(): Promise<void>;
}

export interface Reading {
  /** Resolves when all that is durable has been delivered, or on `close`; rejects if it cannot. */
  readonly live: Promise<void>;
  close(): void;
}
