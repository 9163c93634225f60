/** What attestors, and those who judge their votes, read about deposits. */
import type { Deposit } from "@perpgate/engine/reading";
import type { Chain, Token, VoteOutcome } from "@perpgate/protocol";

/** What an attestor said last. */
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
  /** Marked as reorganised away, or said to be by that attestor: nothing more to say. */
  readonly isMarked: boolean;
}

/** What a vote is about, by the state. */
export interface DepositSubject {
  readonly chain: Chain;
  readonly txHash: string;
  readonly token: Token;
  readonly status: Deposit["status"];
  readonly registeredAtMs: number;
  readonly creditedParts: number;
  readonly isCredited: boolean;
  /** The attestor's latest vote, and when it signed it. */
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
  /** When the first registered one of those seen on the chain was registered; null for none. */
  readonly oldestSeenAtMs: number | null;
}
