/** What a venue tells attestors about deposits. */

import type { VoteOutcome } from "./vote.js";

/** An attestor's last vote in the log. */
export interface OwnVote extends VoteOutcome {
  readonly confirmations: number;
  readonly required: number;
}

export interface PendingDeposit {
  readonly depositId: number;
  /** 64 lower-case hex digits without `0x`, as in the log. */
  readonly txHash: string;
  /** Number of the account that registered it. */
  readonly account: number;
  readonly status: "queued" | "confirming";
  readonly registeredAtMs: number;
  /** Credited parts of the transaction; the next vote is about the part after them. */
  readonly creditedParts: number;
  /** The highest log index that is credited: the next part begins after it. Left out before a credit. */
  readonly lastCreditedLog?: number;
  /** Null before this attestor's first vote. */
  readonly ownVote: OwnVote | null;
}

export interface CreditedDeposit {
  readonly depositId: number;
  readonly txHash: string;
  readonly creditedAtMs: number;
  readonly credits: VoteOutcome["credits"];
  /** Marked as reorganised by a quorum. */
  readonly isMarked: boolean;
  /** This attestor's vote that it was reorganised; null if it did not vote so. */
  readonly ownVote: OwnVote | null;
}

export interface DepositPage<Row> {
  readonly rows: readonly Row[];
  /** The `after` of the next page; null after the last one. */
  readonly next: number | null;
}

/** By deposit id. */
export type QueueOrder = "ascending" | "descending";
