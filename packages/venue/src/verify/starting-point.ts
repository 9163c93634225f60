/** Where the replay of a folder's log begins, for those that compare something with it. */
import {
  FileSnapshots,
  inspectLog,
  isNotThere,
  JournalDamaged,
  LOG_START,
  type LogSeq,
  type LogState,
  nodeDisk,
} from "@perpgate/journal";
import { newestState } from "../recovery/newest-state.js";
import { newReplicaState, type ReplicaState } from "../recovery/replica-state.js";

export class NothingToVerify extends Error {
  override readonly name = "NothingToVerify";
}

/** The log as it is now, or what is damaged of it. @throws {NothingToVerify} */
export function inspectStart(journal: string): LogState | JournalDamaged {
  try {
    const log = inspectLog(nodeDisk, journal, "tail");
    if (log !== undefined) return log;
  } catch (error) {
    if (error instanceof JournalDamaged) return error;
    if (!isNotThere(error)) throw error;
  }
  throw new NothingToVerify(`there is no log in ${journal}`);
}

/** Whether the log was pruned meanwhile: then a fault may come from the removed segments. */
export function wasPruned(journal: string, log: LogState | JournalDamaged): boolean {
  const now = inspectStart(journal);
  if (log instanceof JournalDamaged || now instanceof JournalDamaged) return false;
  return now.first.batch > log.first.batch;
}

interface StartingPoint {
  readonly state: ReplicaState;
  readonly from: LogSeq;
}

/** The beginning; for a pruned log, the oldest snapshot from which the log is complete. */
export function startingPoint(journal: string, logId: Uint8Array, first: LogSeq): StartingPoint {
  if (first.batch === 0) return { state: newReplicaState(), from: LOG_START };
  const files = new FileSnapshots(nodeDisk, journal, logId);
  for (const { seq } of files.list().reverse()) {
    if (seq.batch < first.batch) continue;
    const start = newestState(files, seq.batch);
    if (start?.from.batch === seq.batch) return start;
  }
  throw new NothingToVerify(`the log begins at batch ${first.batch}, and no snapshot leads there`);
}
