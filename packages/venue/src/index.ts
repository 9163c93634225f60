export { ENGINE_VERSION, TRADE_ADL, UnknownToRelease } from "@perpgate/engine";
export { type Backup, type BackupOptions, BackupRefused, backUp } from "./backup.js";
export { BlockFault, leafAt, type OpenBlock } from "./blocks/block-builder.js";
export { type BlockHeader, encodeHeader, type SealedBlock } from "./blocks/block-header.js";
export { inclusionPath, leafHash } from "./blocks/merkle.js";
export type { Checkpoint } from "./checkpoint/checkpoint-file.js";
export { CheckpointFault } from "./checkpoint/checkpointer.js";
export { type CohortLists, cohortCommands } from "./cohort-commands.js";
export {
  DepositVotes,
  type DepositVotesParts,
  type VoteJudgement,
} from "./deposits/deposit-votes.js";
export type { AttestorHistory, AttestorsSince } from "./listing/attestor-history.js";
export type { AttestorKeys, DepositScope } from "./listing/attestor-keys.js";
export {
  encodeListing,
  type ListedMarket,
  Listing,
  listingEvidence,
  type MarketUnits,
} from "./listing/listing.js";
export { DEFAULT_PARAMETERS, type VenueParameters, venueConfigOf } from "./listing/venue-config.js";
export { OPERATOR_EXPIRY_MS } from "./operator-expiry.js";
export { type PrunePlan, planPrune } from "./prune/prune-plan.js";
export {
  decodeRecord,
  type Evidence,
  encodeRecord,
  type LogRecord,
  NO_EVIDENCE,
  RecordUnreadable,
} from "./record/record.js";
export { shownLoss } from "./recovery/log-proofs.js";
export type { RecoveryReport } from "./recovery/recover.js";
export { type Applied, type CommandObserver, ReplayFailed, Replica } from "./replica.js";
export {
  type BatchSubmitter,
  RecordTooLarge,
  Sequencer,
  type Submitter,
  VenueStopped,
} from "./sequencer.js";
export { type BootClock, type BootTime, systemBootClock } from "./time/boot-clock.js";
export { type ClockJump, type JumpKind, MAX_LAG_MS } from "./time/venue-clock.js";
export { Venue } from "./venue.js";
export {
  ClockRefused,
  ConfigRefused,
  type ConfigRule,
  HistoryDamaged,
  HistoryLost,
} from "./venue-errors.js";
export {
  type CheckpointOptions,
  DEFAULT_CHECKPOINTS,
  type VenueLogger,
  type VenueOptions,
} from "./venue-options.js";
export type { Fault, RecoverWallet } from "./verify/evidence-check.js";
export { isSignedBy } from "./verify/key-signature.js";
export {
  NothingToVerify,
  type VerifyOptions,
  type VerifyProgress,
  type VerifyReport,
  verify,
} from "./verify/verify.js";
export type {
  DepositSubject,
  OpenDeposits,
} from "./views/attestation-rows.js";
export { AttestationView } from "./views/attestation-view.js";
export type { BookLevels, Levels } from "./views/book-view.js";
export {
  type AccountChange,
  type ClosedPosition,
  changeKind,
  moneyIn,
  tellsMoney,
  tellsOfFills,
} from "./views/change-view.js";
export type { Outcome } from "./views/outcome.js";
export type { PastBatch, PastMarginChange, PastOperation } from "./views/past-results.js";
export type { PublicEventSink } from "./views/public-events.js";
export { type PastAcknowledgement, Views } from "./views/views.js";
