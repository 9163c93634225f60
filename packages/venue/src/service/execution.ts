/** Submits a command of an edge, and says what its sender is answered. */

import type { Unsigned } from "@perpgate/engine";
import type { NotesInMaking } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import { NotApplied, type Unanswered } from "../pending-batches.js";
import { type Evidence, NO_EVIDENCE } from "../record/record.js";
import type { KeptApplied } from "../replica.js";
import type { Venue } from "../venue.js";
import { type CommandOutcome, cameTooLate } from "../views/outcome.js";

export type VenueCommand = Parameters<Venue["submit"]>[0];
export type CommandOf<Kind extends VenueCommand["kind"]> = Extract<VenueCommand, { kind: Kind }>;
export type RefusedOutcome = Extract<CommandOutcome, { kind: "refused" }>;

interface Executed {
  /** The command's position in the log. */
  readonly seq: number;
  /** The venue's time at the command. */
  readonly timeMs: number;
  readonly outcome: CommandOutcome;
}

/**
 * Resolves once the command is durable and applied. Rejects with `stopped` if the venue stops first: the
 * log may contain the command, and then the next start applies it; with
 * `not_executed` if the log is replicated and another core leads, or the log is late.
 */
export function executeCommand(
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

/**
 * Resolves with the result of `take`, which runs inside the apply callback and must not throw. An unsigned
 * request that is in the log already has the result of the first, whose block may be sealed (`isFirst` is
 * false); one that comes too late is not executed.
 */
export async function executeTaking<T>(
  venue: Venue,
  command: VenueCommand,
  evidence: Evidence,
  take: (applied: KeptApplied, isFirst: boolean) => T,
): Promise<T> {
  const { views } = venue;
  const terms = "request" in command ? command.request : undefined;
  const first = views.keptRequest(terms);
  if (first !== undefined) return take(first, false);
  const submitted = venue.submitted(command, evidence, (applied) => {
    if (cameTooLate(applied)) return undefined;
    const original = views.originalOf(applied, terms);
    return { taken: take(original, original === applied) };
  });
  const result = await answered(submitted);
  if (result === undefined) throw unanswered("not_executed");
  return result.taken;
}

/** The terms of an unsigned request as fields of its command, under rules that know them. */
export function unsignedTerms({ views }: Venue, { asked }: Pick<NotesInMaking, "asked">): Unsigned {
  return asked.terms === undefined || !views.keepsRequests ? {} : { request: asked.terms };
}

/** Whether an unsigned request is in the log already: then its answer is that of the first. */
export function isExecuted({ views }: Venue, { asked }: Pick<NotesInMaking, "asked">): boolean {
  return views.keptRequest(asked.terms) !== undefined;
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
