/** Messages between the history and its writing thread. */
import type {
  SnapshotFiles,
  SnapshotOutcome,
  TakenSnapshot,
} from "../../checkpoint/snapshot-writer.js";
import type { Held } from "../history-environment.js";
import type { StoredRows } from "../retention.js";

export interface WriterData {
  readonly directory: string;
  /** Lower-case hex. */
  readonly logId: string;
  /** See change-projection.ts. */
  readonly outboxCommands: number;
  /** Unset: no snapshots. */
  readonly snapshots?: SnapshotFiles | undefined;
}

export interface ThreadData extends WriterData {
  /** Memory of a `BlockingPacer`; unset in the caller's thread, which does not rest. */
  readonly hurry?: SharedArrayBuffer;
  /** Memory of an `ExitDeadline`, if a failure ends the process. */
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

/** A slice, and the progress that it brings. */
export interface WriteSlice {
  readonly kind: "write";
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly held: Held;
}

export type ToWriter =
  | WriteSlice
  /** The rows of everything in it are on disk. */
  | { readonly kind: "snapshot"; readonly snapshot: TakenSnapshot }
  /** Write everything posted so far now. */
  | { readonly kind: "flush" }
  | { readonly kind: "close" };

/** This slice and all before it are on disk. */
export interface Written {
  readonly kind: "written";
  readonly number: number;
  readonly walBytes: number;
  readonly stored: StoredRows;
}

export type FromWriter =
  | Written
  | SnapshotOutcome
  /** A write failed; nothing more is written. */
  | { readonly kind: "failed"; readonly message: string };
