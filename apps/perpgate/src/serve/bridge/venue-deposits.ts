/**
 * The attestors' port to the venue of this process: work comes from the venue's views, votes go to
 * its log. A vote's signature is checked here unless the attestors' own process has checked it.
 *
 * Keys, vaults and contracts are those of the log, read at each use: `perpgate configure` changes them
 * while the venue runs.
 */

import type { KeyObject } from "node:crypto";
import {
  type ChainBridgeConfig,
  type ChainConfig,
  type DepositPort,
  isSignedText,
  publicKeyFromHex,
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
import { type WithdrawalVote, withdrawalVoteText } from "@perpgate/protocol/core";
import {
  type AttestorHistory,
  type AttestorKeys,
  DepositVotes,
  type Venue,
  WithdrawalVotes,
} from "@perpgate/venue";
import { chainsInLog } from "./bridge-info.js";
import type { VoteBudget } from "./vote-budget.js";

type Config = Pick<ChainBridgeConfig, "members" | "chains">;

export class VenueDeposits implements DepositPort {
  private readonly votes: DepositVotes;
  private readonly withdrawalVotes: WithdrawalVotes;
  private readonly lastAskedMs = new Map<number, number>();
  /** The keys that the attestors' own process checks votes with: those of its start. */
  private readonly membersAtStart: readonly string[];
  private readonly keyObjects = new Map<string, KeyObject>();

  constructor(
    private readonly venue: Venue,
    private readonly config: Config,
  ) {
    this.votes = new DepositVotes(venue);
    this.withdrawalVotes = new WithdrawalVotes(venue, (chain, token) => {
      const watched = this.chains.find((entry) => entry.chain === chain);
      return watched?.tokens[token]?.decimals;
    });
    this.membersAtStart = config.members.map(publicKeyHex);
  }

  /** The attestors and the scopes of their votes, as the log has them now. */
  get keys(): AttestorKeys {
    const { attestors } = this.venue.listing;
    if (attestors === null) throw new Error("the venue has no attestors' keys in its log");
    return attestors;
  }

  /** The key of an attestor's number now. */
  memberOf(attestor: number): KeyObject | undefined {
    return this.keyObject(this.keys.members[attestor]);
  }

  private keyObject(hex: string | undefined): KeyObject | undefined {
    if (hex === undefined) return undefined;
    const key = this.keyObjects.get(hex) ?? publicKeyFromHex(hex);
    this.keyObjects.set(hex, key);
    return key;
  }

  get chains(): readonly ChainConfig[] {
    return chainsInLog(this.config.chains, this.keys);
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
    const { members } = this.keys;
    return { venueId: this.history.venueId, members, chains: this.chains.map(termsOf) };
  }

  pending(
    chain: Chain,
    attestor: number,
    order: QueueOrder,
    after: number,
  ): DepositPage<PendingDeposit> {
    this.lastAskedMs.set(attestor, this.venue.steadyMs());
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
    const { members } = this.keys;
    const problems: (string | null)[] = [];
    for (const signed of votes) problems.push(await this.problemOf(signed, members));
    return Promise.all(
      votes.map(({ vote, signature }, i) => {
        const spend = () => budget?.take(vote.attestor) !== false;
        return problems[i] ?? this.votes.append(vote, signature, members[vote.attestor], spend);
      }),
    );
  }

  /** A vote on a withdrawal, in the same way. */
  async submitOnWithdrawal(
    vote: WithdrawalVote,
    signature: string,
    budget: VoteBudget,
  ): Promise<string | null> {
    const { members } = this.keys;
    const judged = this.withdrawalVotes.judge(vote);
    if (judged !== "new") return judged === "known" ? null : judged;
    const hex = members[vote.attestor];
    const member = this.keyObject(hex);
    if (member === undefined) return "attestor_unknown";
    const text = withdrawalVoteText(vote);
    if (!(await isSignedText(text, signature, member))) return "invalid_signature";
    return this.withdrawalVotes.append(vote, signature, hex, () => budget.take(vote.attestor));
  }

  /** For votes whose signatures the attestors' own process has checked. */
  async submitChecked(votes: readonly SignedVote[]): Promise<readonly (string | null)[]> {
    return Promise.all(
      votes.map(({ vote, signature }) =>
        this.votes.append(vote, signature, this.membersAtStart[vote.attestor]),
      ),
    );
  }

  /** Why the vote does not count, as far as this is known before the log; null if it may. */
  private async problemOf(signed: SignedVote, members: readonly string[]): Promise<string | null> {
    const judged = this.votes.judge(signed.vote);
    // A vote that the state rejects or has already needs no signature check.
    if (judged !== "new") return judged === "known" ? null : judged;
    const memberOf = (attestor: number) => this.keyObject(members[attestor]);
    return verifyVote(signed, memberOf, this.history.venueId);
  }
}
