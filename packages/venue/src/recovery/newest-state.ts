/**
 * Finds the state that a replica starts from: the newest intact snapshot that this release can read. A
 * snapshot in another release's format is skipped like a damaged one, and more of the log is replayed.
 */
import { SnapshotUnreadable } from "@perpgate/engine";
import type { LogSeq, Snapshots } from "@perpgate/journal";
import {
  decodeReplicaState,
  ReplicaSnapshotUnreadable,
  type ReplicaState,
} from "./replica-state.js";

export interface NewestState {
  readonly state: ReplicaState;
  /** Position in the log after the state. */
  readonly from: LogSeq;
}

/** The newest state at or before the batch, if any; skipped files are appended to `skipped`. */
export function newestState(
  snapshots: Snapshots,
  atOrBefore = Number.MAX_SAFE_INTEGER,
  skipped: string[] = [],
): NewestState | undefined {
  for (let bound = atOrBefore; ; ) {
    const { snapshot, damaged } = snapshots.newest(bound);
    skipped.push(...damaged);
    if (snapshot === undefined) return undefined;
    try {
      return { state: decodeReplicaState(snapshot.body), from: snapshot.seq };
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      skipped.push(snapshot.file);
      bound = snapshot.seq.batch - 1;
    }
  }
}

/** The newest of several folders. */
export function newestOf(
  folders: readonly Snapshots[],
  atOrBefore?: number,
  skipped?: string[],
): NewestState | undefined {
  const found = folders.flatMap((each) => newestState(each, atOrBefore, skipped) ?? []);
  return found.sort((a, b) => b.from.batch - a.from.batch)[0];
}

/** Whether the error means that this release cannot read the snapshot's format. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof ReplicaSnapshotUnreadable || error instanceof SnapshotUnreadable;
}
