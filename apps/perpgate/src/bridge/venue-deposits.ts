/**
 * The attestors' port over the venue of this process. What they ask comes from the venue's views;
 * a vote goes into the log with its text, signature and key as evidence, and only after everything
 * that can be judged without the log was judged: shape, venue, membership, subject, time, signature.
 *
 * A vote is taken once. Repeating one, as whoever sees it published can, changes nothing and leaves
 * no trace in the log; one from before the deposit was registered (again) counts for nothing.
 */

import {
  type ChainBridgeConfig,
  type CreditedDeposit,
  type DepositPort,
  type PendingDeposit,
  publicKeyHex,
  type SignedVote,
  type Vote,
  verifyVote,
  voteBytes,
} from "@perpgate/bridge";
import { type Chain, isSameOutcome } from "@perpgate/protocol";
import type { DepositSubject, Venue } from "@perpgate/venue";
import type { VoteBudget } from "./vote-budget.js";

/** How far an attestor's clock may be ahead: a vote of the far future could never be replaced. */
export const MAX_CLOCK_LEAD_MS = 60_000;

export class VenueDeposits implements DepositPort {
  private readonly memberBytes: readonly Uint8Array[];
  /** Votes on their way to the log, by signature. */
  private readonly underWay = new Map<string, Promise<string | null>>();

  constructor(
    private readonly venue: Venue,
    private readonly config: Pick<ChainBridgeConfig, "members" | "venue">,
  ) {
    this.memberBytes = config.members.map((key) => Buffer.from(publicKeyHex(key), "hex"));
  }

  pending(chain: Chain, attestor: number): readonly PendingDeposit[] {
    return this.venue.views.attestation.pending(chain, attestor);
  }

  credited(chain: Chain, sinceMs: number, attestor: number): readonly CreditedDeposit[] {
    return this.venue.views.attestation.creditedSince(chain, sinceMs, attestor);
  }

  /** What passed goes to the log together, as far as the budget of its attestor reaches. */
  async submit(
    votes: readonly SignedVote[],
    budget?: VoteBudget,
  ): Promise<readonly (string | null)[]> {
    const problems: (string | null)[] = [];
    for (const signed of votes) problems.push(await this.problemOf(signed));
    return Promise.all(
      votes.map((signed, i) => {
        const problem = problems[i] ?? null;
        return problem === null ? this.append(signed, budget) : problem;
      }),
    );
  }

  async markReorged(vote: SignedVote): Promise<void> {
    const [refusal] = await this.submit([vote]);
    if (refusal !== null) throw new Error(`a deposit could not be marked: ${refusal}`);
  }

  /** Why the vote does not count, as far as this can be told before the log; null if it may. */
  private async problemOf(signed: SignedVote): Promise<string | null> {
    const { vote } = signed;
    const judged = this.judge(vote);
    // What the state refuses needs no signature to be refused, and what it holds already no second.
    if (judged !== "new") return judged === "known" ? null : judged;
    return verifyVote(signed, this.config.members, this.config.venue);
  }

  /** The same for votes whose signatures the attestors' own thread has checked. */
  async submitChecked(votes: readonly SignedVote[]): Promise<readonly (string | null)[]> {
    return Promise.all(votes.map((signed) => this.append(signed)));
  }

  private append(signed: SignedVote, budget?: VoteBudget): Promise<string | null> | string | null {
    const { vote, signature } = signed;
    const underWay = this.underWay.get(signature);
    if (underWay !== undefined) return underWay;
    // Again, in the very turn in which it is handed on: meanwhile the deposit may have moved on.
    const judged = this.judge(vote);
    if (judged !== "new") return judged === "known" ? null : judged;
    // Only now: whoever repeats a member's published votes must not use up its budget.
    if (budget?.take(vote.attestor) === false) return "rate_limited";
    const done = this.execute(signed).finally(() => this.underWay.delete(signature));
    this.underWay.set(signature, done);
    return done;
  }

  private execute({ vote, signature }: SignedVote): Promise<string | null> {
    const { attestor, depositId, verdict, votedAtMs } = vote;
    const { confirmations, required, credits, reason } = vote;
    const statement = { verdict, votedAtMs, confirmations, required, credits, reason };
    const evidence = {
      signed: voteBytes(vote),
      signature: Buffer.from(signature, "hex"),
      publicKey: this.memberBytes[attestor] ?? Buffer.alloc(0),
    };
    const stampMs = this.venue.nowMs();
    return this.venue.submitted(
      { kind: "AttestDeposit", stampMs, attestor, depositId, ...statement },
      evidence,
      (applied) => {
        const outcome = this.venue.views.outcome(applied);
        return outcome.kind === "refused" ? outcome.refusal : null;
      },
    );
  }

  /** By the state alone: whether the vote says something new, or why it does not count. */
  private judge(vote: Vote): "new" | "known" | string {
    const subject = this.venue.views.attestation.subject(vote.depositId, vote.attestor);
    if (subject === undefined) return "deposit_unknown";
    if (!isAbout(vote, subject)) return "other_deposit";
    const { ownVote, status } = subject;
    if (ownVote !== null && isSameVote(vote, ownVote)) return "known";
    if (vote.votedAtMs > this.venue.nowMs() + MAX_CLOCK_LEAD_MS) return "vote_from_future";
    if (vote.votedAtMs < subject.registeredAtMs) return "vote_outdated";
    if (ownVote !== null && vote.votedAtMs <= ownVote.votedAtMs) return "vote_outdated";
    if (vote.verdict === "reorged") {
      if (status !== "credited") return "deposit_not_credited";
      return ownVote?.verdict === "reorged" ? "known" : "new";
    }
    return status === "credited" || status === "rejected" ? "deposit_settled" : "new";
  }
}

/** A rejected deposit may be registered again for another token: votes on the first say nothing. */
function isAbout(vote: Vote, { chain, txHash, token }: DepositSubject): boolean {
  return vote.chain === chain && vote.txHash === txHash && vote.token === token;
}

function isSameVote(vote: Vote, own: NonNullable<DepositSubject["ownVote"]>): boolean {
  return (
    vote.votedAtMs === own.votedAtMs &&
    vote.confirmations === own.confirmations &&
    vote.required === own.required &&
    isSameOutcome(vote, own)
  );
}
