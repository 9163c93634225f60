/**
 * Refuses a log whose rules this release does not know, before anything in the data folder changes: a
 * log of release 0.1, or one that a newer release has begun. A later `Upgrade` to an unknown version
 * is found by the replay.
 */
import {
  ENGINE_VERSION,
  RULE_SETS,
  ruleSetOf,
  SnapshotUnreadable,
  UnknownToRelease,
} from "@perpgate/engine";
import {
  batchFormatOf,
  FileSnapshots,
  inspectLog,
  isNotThere,
  JournalDamaged,
  LOG_START,
  type LogState,
  nodeDisk,
  SegmentReader,
} from "@perpgate/journal";
import { decodeRecord } from "../record/record.js";
import { decodeReplicaState } from "./replica-state.js";

/** Takes no lock. `journal`: the folder of the log. @throws UnknownToRelease */
export function refuseUnknownLog(journal: string): void {
  refuseOldFormat(journal);
  const log = inspect(journal);
  if (log === undefined) return;
  if (log.first.batch === 0) refuseUnknownGenesis(journal, log);
  else refuseUnknownSnapshots(journal, log);
}

/** Release 0.1 wrote batches of another format. */
function refuseOldFormat(journal: string): void {
  try {
    if (batchFormatOf(nodeDisk, journal) === "PGB1") ruleSetOf(RULE_SETS, undefined);
  } catch (error) {
    if (!isNotThere(error)) throw error;
  }
}

/** Undefined if there is no log, or a damaged one: then opening it says what is wrong. */
function inspect(journal: string): LogState | undefined {
  try {
    return inspectLog(nodeDisk, journal, "tail");
  } catch (error) {
    if (error instanceof JournalDamaged || isNotThere(error)) return undefined;
    throw error;
  }
}

function refuseUnknownGenesis(journal: string, { end }: LogState): void {
  const reader = new SegmentReader(nodeDisk, journal, LOG_START);
  try {
    const record = reader.next(end.batch)?.records[0];
    if (record === undefined) return;
    const { command } = decodeRecord(record);
    if (command.kind === "Genesis") ruleSetOf(RULE_SETS, command.engineVersion);
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
  } finally {
    reader.close();
  }
}

/** A pruned log begins with a snapshot; the newest tells which release wrote it. */
function refuseUnknownSnapshots(journal: string, { logId }: LogState): void {
  const { snapshot } = new FileSnapshots(nodeDisk, journal, logId).newest(Number.MAX_SAFE_INTEGER);
  if (snapshot === undefined) return;
  try {
    decodeReplicaState(snapshot.body);
  } catch (error) {
    if (error instanceof UnknownToRelease) throw error;
    if (error instanceof SnapshotUnreadable && error.format !== undefined) {
      throw new UnknownToRelease(
        `the log was pruned and its snapshots are those of another release, state format ` +
          `${error.format}, which this release, engine version ${ENGINE_VERSION}, cannot read`,
      );
    }
  }
}
