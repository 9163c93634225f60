/** Submits a command of an edge, and says what its sender is answered. */

import { ApiError } from "@perpgate/protocol/core";
import { NotApplied, type Unanswered } from "../pending-batches.js";
import { type Evidence, NO_EVIDENCE } from "../record/record.js";
import type { Applied } from "../replica.js";
import type { Venue } from "../venue.js";
import type { Outcome } from "../views/outcome.js";

export type VenueCommand = Parameters<Venue["submit"]>[0];
export type CommandOf<Kind extends VenueCommand["kind"]> = Extract<VenueCommand, { kind: Kind }>;
export type RefusedOutcome = Extract<Outcome, { kind: "refused" }>;

export interface Executed {
  /** The command's position in the log. */
  readonly seq: number;
  /** The venue's time at the command. */
  readonly timeMs: number;
  readonly outcome: Outcome;
}

/**
 * Resolves once the command is durable and applied. Rejects with `stopped` if the venue stops first: the
 * log may contain the command, and then the next start applies it; with `not_executed` or
 * `outcome_unknown` if the log is replicated and lost the command, or is late.
 */
export function execute(
  venue: Venue,
  command: VenueCommand,
  evidence: Evidence = NO_EVIDENCE,
): Promise<Executed> {
  return executeTaking(venue, command, evidence, (applied) => ({
    seq: applied.seq,
    timeMs: applied.timeMs,
    outcome: venue.views.outcome(applied),
  }));
}

/** Resolves with the result of `take`, which runs inside the apply callback and must not throw. */
export function executeTaking<T>(
  venue: Venue,
  command: VenueCommand,
  evidence: Evidence,
  take: (applied: Applied) => T,
): Promise<T> {
  return answered(venue.submitted(command, evidence, take));
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

/**
 * Resolves once everything is applied that any core had answered before the call. Rejects with `stopped`,
 * or with `not_executed` if the log is late: what waits for this was not submitted.
 */
export async function caughtUp(venue: Venue): Promise<void> {
  try {
    await venue.caughtUp();
  } catch (error) {
    if (!(error instanceof NotApplied)) throw error;
    throw unanswered(error.why === "stopped" ? "stopped" : "not_executed");
  }
}

/** A session that ended after the token was checked gives `invalid_token`. */
export function sessionRefusal(command: string, outcome: RefusedOutcome): Error {
  return isSessionGone(outcome)
    ? new ApiError("invalid_token", {})
    : unexpectedRefusal(command, outcome);
}

export function isSessionGone({ refusal }: RefusedOutcome): boolean {
  return refusal === "session_unknown" || refusal === "session_expired";
}

/** For a refusal that no client can cause: a bug. */
export function unexpectedRefusal(command: string, { refusal }: RefusedOutcome): Error {
  return new Error(`${command} was refused: ${refusal}`);
}
