/**
 * The port to the venue: what an attestor asks of whatever keeps the log.
 *
 * An attestor has no memory that matters. Each poll asks here what is pending and what it said
 * last, reads the chain, and says something new only where the answer differs. A process that dies
 * between a deposit's registration and its credit therefore loses nothing, and one that repeats
 * itself doubles nothing: the engine keeps one vote per attestor and settles a deposit once.
 */

import type { Chain, Token } from "@perpgate/protocol";
import type { SignedVote, Statement, VoteCredit } from "./vote.js";

export interface PendingDeposit {
  readonly depositId: number;
  /** 64 lower-case hex digits, no `0x`: the form in which the log holds it. */
  readonly txHash: string;
  readonly token: Token;
  readonly status: "queued" | "confirming";
  readonly registeredAtMs: number;
  /** What this attestor said last, by the log; null if nothing yet. */
  readonly ownVote: Statement | null;
}

export interface CreditedDeposit {
  readonly depositId: number;
  readonly txHash: string;
  readonly token: Token;
  readonly creditedAtMs: number;
  readonly credits: readonly VoteCredit[];
  /** Marked as reorganised away, or said to be by this attestor: nothing more to say. */
  readonly isMarked: boolean;
}

/** The venue may be in this process or far away. */
export type Awaitable<T> = T | Promise<T>;

export interface DepositPort {
  /** Queued and confirming deposits of a chain, oldest first. */
  pending(chain: Chain, attestor: number): Awaitable<readonly PendingDeposit[]>;
  /** Deposits of a chain that were credited at or after that time. */
  credited(chain: Chain, sinceMs: number, attestor: number): Awaitable<readonly CreditedDeposit[]>;
  /**
   * Puts votes into the log, in order; resolves once they are durable. The implementation calls
   * `verifyVote` first and appends only what passes. Answers for each vote the engine's reason for
   * refusing it, or null.
   */
  submit(votes: readonly SignedVote[]): Promise<readonly (string | null)[]>;
  /**
   * Marks a credited deposit whose transaction left the canonical chain: verdict `reorged`. Rejects
   * if the vote was not taken, so that it is said again.
   */
  markReorged(vote: SignedVote): Promise<void>;
}
