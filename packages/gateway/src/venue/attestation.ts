/**
 * What attestors elsewhere may ask of this venue: to take their votes, and what there is to vote
 * on. Both are signed by a key of the members; the implementation checks that, since only it knows
 * the keys. A request of anyone else is refused before the log.
 */

import type { BridgeInfo, DepositQueue, DepositQueueBody, SubmittedVote } from "@perpgate/protocol";
import type { Signed } from "../request.js";

export interface Attestation {
  /** The bridge as it is now. */
  info(): BridgeInfo;
  /** For each vote the reason why it does not count, or null. One that is forged refuses all. */
  accept(votes: readonly SubmittedVote[]): Promise<readonly (string | null)[]>;
  queue(request: Signed<DepositQueueBody>): Promise<DepositQueue>;
}
