/**
 * Appends attestors' votes on deposits to the log, each with its text, signature and key as evidence.
 * A vote is appended only if the state allows it: its scope, its deposit, its time, and whether it
 * says something new. The caller has checked its shape, its membership and its signature.
 *
 * A vote counts once: a repetition, which anyone who saw the vote can send, leaves no trace in the
 * log. A vote from before the deposit's (latest) registration does not count.
 */
import { creditsAgain } from "@perpgate/engine/reading";
import type { Vote } from "@perpgate/protocol";
import { isSameOutcome, isSameScope, voteText } from "@perpgate/protocol/core";
import type { Venue } from "./venue.js";
import type { DepositSubject } from "./views/attestation-rows.js";

/** How far an attestor's clock may be ahead: a vote of the far future could never be replaced. */
export const MAX_CLOCK_LEAD_MS = 60_000;

/** `known`: the log has this vote. Any other word is the reason why the vote does not count. */
export type VoteJudgement = "new" | "known" | string;

export class DepositVotes {
  /** Votes that are not yet durable, by signature. */
  private readonly inFlight = new Map<string, Promise<string | null>>();

  constructor(private readonly venue: Venue) {}

  /** Judges a vote by the state alone. */
  judge(vote: Vote): VoteJudgement {
    const { attestation } = this.venue.views;
    const subject = attestation.subject(vote.depositId, vote.attestor);
    if (subject === undefined) return "deposit_unknown";
    if (vote.chain !== subject.chain || vote.txHash !== subject.txHash) return "other_deposit";
    if (!this.isInScope(vote)) return "other_scope";
    const { ownVote } = subject;
    if (ownVote !== null && isSameVote(vote, ownVote)) return "known";
    // Remote attestors stamp by their wall clock, those of this process by the venue's time.
    const [nowMs, wallMs] = [this.venue.nowMs(), this.venue.wallMs()];
    if (vote.votedAtMs > Math.max(nowMs, wallMs) + MAX_CLOCK_LEAD_MS) return "vote_from_future";
    const logAheadMs = Math.max(0, nowMs - wallMs);
    if (vote.votedAtMs < subject.registeredAtMs - logAheadMs) return "vote_outdated";
    if (ownVote !== null && vote.votedAtMs <= ownVote.votedAtMs) return "vote_outdated";
    return judgeOpen(vote, subject, attestation.paused);
  }

  /**
   * Returns null, or why the vote does not count; a promise if it goes to the log. `signedBy` is the
   * public key in hex that its signature was checked with; the attestor may have another now. `spend`
   * takes a vote from its attestor's budget and is called only for a vote that would be appended: repeating a
   * member's published votes must not use up its budget.
   */
  append(
    vote: Vote,
    signature: string,
    signedBy: string | undefined,
    spend: () => boolean = () => true,
  ): Promise<string | null> | string | null {
    const inFlight = this.inFlight.get(signature);
    if (inFlight !== undefined) return inFlight;
    // Judged in the same turn as it is submitted: the deposit may have moved since an earlier look.
    const judged = this.judge(vote);
    if (judged !== "new") return judged === "known" ? null : judged;
    const member = this.venue.listing.attestors?.members[vote.attestor];
    if (member === undefined || member !== signedBy) return "invalid_signature";
    if (!spend()) return "rate_limited";
    const done = this.submit(vote, signature, member).finally(() =>
      this.inFlight.delete(signature),
    );
    this.inFlight.set(signature, done);
    return done;
  }

  /** Whether the vote binds the venue's id, chain id, vault and contracts that the log has now. */
  private isInScope(vote: Vote): boolean {
    const { attestors, venueId } = this.venue.listing;
    const scope = attestors?.chains?.find(({ chain }) => chain === vote.chain);
    return (
      venueId !== null && scope !== undefined && isSameScope(vote, { ...scope, venue: venueId })
    );
  }

  private submit(vote: Vote, signature: string, member: string): Promise<string | null> {
    const { attestor, depositId, verdict, votedAtMs, part, parts } = vote;
    const { confirmations, required, credits, reason } = vote;
    const statement = { verdict, votedAtMs, confirmations, required, credits, reason };
    const evidence = {
      signed: Buffer.from(voteText(vote), "latin1"),
      signature: Buffer.from(signature, "hex"),
      publicKey: Buffer.from(member, "hex"),
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
}

/** Whether the deposit still takes such a vote. The engine decides; this keeps it out of the log. */
function judgeOpen(
  vote: Vote,
  { status, token, credits, creditedParts, reorged, ownVote }: DepositSubject,
  paused: readonly string[],
): VoteJudgement {
  if (vote.verdict === "reorged") {
    if (credits.length === 0) return "deposit_not_credited";
    // Until a quorum agrees on a reason, an attestor may give another.
    const isSaid = reorged !== "" || ownVote?.reason === vote.reason;
    return ownVote?.verdict === "reorged" && isSaid ? "known" : "new";
  }
  if (status === "credited" || status === "rejected") return "deposit_settled";
  if (vote.verdict === "confirming") return "new";
  if (vote.verdict === "credit") {
    const isNext = vote.part === creditedParts + 1;
    if (!isNext || creditsAgain({ credits }, vote.credits)) return "deposit_settled";
  }
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
