/** Votes on deposits. One from before the deposit's (latest) registration does not count. */

import type { Command } from "@perpgate/engine";
import { creditsAgain } from "@perpgate/engine/reading";
import type { Vote } from "@perpgate/protocol";
import { isSameOutcome, isSameScope, voteText } from "@perpgate/protocol/core";
import { AttestorVotes, type VoteJudgement } from "./attestor-votes.js";
import type { DepositSubject } from "./views/attestation-rows.js";

export class DepositVotes extends AttestorVotes<Vote> {
  judge(vote: Vote): VoteJudgement {
    const { attestation } = this.venue.views;
    const subject = attestation.subject(vote.depositId, vote.attestor);
    if (subject === undefined) return "deposit_unknown";
    if (vote.chain !== subject.chain || vote.txHash !== subject.txHash) return "other_deposit";
    if (!this.isInScope(vote)) return "other_scope";
    const { ownVote } = subject;
    if (ownVote !== null && isSameVote(vote, ownVote)) return "known";
    const fault = this.timeFault(vote, subject.registeredAtMs);
    if (fault !== undefined) return fault;
    if (ownVote !== null && vote.votedAtMs <= ownVote.votedAtMs) return "vote_outdated";
    return judgeOpen(vote, subject, attestation.paused);
  }

  /** Whether the vote binds the venue's id, chain id, vault and contracts that the log has now. */
  private isInScope(vote: Vote): boolean {
    const { attestors, venueId } = this.venue.listing;
    const scope = attestors?.chains?.find(({ chain }) => chain === vote.chain);
    return (
      venueId !== null && scope !== undefined && isSameScope(vote, { ...scope, venue: venueId })
    );
  }

  protected textOf(vote: Vote): string {
    return voteText(vote);
  }

  protected commandOf(vote: Vote): Command {
    const { attestor, depositId, verdict, votedAtMs, part, parts } = vote;
    const { confirmations, required, credits, reason } = vote;
    return {
      kind: "AttestDeposit",
      stampMs: this.venue.nowMs(),
      attestor,
      depositId,
      verdict,
      votedAtMs,
      confirmations,
      required,
      credits,
      reason,
      ...(parts === 1 ? {} : { part, parts }),
    };
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
