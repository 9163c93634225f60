/**
 * The attestors' port over the venue of this process. What they ask comes from the venue's views;
 * a vote goes into the log with its text, signature and key as evidence, and only after everything
 * that can be judged without the log was judged: shape, venue, scope, membership, subject, time,
 * signature.
 *
 * A vote is taken once. Repeating one, as anyone who sees it published can, changes nothing and
 * leaves no trace in the log; one from before the deposit was registered (again) counts for nothing.
 */

import {
  type ChainBridgeConfig,
  type CreditedDeposit,
  type DepositPort,
  type Page,
  type PendingDeposit,
  publicKeyHex,
  type QueueOrder,
  type SignedVote,
  termsOf,
  type VenueTerms,
  type Vote,
  verifyVote,
  voteBytes,
} from "@perpgate/bridge";
import { type Chain, isSameOutcome, isSameScope } from "@perpgate/protocol";
import type { AttestorHistory, DepositSubject, Venue } from "@perpgate/venue";
import { scopeOf } from "./bridge-info.js";
import type { VoteBudget } from "./vote-budget.js";

/** How far an attestor's clock may be ahead: a vote of the far future could never be replaced. */
export const MAX_CLOCK_LEAD_MS = 60_000;

type Config = Pick<ChainBridgeConfig, "members" | "chains">;

export class VenueDeposits implements DepositPort {
  private readonly memberBytes: readonly Uint8Array[];
  /** Votes on their way to the log, by signature. */
  private readonly inFlight = new Map<string, Promise<string | null>>();
  private readonly lastAskedMs = new Map<number, number>();

  constructor(
    private readonly venue: Venue,
    private readonly config: Config,
  ) {
    this.memberBytes = config.members.map((key) => Buffer.from(publicKeyHex(key), "hex"));
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

  pending(chain: Chain, attestor: number, order: QueueOrder, after: number): Page<PendingDeposit> {
    this.lastAskedMs.set(attestor, this.venue.nowMs());
    return this.venue.views.attestation.pending(chain, attestor, order, after);
  }

  credited(chain: Chain, attestor: number, sinceMs: number, after: number): Page<CreditedDeposit> {
    return this.venue.views.attestation.creditedSince(chain, attestor, sinceMs, after);
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

  /** The same for votes whose signatures the attestors' own thread has checked. */
  async submitChecked(votes: readonly SignedVote[]): Promise<readonly (string | null)[]> {
    return Promise.all(votes.map((signed) => this.append(signed)));
  }

  /** Why the vote does not count, as far as this can be known before the log; null if it may. */
  private async problemOf(signed: SignedVote): Promise<string | null> {
    const judged = this.judge(signed.vote);
    // What the state refuses needs no signature to be refused, and what it holds already no second.
    if (judged !== "new") return judged === "known" ? null : judged;
    return verifyVote(signed, this.config.members, this.history.venueId);
  }

  private append(signed: SignedVote, budget?: VoteBudget): Promise<string | null> | string | null {
    const { vote, signature } = signed;
    const inFlight = this.inFlight.get(signature);
    if (inFlight !== undefined) return inFlight;
    // Again, in the very turn in which it is handed on: meanwhile the deposit may have moved on.
    const judged = this.judge(vote);
    if (judged !== "new") return judged === "known" ? null : judged;
    // Only now: repeating a member's published votes must not use up its budget.
    if (budget?.take(vote.attestor) === false) return "rate_limited";
    const done = this.execute(signed).finally(() => this.inFlight.delete(signature));
    this.inFlight.set(signature, done);
    return done;
  }

  private execute({ vote, signature }: SignedVote): Promise<string | null> {
    const { attestor, depositId, verdict, votedAtMs, part, parts } = vote;
    const { confirmations, required, credits, reason } = vote;
    const statement = { verdict, votedAtMs, confirmations, required, credits, reason };
    const evidence = {
      signed: voteBytes(vote),
      signature: Buffer.from(signature, "hex"),
      publicKey: this.memberBytes[attestor] ?? Buffer.alloc(0),
    };
    const subject = { stampMs: this.venue.nowMs(), attestor, depositId };
    return this.venue.submitted(
      {
        kind: "AttestDeposit",
        ...subject,
        ...statement,
        ...(parts === 1 ? {} : { part, parts }),
      },
      evidence,
      (applied) => {
        const outcome = this.venue.views.outcome(applied);
        return outcome.kind === "refused" ? outcome.refusal : null;
      },
    );
  }

  /** By the state alone: whether the vote says something new, or why it does not count. */
  private judge(vote: Vote): "new" | "known" | string {
    const { attestation } = this.venue.views;
    const subject = attestation.subject(vote.depositId, vote.attestor);
    if (subject === undefined) return "deposit_unknown";
    if (vote.chain !== subject.chain || vote.txHash !== subject.txHash) return "other_deposit";
    if (!this.isInScope(vote)) return "other_scope";
    const { ownVote } = subject;
    if (ownVote !== null && isSameVote(vote, ownVote)) return "known";
    // Attestors elsewhere stamp by their wall clock, those of this process by the venue's time.
    const [nowMs, wallMs] = [this.venue.nowMs(), this.venue.wallMs()];
    if (vote.votedAtMs > Math.max(nowMs, wallMs) + MAX_CLOCK_LEAD_MS) return "vote_from_future";
    const logAheadMs = Math.max(0, nowMs - wallMs);
    if (vote.votedAtMs < subject.registeredAtMs - logAheadMs) return "vote_outdated";
    if (ownVote !== null && vote.votedAtMs <= ownVote.votedAtMs) return "vote_outdated";
    return judgeOpen(vote, subject, attestation.paused);
  }

  /** Whether it is about this venue's vault, contracts and chain id. */
  private isInScope(vote: Vote): boolean {
    const config = this.config.chains.find(({ chain }) => chain === vote.chain);
    const { venueId } = this.history;
    return config !== undefined && isSameScope(vote, { ...scopeOf(config), venue: venueId });
  }
}

/** Whether the deposit still takes such a vote. The engine decides; this spares the log. */
function judgeOpen(
  vote: Vote,
  { status, token, isCredited, creditedParts, ownVote }: DepositSubject,
  paused: readonly string[],
): "new" | "known" | string {
  if (vote.verdict === "reorged") {
    if (!isCredited) return "deposit_not_credited";
    return ownVote?.verdict === "reorged" ? "known" : "new";
  }
  if (status === "credited" || status === "rejected") return "deposit_settled";
  if (vote.verdict === "confirming") return "new";
  if (vote.verdict === "credit" && vote.part !== creditedParts + 1) return "deposit_settled";
  if (vote.verdict === "reject" && creditedParts > 0) return "deposit_settled";
  const tokens = vote.verdict === "reject" ? [token] : vote.credits.map((entry) => entry.token);
  const scopes: readonly string[] = [vote.chain, ...tokens];
  return scopes.some((scope) => paused.includes(scope)) ? "deposits_paused" : "new";
}

function isSameVote(vote: Vote, own: NonNullable<DepositSubject["ownVote"]>): boolean {
  return (
    vote.votedAtMs === own.votedAtMs &&
    vote.confirmations === own.confirmations &&
    vote.required === own.required &&
    isSameOutcome(vote, own)
  );
}
