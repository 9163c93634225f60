/** Attestors: watch a chain, vote on a deposit. */

export { Bridge, type WithdrawalOptions } from "./attest/bridge.js";
export { AttestorHealth } from "./attestor-health.js";
export {
  newAttestorKey,
  privateKeyFromSeed,
  publicKeyFromHex,
  publicKeyHex,
  readKeyFile,
} from "./attestor-key.js";
export type { BridgeEvent } from "./bridge-event.js";
export { tronAddressOf } from "./chain/tron-address.js";
export {
  type BridgeConfig,
  type ChainBridgeConfig,
  resolveBridge,
  type WithdrawalTermsConfig,
} from "./config/bridge-config.js";
export type { ChainConfig } from "./config/chain-config.js";
export { BridgeConfigError, termsOf } from "./config/chain-config.js";
export { BridgeProcess } from "./process/bridge-process.js";
export { checkPublishedDeposit, checkPublishedVote } from "./published-votes.js";
export { type RelayEvent, Relayer, type RelayStep } from "./relay/relayer.js";
export { RemoteVenue } from "./remote-venue.js";
export { observeBridge } from "./telemetry.js";
export {
  ADMIN_ACTIONS,
  type AdminFile,
  type Administration,
  adminDigest,
  adminFields,
  adminFileText,
  readAdminFile,
  readVaultSetup,
} from "./vault/admin-file.js";
export { requestOfVotes, type VaultRequest } from "./vault/request.js";
export {
  domainSeparatorOf,
  joinSignatures,
  type SignerGroup,
  signVaultData,
  signWithdrawal,
  VAULT_TYPES,
  type VaultAction,
  type VaultData,
  type VaultDomain,
  type VaultWithdrawal,
  vaultDigest,
  vaultSignerOf,
} from "./vault/typed-data.js";
export { VAULT_ABI, VAULT_BYTECODE, VAULT_CODE } from "./vault/vault-artifact.js";
export type { DepositPort, VenueTerms } from "./venue-port.js";
export {
  isSignedText,
  type SignedVote,
  signVote,
  type Vote,
  type VoteCredit,
  verifyVote,
  voteBytes,
} from "./vote.js";
export { RequestWatch } from "./withdraw/request-watch.js";
export { SigningRecord, SigningRecordDamaged } from "./withdraw/signing-record.js";
export {
  type SigningConfig,
  WithdrawalAttestor,
} from "./withdraw/withdrawal-attestor.js";
export type {
  OpenWithdrawalPage,
  SignedWithdrawalVote,
  WithdrawalPort,
} from "./withdraw/withdrawal-port.js";
