/**
 * Requests of remote attestors: submit votes, read the queue of deposits to vote on. Both are signed by
 * a member's key; the implementation checks the signature before anything reaches the log.
 */

import type { BridgeInfo, DepositQueue, DepositQueueBody, SubmittedVote } from "@perpgate/protocol";
import type { Signed } from "../request.js";

export interface Attestation {
  info(): BridgeInfo;
  /** For each vote the reason why it does not count, or null. A forged vote rejects the whole call. */
  accept(votes: readonly SubmittedVote[]): Promise<readonly (string | null)[]>;
  queue(request: Signed<DepositQueueBody>): Promise<DepositQueue>;
}
