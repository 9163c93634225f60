export {
  BACKSTOP_ACCOUNT,
  ENGINE_VERSION,
  TICK_MS,
  TRADE_ADL,
  UnknownToRelease,
} from "@perpgate/engine";
export {
  type ArchiveBatch,
  ArchiveFeed,
  ArchiveRefused,
} from "./archive/archive-feed.js";
export {
  type ArchiveHeld,
  expectArchive,
  NOTHING_ARCHIVED,
  noteArchived,
} from "./archive/archive-note.js";
export {
  ARCHIVE_FORMAT,
  type ArchiveColumn,
  type ArchiveTable,
  archiveTables,
} from "./archive/archive-tables.js";
export { type ArchiveQuery, PUBLIC_READER } from "./archive/archived-rows.js";
export { type Backup, BackupRefused, backUp } from "./backup.js";
export { cohortCommands, OPERATOR_EXPIRY_MS } from "./cohort-commands.js";
export { DepositVotes } from "./deposit-votes.js";
export {
  type ColumnType,
  EXPORT_KINDS,
  type ExportCell,
  type ExportColumn,
  type ExportKind,
  type ExportRow,
  exportColumns,
  isOwn,
} from "./export/export-layout.js";
export {
  type ExportQuery,
  type ExportSpan,
  exportSpan,
  type OpenExport,
  openExport,
} from "./export/export-rows.js";
export { LogFollower } from "./follow.js";
export type { FilteredRows } from "./history/filtered-rows.js";
export type { FirstOfEpoch } from "./lead-sequencer.js";
export type { AttestorHistory } from "./listing/attestor-history.js";
export type { AttestorKeys } from "./listing/attestor-keys.js";
export { checkConfig } from "./listing/config-change.js";
export { type ListedMarket, listingEvidence, type MarketUnits } from "./listing/listing.js";
export {
  DEFAULT_PARAMETERS,
  type VenueParameters,
  venueConfigOf,
  type WithdrawalParameters,
} from "./listing/venue-config.js";
export { REAL_MACHINE } from "./machine.js";
export { IsAMirror, mirroredMessages, NotAMirror } from "./mirror.js";
export { NotApplied, RecordTooLarge, type Submitter, type Unanswered } from "./pending-batches.js";
export { compareWithBackup, type PrunePlan, planPrune } from "./prune-plan.js";
export {
  ed25519Key,
  type LogKey,
  LogKeyUnreadable,
  newLogKey,
  readLogKey,
  signWith,
} from "./receipts/log-key.js";
export type { Promises } from "./receipts/promises.js";
export type { OnReceipt } from "./receipts/receipts.js";
export { verifyEd25519Now } from "./receipts/verify-ed25519.js";
export { decodeRecord, type Evidence, encodeRecord, NO_EVIDENCE } from "./record/record.js";
export { shownLoss } from "./recovery/log-proofs.js";
export { refuseUnknownLog } from "./recovery/log-version.js";
export { type Applied, Replica } from "./replica.js";
export { type RestoreTarget, restore } from "./restore.js";
export { Sequencer } from "./sequencer.js";
export type { Attestation, SignedQueueRequest } from "./service/attestation.js";
export { Core, type CoreOptions } from "./service/core.js";
export { answered, type VenueCommand } from "./service/execution.js";
export { reservesDifference } from "./service/reserves.js";
export { systemBootClock } from "./time/boot-clock.js";
export { MAX_LAG_MS } from "./time/venue-clock.js";
export { succeed, successorsFile } from "./tlog/successor-store.js";
export type { WitnessSetting } from "./tlog/witness.js";
export { Venue } from "./venue.js";
export { genesisRecord } from "./venue-beginning.js";
export { ClockRefused, ConfigRefused, HistoryLost } from "./venue-errors.js";
export {
  type CheckpointOptions,
  DEFAULT_CHECKPOINTS,
  type PromiseOptions,
  type VenueLogger,
} from "./venue-options.js";
export type { RecoverWallet } from "./verify/evidence-check.js";
export { NothingToVerify } from "./verify/starting-point.js";
export {
  type StoreStatus,
  type StoreWindow,
  storeStatus,
  storeWindow,
} from "./verify/store-status.js";
export { type StoreReport, verifyStore } from "./verify/store-verify.js";
export { StoreUnusable, type TableReport, type VerifiedTable } from "./verify/stored-tables.js";
export {
  type VerifyOptions,
  type VerifyProgress,
  type VerifyReport,
  verify,
} from "./verify/verify.js";
export type { CommandOutcome } from "./views/outcome.js";
export type { PastBatch, PastOperation } from "./views/past-results.js";
export { type PastAcknowledgement, Views } from "./views/views.js";
export { WithdrawalVotes } from "./withdrawal-votes.js";
