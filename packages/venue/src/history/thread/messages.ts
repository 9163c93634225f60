/** Messages and shared memory between the history and its writing thread. */
import type { Held } from "../history-environment.js";

export interface WriterData {
  readonly directory: string;
  /** Lower-case hex. */
  readonly logId: string;
}

export interface ThreadData extends WriterData {
  /** Int32Array indexed by `SIGNAL`; the thread waits on FLUSHES. */
  readonly signals: SharedArrayBuffer;
  /** Memory of an `ExitDeadline`, if a failure ends the process. */
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

export const SIGNAL = {
  /** Count of requests to write without pauses. The main thread increments it, then notifies. */
  FLUSHES: 0,
  /** 1: roll back the open transaction and write no more. Stored before FLUSHES is incremented. */
  ABANDONED: 1,
} as const;
export const SIGNAL_BYTES = 8;

/** A slice, and the progress that it brings. */
export interface WriteSlice {
  readonly kind: "write";
  readonly number: number;
  readonly memory: SharedArrayBuffer;
  readonly length: number;
  /** Entries in it. */
  readonly count: number;
  readonly held: Held;
}

export type ToWriter =
  | WriteSlice
  /** Write everything posted so far now; `request` is the value of FLUSHES after the increment. */
  | { readonly kind: "flush"; readonly request: number }
  | { readonly kind: "close" };

export type FromWriter =
  /** This slice and all before it are on disk. */
  | { readonly kind: "written"; readonly number: number }
  /** A write failed; nothing more is written. */
  | { readonly kind: "failed"; readonly message: string };
