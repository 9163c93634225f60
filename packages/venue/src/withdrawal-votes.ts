/** Votes on withdrawals. */

import type { Command } from "@perpgate/engine";
import type { WithdrawalState } from "@perpgate/engine/reading";
import type { Token } from "@perpgate/protocol";
import { unitsOfMicros, type WithdrawalVote, withdrawalVoteText } from "@perpgate/protocol/core";
import { AttestorVotes, type VoteJudgement } from "./attestor-votes.js";
import type { Venue } from "./venue.js";

/** Decimals of a token on a chain; undefined for one that is not configured. */
type DecimalsOf = (chain: string, token: Token) => number | undefined;

export class WithdrawalVotes extends AttestorVotes<WithdrawalVote> {
  constructor(
    venue: Venue,
    private readonly decimalsOf: DecimalsOf,
  ) {
    super(venue);
  }

  judge(vote: WithdrawalVote): VoteJudgement {
    const { views } = this.venue;
    const subject = views.openWithdrawal(vote.withdrawalId);
    if (subject === undefined) return "withdrawal_unknown";
    const { withdrawal, address, paused } = subject;
    if (!this.isInScope(vote)) return "other_scope";
    if (!isAbout(vote, withdrawal, address)) return "other_withdrawal";
    const fault = this.timeFault(vote, withdrawal.requestedAtMs);
    if (fault !== undefined) return fault;
    const { verdict } = vote;
    if (verdict === "signed") return withdrawal.signers.has(vote.attestor) ? "known" : "new";
    const own = withdrawal.sightings.get(vote.attestor);
    if (own?.verdict === verdict && own.txHash === vote.txHash) return "known";
    if (own !== undefined && vote.votedAtMs <= own.votedAtMs) return "vote_outdated";
    if (verdict === "pending") return "new";
    if (verdict === "unpaid" && views.timeMs <= withdrawal.deadlineMs) return "withdrawal_not_due";
    const isPaused = paused.includes(vote.chain) || paused.includes(vote.token);
    return isPaused ? "withdrawals_paused" : "new";
  }

  /** Whether the vote binds the venue's id, chain id, vault, contract and decimals that the log has now. */
  private isInScope(vote: WithdrawalVote): boolean {
    const { attestors, venueId } = this.venue.listing;
    const scope = attestors?.chains?.find(({ chain }) => chain === vote.chain);
    const token = scope?.tokens.find((entry) => entry.token === vote.token);
    return (
      vote.venue === venueId &&
      vote.chainId === scope?.chainId &&
      vote.vault === scope.vault &&
      vote.contract === token?.contract &&
      vote.decimals === this.decimalsOf(vote.chain, vote.token)
    );
  }

  protected textOf(vote: WithdrawalVote): string {
    return withdrawalVoteText(vote);
  }

  protected commandOf(vote: WithdrawalVote): Command {
    const { attestor, withdrawalId, verdict, votedAtMs, txHash, vaultSignature } = vote;
    return {
      kind: "AttestWithdrawal",
      stampMs: this.venue.nowMs(),
      attestor,
      withdrawalId,
      verdict,
      votedAtMs,
      txHash,
      vaultSignature,
    };
  }
}

/** Whether the vote is about exactly this payment. */
function isAbout(vote: WithdrawalVote, withdrawal: WithdrawalState, address: string): boolean {
  return (
    vote.chain === withdrawal.chain &&
    vote.token === withdrawal.token &&
    vote.account === address &&
    vote.amount === unitsOfMicros(withdrawal.amountMicros, vote.decimals) &&
    vote.deadline * 1_000 === withdrawal.deadlineMs
  );
}
