/** What attestors, and the checks of their votes, read about deposits. */
import type { Deposit } from "@perpgate/engine/reading";
import type { Chain, Token, VoteOutcome } from "@perpgate/protocol";

/** An attestor's latest vote. */
export type LastVote = VoteOutcome & Pick<Deposit, "confirmations" | "required">;

export interface DepositToAttest {
  readonly depositId: number;
  /** 64 lower-case hex digits, no `0x`. */
  readonly txHash: string;
  /** Number of the account that registered it. */
  readonly account: number;
  readonly status: "queued" | "confirming";
  readonly registeredAtMs: number;
  readonly creditedParts: number;
  readonly ownVote: LastVote | null;
}

export interface DepositToWatch {
  readonly depositId: number;
  readonly txHash: string;
  readonly creditedAtMs: number;
  readonly credits: VoteOutcome["credits"];
  /** Marked as reorganised, or that attestor has voted so: nothing more to vote. */
  readonly isMarked: boolean;
}

/** The deposit that a vote is about, from the state. */
export interface DepositSubject {
  readonly chain: Chain;
  readonly txHash: string;
  readonly token: Token;
  readonly status: Deposit["status"];
  readonly registeredAtMs: number;
  readonly creditedParts: number;
  readonly isCredited: boolean;
  /** The attestor's latest vote and its time. */
  readonly ownVote: (LastVote & { readonly votedAtMs: number }) | null;
}

export interface DepositPage<Row> {
  readonly rows: readonly Row[];
  readonly next: number | null;
}

/** Open deposits of a chain, for metrics. */
export interface OpenDeposits {
  readonly unseen: number;
  readonly seen: number;
  /** Registration time of the oldest one seen on the chain; null for none. */
  readonly oldestSeenAtMs: number | null;
}
