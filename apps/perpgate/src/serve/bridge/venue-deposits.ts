/**
 * The attestors' port to the venue of this process: work comes from the venue's views, votes go to
 * its log. A vote's signature is checked here unless the attestors' own thread has checked it.
 */

import {
  type ChainBridgeConfig,
  type DepositPort,
  publicKeyHex,
  type SignedVote,
  termsOf,
  type VenueTerms,
  verifyVote,
} from "@perpgate/bridge";
import type {
  Chain,
  CreditedDeposit,
  DepositPage,
  PendingDeposit,
  QueueOrder,
} from "@perpgate/protocol";
import { type AttestorHistory, DepositVotes, type Venue } from "@perpgate/venue";
import { scopeOf } from "./bridge-info.js";
import type { VoteBudget } from "./vote-budget.js";

type Config = Pick<ChainBridgeConfig, "members" | "chains">;

export class VenueDeposits implements DepositPort {
  private readonly votes: DepositVotes;
  private readonly lastAskedMs = new Map<number, number>();

  constructor(
    private readonly venue: Venue,
    private readonly config: Config,
  ) {
    this.votes = new DepositVotes(venue, {
      members: config.members.map((key) => Buffer.from(publicKeyHex(key), "hex")),
      scopeOf: (chain) => {
        const terms = config.chains.find((each) => each.chain === chain);
        if (terms === undefined) return undefined;
        return { ...scopeOf(terms), venue: this.history.venueId };
      },
    });
  }

  /** The venue's id and all its attestors; there from Genesis on. */
  get history(): AttestorHistory {
    const { attestorHistory } = this.venue.listing;
    if (attestorHistory === null) throw new Error("the venue has no attestors' keys in its log");
    return attestorHistory;
  }

  /** When each attestor last asked for work, by number, Unix milliseconds. */
  get lastAsked(): ReadonlyMap<number, number> {
    return this.lastAskedMs;
  }

  terms(): VenueTerms {
    return { venueId: this.history.venueId, chains: this.config.chains.map(termsOf) };
  }

  pending(
    chain: Chain,
    attestor: number,
    order: QueueOrder,
    after: number,
  ): DepositPage<PendingDeposit> {
    this.lastAskedMs.set(attestor, this.venue.nowMs());
    return this.venue.views.attestation.pending(chain, attestor, order, after);
  }

  credited(
    chain: Chain,
    attestor: number,
    sinceMs: number,
    after: number,
  ): DepositPage<CreditedDeposit> {
    return this.venue.views.attestation.creditedSince(chain, attestor, sinceMs, after);
  }

  /** Votes that pass go to the log together, as far as the budget of each attestor allows. */
  async submit(
    votes: readonly SignedVote[],
    budget?: VoteBudget,
  ): Promise<readonly (string | null)[]> {
    const problems: (string | null)[] = [];
    for (const signed of votes) problems.push(await this.problemOf(signed));
    return Promise.all(
      votes.map(({ vote, signature }, i) => {
        const spend = () => budget?.take(vote.attestor) !== false;
        return problems[i] ?? this.votes.append(vote, signature, spend);
      }),
    );
  }

  /** For votes whose signatures the attestors' own thread has checked. */
  async submitChecked(votes: readonly SignedVote[]): Promise<readonly (string | null)[]> {
    return Promise.all(votes.map(({ vote, signature }) => this.votes.append(vote, signature)));
  }

  /** Why the vote does not count, as far as this is known before the log; null if it may. */
  private async problemOf(signed: SignedVote): Promise<string | null> {
    const judged = this.votes.judge(signed.vote);
    // A vote that the state rejects or has already needs no signature check.
    if (judged !== "new") return judged === "known" ? null : judged;
    return verifyVote(signed, this.config.members, this.history.venueId);
  }
}
