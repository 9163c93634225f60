/**
 * Appends attestors' votes on withdrawals to the log, each with its text, signature and key as evidence. As
 * with deposits, a vote is appended only if the state allows it and it says something new; the caller has
 * checked its shape and its membership.
 */
import type { Withdrawal } from "@perpgate/engine/reading";
import type { Token } from "@perpgate/protocol";
import { unitsOfMicros, type WithdrawalVote, withdrawalVoteText } from "@perpgate/protocol/core";
import { MAX_CLOCK_LEAD_MS, type VoteJudgement } from "./deposit-votes.js";
import type { Venue } from "./venue.js";

/** Decimals of a token on a chain; undefined for one that is not configured. */
type DecimalsOf = (chain: string, token: Token) => number | undefined;

export class WithdrawalVotes {
  /** Votes that are not yet durable, by signature. */
  private readonly inFlight = new Map<string, Promise<string | null>>();

  constructor(
    private readonly venue: Venue,
    private readonly decimalsOf: DecimalsOf,
  ) {}

  /** Judges a vote by the state alone. */
  judge(vote: WithdrawalVote): VoteJudgement {
    const { views } = this.venue;
    const subject = views.openWithdrawal(vote.withdrawalId);
    if (subject === undefined) return "withdrawal_unknown";
    const { withdrawal, address, paused } = subject;
    if (!this.isInScope(vote)) return "other_scope";
    if (!isAbout(vote, withdrawal, address)) return "other_withdrawal";
    const [nowMs, wallMs] = [this.venue.nowMs(), this.venue.wallMs()];
    if (vote.votedAtMs > Math.max(nowMs, wallMs) + MAX_CLOCK_LEAD_MS) return "vote_from_future";
    // Its attestor stamps by the wall clock, which the log may be ahead of.
    const logAheadMs = Math.max(0, nowMs - wallMs);
    if (vote.votedAtMs < withdrawal.requestedAtMs - logAheadMs) return "vote_outdated";
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

  /**
   * Returns null, or why the vote does not count; a promise if it goes to the log. `signedBy` is the public key
   * in hex that its signature was checked with; `spend` takes a vote from its attestor's budget, and is called
   * only for one that would be appended.
   */
  append(
    vote: WithdrawalVote,
    signature: string,
    signedBy: string | undefined,
    spend: () => boolean,
  ): Promise<string | null> | string | null {
    const inFlight = this.inFlight.get(signature);
    if (inFlight !== undefined) return inFlight;
    // Judged in the same turn as it is submitted: the withdrawal may have moved since an earlier look.
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

  private submit(vote: WithdrawalVote, signature: string, member: string): Promise<string | null> {
    const { attestor, withdrawalId, verdict, votedAtMs, txHash, vaultSignature } = vote;
    return this.venue.submitted(
      {
        kind: "AttestWithdrawal",
        stampMs: this.venue.nowMs(),
        attestor,
        withdrawalId,
        verdict,
        votedAtMs,
        txHash,
        vaultSignature,
      },
      {
        signed: Buffer.from(withdrawalVoteText(vote), "latin1"),
        signature: Buffer.from(signature, "hex"),
        publicKey: Buffer.from(member, "hex"),
      },
      (applied) => {
        const outcome = this.venue.views.outcome(applied);
        return outcome.kind === "refused" ? outcome.refusal : null;
      },
    );
  }
}

/** Whether the vote is about exactly this payment. */
function isAbout(vote: WithdrawalVote, withdrawal: Withdrawal, address: string): boolean {
  return (
    vote.chain === withdrawal.chain &&
    vote.token === withdrawal.token &&
    vote.account === address &&
    vote.amount === unitsOfMicros(withdrawal.amountMicros, vote.decimals) &&
    vote.deadline * 1_000 === withdrawal.deadlineMs
  );
}
