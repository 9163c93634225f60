/** Attestors: watch a chain, vote on a deposit. */

export { Bridge, type BridgeOptions } from "./attest/bridge.js";
export { ChainAttestor, type ChainAttestorParts } from "./attest/chain-attestor.js";
export { AttestorHealth } from "./attestor-health.js";
export {
  createKeyFile,
  privateKeyFromSeed,
  publicKeyFromHex,
  publicKeyHex,
  readKeyFile,
} from "./attestor-key.js";
export type { BridgeEvent, BridgeObserver, ReorgReason } from "./bridge-event.js";
export { tronAddressBytes, tronAddressOf } from "./chain/tron-address.js";
export {
  type BridgeConfig,
  type ChainBridgeConfig,
  type KeySources,
  type LocalAttestor,
  resolveBridge,
} from "./config/bridge-config.js";
export { BridgeSettings, ChainSettings } from "./config/bridge-settings.js";
export type { ChainConfig, TokenConfig } from "./config/chain-config.js";
export { BridgeConfigError, termsOf } from "./config/chain-config.js";
export {
  checkPublishedDeposit,
  checkPublishedVote,
  type PublishedVoteProblem,
  type TrustedAttestors,
} from "./published-votes.js";
export { RemoteVenue, type RemoteVenueOptions } from "./remote-venue.js";
export { type BridgeLog, observeBridge } from "./telemetry.js";
export { BridgeThread, type BridgeThreadParts } from "./thread/bridge-thread.js";
export {
  type Awaitable,
  type ChainTerms,
  type DepositPort,
  type VenueTerms,
  VenueUnreachable,
} from "./venue-port.js";
export {
  type BlockReference,
  type SignedVote,
  type Statement,
  signVote,
  type Verdict,
  VOTE_FORMAT,
  type Vote,
  type VoteCredit,
  type VoteProblem,
  verifyVote,
  verifyVoteSync,
  voteBytes,
} from "./vote.js";
