/**
 * The port to the venue: what an attestor asks of the process that keeps the log.
 *
 * An attestor has no memory that matters. Each poll asks here what is pending and what it said
 * last, reads the chain, and votes only where the chain says something new. A process that dies
 * between a deposit's registration and its credit therefore loses nothing, and one that repeats
 * itself doubles nothing: the engine keeps one vote per attestor and credits each part once.
 */

import type { Chain, VoteCredit, VoteOutcome, VoteToken } from "@perpgate/protocol";
import type { SignedVote } from "./vote.js";

/** What an attestor said last, by the log. */
export interface OwnVote extends VoteOutcome {
  readonly confirmations: number;
  readonly required: number;
}

export interface PendingDeposit {
  readonly depositId: number;
  /** 64 lower-case hex digits, no `0x`: the form in which the log holds it. */
  readonly txHash: string;
  /** Number of the account that registered it. */
  readonly account: number;
  readonly status: "queued" | "confirming";
  readonly registeredAtMs: number;
  /** Parts of the transaction that are credited; the next vote is about the one behind them. */
  readonly creditedParts: number;
  /** Null if this attestor has said nothing yet. */
  readonly ownVote: OwnVote | null;
}

export interface CreditedDeposit {
  readonly depositId: number;
  readonly txHash: string;
  readonly creditedAtMs: number;
  /** Without a token where a vote of format 1 credited it. */
  readonly credits: readonly (Omit<VoteCredit, "token"> & { readonly token?: string })[];
  /** Marked as reorganised away, or said to be by this attestor: nothing more to say. */
  readonly isMarked: boolean;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Where the next page begins; null behind the last one. */
  readonly next: number | null;
}

export type QueueOrder = "ascending" | "descending";

/** Where deposits go on one chain, as the venue has it configured. */
export interface ChainTerms {
  readonly chain: Chain;
  readonly chainId: number;
  /** 40 lower-case hex digits. */
  readonly vault: string;
  readonly tokens: readonly (VoteToken & { readonly decimals: number })[];
  readonly minDepositMicros: number;
}

export interface VenueTerms {
  /** SHA-256 of the record of Genesis, 64 lower-case hex digits. */
  readonly venueId: string;
  readonly chains: readonly ChainTerms[];
}

/** The venue may be in this process or far away. */
export type Awaitable<T> = T | Promise<T>;

export interface DepositPort {
  terms(): Awaitable<VenueTerms>;
  /** A page of a chain's queued and confirming deposits by number; `after` 0 is the first page. */
  pending(
    chain: Chain,
    attestor: number,
    order: QueueOrder,
    after: number,
  ): Awaitable<Page<PendingDeposit>>;
  /** A page of a chain's deposits that were credited at or after that time. */
  credited(
    chain: Chain,
    attestor: number,
    sinceMs: number,
    after: number,
  ): Awaitable<Page<CreditedDeposit>>;
  /**
   * Puts votes into the log, in order; resolves once they are durable. The implementation checks
   * signatures first and appends only what passes. Returns for each vote the reason for refusing
   * it, or null.
   *
   * @throws VenueUnreachable if no vote of the call can have been judged.
   */
  submit(votes: readonly SignedVote[]): Promise<readonly (string | null)[]>;
}

/** The venue did not answer as it should; the next poll asks again. */
export class VenueUnreachable extends Error {
  override readonly name = "VenueUnreachable";
}
