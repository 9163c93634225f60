/**
 * Submits votes. If the venue rejects a request as a whole, its votes are submitted one by one, so
 * that only the vote at fault is delayed.
 */

import type { Chain } from "@perpgate/protocol";
import type { DepositBackoff } from "../backoff.js";
import type { BridgeObserver } from "../bridge-event.js";
import { type DepositPort, VenueUnreachable } from "../venue-port.js";
import type { SignedVote } from "../vote.js";

interface VoteSenderParts {
  readonly chain: Chain;
  readonly port: DepositPort;
  readonly backoff: DepositBackoff;
  readonly clock: () => number;
  readonly observe: BridgeObserver;
}

/** Not an error: another attestor's vote settled the deposit first. */
const SETTLED = "deposit_settled";

export class VoteSender {
  constructor(private readonly parts: VoteSenderParts) {}

  /**
   * Returns the number of accepted votes.
   *
   * @throws VenueUnreachable without trying the other votes.
   */
  async send(votes: readonly SignedVote[]): Promise<number> {
    if (votes.length === 0) return 0;
    let refusals: readonly (string | null)[];
    try {
      refusals = await this.parts.port.submit(votes);
    } catch (error) {
      if (error instanceof VenueUnreachable) throw error;
      const [first, ...rest] = votes;
      if (first !== undefined && rest.length === 0) {
        this.failed(first, error);
        return 0;
      }
      let accepted = 0;
      for (const vote of votes) accepted += await this.send([vote]);
      return accepted;
    }
    return votes.filter((vote, i) => this.isAccepted(vote, refusals[i] ?? null)).length;
  }

  private isAccepted({ vote: { depositId } }: SignedVote, reason: string | null): boolean {
    const { chain, backoff, clock, observe } = this.parts;
    if (reason === null || reason === SETTLED) {
      backoff.succeeded(depositId);
      return reason === null;
    }
    backoff.failed(depositId, clock());
    observe({ kind: "VoteRefused", chain, depositId, reason });
    return false;
  }

  private failed({ vote: { depositId } }: SignedVote, error: unknown): void {
    const { chain, backoff, clock, observe } = this.parts;
    const retryAtMs = backoff.failed(depositId, clock());
    observe({ kind: "SubmitFailed", chain, depositId, retryAtMs, error });
  }
}
