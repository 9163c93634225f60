/**
 * Hands votes to the venue so that no vote can keep another from arriving: a request that the venue
 * does not take is sent again vote by vote, and the one at fault waits alone.
 */

import type { Chain } from "@perpgate/protocol";
import type { BridgeObserver } from "../bridge-event.js";
import { type DepositPort, VenueUnreachable } from "../venue-port.js";
import type { SignedVote } from "../vote.js";
import type { DepositBackoff } from "./deposit-backoff.js";

export interface VoteSenderParts {
  readonly chain: Chain;
  readonly port: DepositPort;
  readonly backoff: DepositBackoff;
  readonly clock: () => number;
  readonly observe: BridgeObserver;
}

/** Another attestor's vote may settle a deposit first; that is no fault. */
const SETTLED = "deposit_settled";

export class VoteSender {
  constructor(private readonly parts: VoteSenderParts) {}

  /**
   * Returns how many the venue took.
   *
   * @throws VenueUnreachable if the venue is down: trying the other votes would only take longer.
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
      let taken = 0;
      for (const vote of votes) taken += await this.send([vote]);
      return taken;
    }
    return votes.filter((vote, i) => this.isTaken(vote, refusals[i] ?? null)).length;
  }

  private isTaken({ vote: { depositId } }: SignedVote, reason: string | null): boolean {
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
