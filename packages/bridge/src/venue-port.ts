/**
 * An attestor's interface to the venue.
 *
 * An attestor is stateless: each poll requests the pending deposits with its own last votes, reads
 * the chain, and votes only if something changed. A crash at any point loses nothing, and a repeated
 * vote changes nothing: the engine keeps one vote per attestor and credits each part once.
 */

import type {
  Chain,
  CreditedDeposit,
  DepositPage,
  PendingDeposit,
  QueueOrder,
  VoteToken,
} from "@perpgate/protocol";
import type { SignedVote } from "./vote.js";

/** The venue's configuration of one chain. */
export interface ChainTerms {
  readonly chain: Chain;
  readonly chainId: number;
  /** 40 lower-case hex digits. */
  readonly vault: string;
  readonly tokens: readonly (VoteToken & { readonly decimals: number })[];
  readonly minDepositMicros: number;
}

export interface VenueTerms {
  /** SHA-256 of the Genesis record, 64 lower-case hex digits. */
  readonly venueId: string;
  /** The attestors' public keys by index, lower-case hex. */
  readonly members: readonly string[];
  readonly chains: readonly ChainTerms[];
}

/** The venue may be in this process or remote. */
type Awaitable<T> = T | Promise<T>;

export interface DepositPort {
  terms(): Awaitable<VenueTerms>;
  /** A page of a chain's queued and confirming deposits; `after` 0 requests the first page. */
  pending(
    chain: Chain,
    attestor: number,
    order: QueueOrder,
    after: number,
  ): Awaitable<DepositPage<PendingDeposit>>;
  /** A page of a chain's deposits that were credited at or after that time. */
  credited(
    chain: Chain,
    attestor: number,
    sinceMs: number,
    after: number,
  ): Awaitable<DepositPage<CreditedDeposit>>;
  /**
   * Verifies the votes' signatures and appends valid votes to the log, in order; resolves once they
   * are durable. Returns for each vote why it was refused, or null.
   *
   * @throws VenueUnreachable if none of the votes can have been processed.
   */
  submit(votes: readonly SignedVote[]): Promise<readonly (string | null)[]>;
}

/** The venue did not respond as expected; the next poll retries. */
export class VenueUnreachable extends Error {
  override readonly name = "VenueUnreachable";
}
