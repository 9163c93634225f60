/** Messages between the journal's thread and the committing thread. */

import type { RingMemory } from "../commit-ring.js";
import type { WriterState } from "../segment-writer.js";

export interface CommitThreadData {
  readonly ring: RingMemory;
  readonly state: WriterState;
  readonly segmentBytes: number;
  /** Memory of an `ExitDeadline`, if a failure of the log ends the process. */
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

/** From the committing thread. A commit needs no message: the ring's durable count reports it. */
export type CommitThreadMessage =
  | { readonly kind: "ready" }
  /** An attempt to create the next segment ended. */
  | { readonly kind: "spare"; readonly failure: Failure | undefined }
  /** How many segments the last `PruneRequest` removed, or why it stopped. */
  | { readonly kind: "pruned"; readonly removed: number | Failure }
  | { readonly kind: "failed"; readonly failure: Failure };

/** An error passed between threads: a cloned Error would lose the system's code. */
interface Failure {
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
