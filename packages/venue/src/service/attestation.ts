/**
 * Requests of remote attestors: submit votes, read the queue of deposits to vote on. Both are signed by
 * a member's key; the implementation checks the signature before anything reaches the log.
 */

import type {
  BridgeInfo,
  DepositQueue,
  DepositQueueBody,
  Reserves,
  SubmittedVote,
} from "@perpgate/protocol";

/** A body, the bytes it was parsed from, and the `X-Service-Sig` header as sent. */
export interface SignedQueueRequest {
  readonly body: DepositQueueBody;
  readonly bytes: Uint8Array;
  readonly signature: string | undefined;
}

export interface Attestation {
  /** The log has the rest. */
  info(): Omit<BridgeInfo, "withdrawals">;
  /** For each vote the reason why it does not count, or null. A forged vote rejects the whole call. */
  accept(votes: readonly SubmittedVote[]): Promise<readonly (string | null)[]>;
  /** What attestors have stated about the vaults; the newest statement of each. */
  holdings(): Reserves["vaults"];
  queue(request: SignedQueueRequest): Promise<DepositQueue>;
}
