/** Messages between the journal's threads. */

import type { MessagePort } from "node:worker_threads";
import type { RingMemory } from "../commit-ring.js";
import type { LogSeq } from "../journal.js";
import type { WriterState } from "../segment-writer.js";

export interface CommitThreadData {
  readonly ring: RingMemory;
  readonly state: WriterState;
  readonly allocator: MessagePort;
  readonly allocated: SharedArrayBuffer;
  /** Memory of an `ExitDeadline`, if a failure of the log ends the process. */
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

export interface AllocateThreadData {
  readonly directory: string;
  readonly segmentBytes: number;
  readonly requests: MessagePort;
  /** One word: how many requests have been answered. */
  readonly allocated: SharedArrayBuffer;
}

/** To the allocating thread: create the segment of this number. */
export interface AllocateRequest {
  readonly number: number;
}

/** From the allocating thread: the segment exists, or why it does not. */
export interface AllocateAnswer {
  readonly number: number;
  readonly failure?: Failure;
}

/** From the allocating thread to the journal's thread: result of an attempt to create a segment. */
export interface AllocateReport {
  readonly number: number;
  readonly failure: Failure | undefined;
}

/** From the committing thread. A commit needs no message: the ring's durable count reports it. */
export type CommitThreadMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly failure: Failure };

export interface PruneThreadData {
  readonly directory: string;
  readonly logId: Uint8Array;
  readonly below: LogSeq;
  /** Where readings are; they only move on. */
  readonly readers: readonly LogSeq[];
  /** The durable end. */
  readonly end: LogSeq;
}

/** From the pruning thread: how many segments it removed, or why it stopped. */
export type PruneAnswer = { readonly removed: number } | { readonly failure: Failure };

/** An error passed between threads: a cloned Error would lose the system's code. */
export interface Failure {
  readonly message: string;
  readonly code: string | undefined;
}

export function toFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), code: undefined };
  return { message: error.message, code: "code" in error ? String(error.code) : undefined };
}

export function fromFailure({ message, code }: Failure): Error {
  const error = new Error(message);
  return code === undefined ? error : Object.assign(error, { code });
}
