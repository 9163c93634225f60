/**
 * Submits commands to the venue and awaits their outcome.
 *
 * `take` runs inside the venue's apply callback, where an exception would stop the venue, so it only
 * reads the outcome; code that may throw runs after the promise has resolved.
 */

import type { LoggedAcknowledgement } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import {
  type Applied,
  type Evidence,
  MAX_LAG_MS,
  NO_EVIDENCE,
  NotApplied,
  type OnReceipt,
  type Outcome,
  type Unanswered,
  type Venue,
} from "@perpgate/venue";

/** A receipt, and the leaf whose hash it signs, both in base64url. */
interface Issued {
  readonly receipt: string;
  readonly leaf: string;
}

/** Called once; with undefined if the venue issues no receipts, or stops. */
type OnIssued = (issued: Issued | undefined) => void;

/** An acknowledgement with its receipt, if the venue issues receipts. */
export type ReceiptedAck = LoggedAcknowledgement & Partial<Issued>;

/** Adds the receipt in place: the acknowledgement was made for this answer. */
export function withReceipt(ack: LoggedAcknowledgement, issued: Issued | undefined): ReceiptedAck {
  return issued === undefined ? ack : Object.assign(ack, issued);
}

export type VenueCommand = Parameters<Venue["submit"]>[0];
export type CommandOf<Kind extends VenueCommand["kind"]> = Extract<VenueCommand, { kind: Kind }>;
export type LiveSession = NonNullable<ReturnType<Venue["views"]["session"]>>;
export type RefusedOutcome = Extract<Outcome, { kind: "refused" }>;

export interface Executed {
  /** The command's position in the log. */
  readonly seq: number;
  /** The venue's time at the command. */
  readonly timeMs: number;
  readonly outcome: Outcome;
}

export class VenueLink {
  constructor(readonly venue: Venue) {}

  get views(): Venue["views"] {
    return this.venue.views;
  }

  nowMs(): number {
    return this.venue.nowMs();
  }

  /** The wall clock, which the times in sign-in messages are compared with. */
  wallMs(): number {
    return this.venue.wallMs();
  }

  /**
   * When the wall clock shows a time of the log. They differ if one of them was wrong; a difference that
   * leaves the venue ready is not counted, or the result would vary by milliseconds.
   */
  wallTimeOf(logMs: number): number {
    const aheadMs = this.nowMs() - this.wallMs();
    return Math.abs(aheadMs) > MAX_LAG_MS ? logMs - aheadMs : logMs;
  }

  /**
   * Resolves once the command is durable and applied. Rejects with `stopped` if the venue stops first:
   * the log may contain the command, and then the next start applies it; with `not_executed` or
   * `outcome_unknown` if the log is replicated and lost the command, or is late.
   */
  execute(command: VenueCommand, evidence: Evidence = NO_EVIDENCE): Promise<Executed> {
    return this.executeTaking(command, evidence, (applied) => ({
      seq: applied.seq,
      timeMs: applied.timeMs,
      outcome: this.views.outcome(applied),
    }));
  }

  /** Whether other gateways write to the log. */
  get isReplicated(): boolean {
    return this.venue.isReplicated;
  }

  /** Whether the log's time is so far behind this machine's clock that orders would be misjudged. */
  get isTimeBehind(): boolean {
    return this.venue.logLeadMs > MAX_LAG_MS;
  }

  /**
   * Resolves once everything is applied that any gateway had answered before the call. Rejects with
   * `stopped`, or with `not_executed` if the log is late: what waits for this was not submitted.
   */
  async caughtUp(): Promise<void> {
    try {
      await this.venue.caughtUp();
    } catch (error) {
      if (!(error instanceof NotApplied)) throw error;
      throw unanswered(error.why === "stopped" ? "stopped" : "not_executed");
    }
  }

  /**
   * Inside the apply callback of a command that was acknowledged: calls back with its receipt and leaf.
   * `requestHash` gives SHA-256 of the signed body.
   */
  receiptFor(applied: Applied, requestHash: () => Uint8Array, onIssued: OnIssued): void {
    const receipts = this.venue.promises?.receipts ?? null;
    if (receipts === null) onIssued(undefined);
    else receipts.issue(applied, requestHash(), withLeaf(this.views.leafIn(applied), onIssued));
  }

  /** As `receiptFor`, for the acknowledgement of an earlier command. */
  receiptAgain(seq: number, onIssued: OnIssued): void {
    const receipts = this.venue.promises?.receipts ?? null;
    if (receipts === null) onIssued(undefined);
    else receipts.reissue(seq, withLeaf(this.views.leafAt(seq), onIssued));
  }

  /** Resolves with the result of `take`, which runs inside the apply callback and must not throw. */
  async executeTaking<T>(
    command: VenueCommand,
    evidence: Evidence,
    take: (applied: Applied) => T,
  ): Promise<T> {
    return answered(this.venue.submitted(command, evidence, take));
  }
}

function withLeaf(leaf: string, onIssued: OnIssued): OnReceipt {
  return (receipt) => onIssued(receipt === undefined ? undefined : { receipt, leaf });
}

/** What the venue resolves with; rejects with what a client is answered if it applied nothing. */
export async function answered<T>(submitted: Promise<T>): Promise<T> {
  try {
    return await submitted;
  } catch (error) {
    throw error instanceof NotApplied ? unanswered(error.why) : error;
  }
}

/** The answer for a command without a result. */
export function unanswered(why: Unanswered): ApiError {
  return new ApiError(why, {});
}

/** For a refusal that no client can cause: a bug. */
export function unexpectedRefusal(command: string, { refusal }: RefusedOutcome): Error {
  return new Error(`${command} was refused: ${refusal}`);
}
