/**
 * Where a replica begins: the newest snapshot that is intact and that this version can read. One
 * written by a version whose state has another form is passed over like a damaged one; the log
 * before it is read instead.
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
  /** The log's place behind what the state holds. */
  readonly from: LogSeq;
}

/** The newest state at or before that batch, if any; `passedOver` gets the files that were not it. */
export function newestState(
  snapshots: Snapshots,
  atOrBefore: number,
  passedOver: string[] = [],
): NewestState | undefined {
  for (let bound = atOrBefore; ; ) {
    const { snapshot, damaged } = snapshots.newest(bound);
    passedOver.push(...damaged);
    if (snapshot === undefined) return undefined;
    try {
      return { state: decodeReplicaState(snapshot.body), from: snapshot.seq };
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      passedOver.push(snapshot.file);
      bound = snapshot.seq.batch - 1;
    }
  }
}

/** Whether a snapshot's body is of a form that this version cannot read. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof ReplicaSnapshotUnreadable || error instanceof SnapshotUnreadable;
}
