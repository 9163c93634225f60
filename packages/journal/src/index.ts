export { type Disk, type DiskFile, type DiskLock, isNotThere, type LockHolder } from "./disk.js";
export {
  BatchRefused,
  type BatchRule,
  JournalClosed,
  JournalDamaged,
  JournalError,
  JournalLocked,
  JournalStopped,
  LogBehind,
  type LogProof,
  PruneRefused,
  SeqUnavailable,
} from "./errors.js";
export { ExitDeadline, FAILURE_EXIT_MS } from "./exit-deadline.js";
export type { FileJournal, SpareStatus } from "./file-journal.js";
export {
  type Batch,
  type BatchId,
  type Journal,
  LOG_START,
  type LogSeq,
  MAX_BATCH_BYTES,
  type Reading,
} from "./journal.js";
export { pruneClosedLog, segmentsBelow } from "./log-prune.js";
export { LogReader } from "./log-reader.js";
export type { CutTail } from "./log-repair.js";
export { inspectLog, type LogState, listSegments, type TornTail } from "./log-state.js";
export { nodeDisk } from "./node-disk.js";
export {
  DEFAULT_SEGMENT_BYTES,
  type JournalOptions,
  type Loss,
  openJournal,
  type Recovery,
} from "./open-journal.js";
export {
  FileSnapshots,
  type NewestSnapshot,
  type Snapshot,
  type SnapshotInfo,
  type Snapshots,
} from "./snapshots.js";
