/** What the journal's threads say to one another. */

import type { MessagePort } from "node:worker_threads";
import type { RingMemory } from "../commit-ring.js";
import type { WriterState } from "../segment-writer.js";

export interface CommitThreadData {
  readonly ring: RingMemory;
  readonly state: WriterState;
  readonly allocator: MessagePort;
  readonly allocated: SharedArrayBuffer;
  /** Of an `ExitDeadline`, if a failure of the log ends the process. */
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

export interface AllocateThreadData {
  readonly directory: string;
  readonly segmentBytes: number;
  readonly requests: MessagePort;
  /** One word: how many requests have been answered. */
  readonly allocated: SharedArrayBuffer;
}

/** To the allocating thread: make the segment of this number. */
export interface AllocateRequest {
  readonly number: number;
}

/** From the allocating thread: it is in place, or why it is not. */
export interface AllocateAnswer {
  readonly number: number;
  readonly failure?: Failure;
}

/** From the allocating thread to the journal's: how the last attempt to make a segment went. */
export interface AllocateReport {
  readonly number: number;
  readonly failure: Failure | undefined;
}

/** From the committing thread. Success needs no message: the ring's durable count tells it. */
export type CommitThreadMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly failure: Failure };

/** An error as it crosses threads: a cloned Error would lose the system's code. */
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
