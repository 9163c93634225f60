export type {
  CoreLog,
  CoreLogHooks,
  CoreRun,
  Mirror,
  OpenCoreLog,
  OwnBatch,
  Settled,
} from "./core-log.js";
export { type Disk, type DiskFile, type DiskLock, isNotThere, type LockHolder } from "./disk.js";
export {
  BatchRefused,
  JournalDamaged,
  JournalError,
  JournalLocked,
  JournalStopped,
  LogBehind,
  type LogProof,
  PruneRefused,
} from "./errors.js";
export { ExitDeadline } from "./exit-deadline.js";
export type { FileJournal, SpareStatus } from "./file-journal.js";
export { openLockedFile } from "./file-lock.js";
export {
  type Batch,
  type BatchId,
  type Journal,
  LOG_START,
  type LogSeq,
  type Reading,
} from "./journal.js";
export { isMirrorLog, pruneClosedLog, segmentsBelow } from "./log-prune.js";
export { SegmentReader } from "./log-reader.js";
export type { CutTail } from "./log-repair.js";
export { batchFormatOf, inspectLog, type LogState, listSegments } from "./log-state.js";
export {
  CHAIN_BYTES,
  decodeMessage,
  encodeMessage,
  MAX_MESSAGE_BYTES,
  type Message,
  messageBytes,
} from "./message.js";
export {
  batchOf,
  CLAIM_WINDOW,
  decodeMirrored,
  encodeMirrored,
  type MessageVerdict,
  MIRROR_WRITER,
  type Mirrored,
  mirroredId,
} from "./mirrored.js";
export { nodeDisk } from "./node-disk.js";
export { DEFAULT_SEGMENT_BYTES, type Loss, openJournal } from "./open-journal.js";
export { LOG_ID_BYTES } from "./segment-format.js";
export { FileSnapshots, type Snapshots } from "./snapshots.js";
