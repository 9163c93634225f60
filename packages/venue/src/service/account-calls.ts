/** A call of a live session, counted once. */

import type { Session } from "@perpgate/engine/reading";
import type { NotesInMaking } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import type { Venue } from "../venue.js";
import type { AccountLimit } from "./account-limits.js";
import { isExecuted, unanswered } from "./execution.js";

export class AccountCalls {
  constructor(
    private readonly venue: Venue,
    private readonly limit: AccountLimit,
  ) {}

  /**
   * Runs `attempt` for the session. A request that is in the log already is not charged.
   *
   * @throws ApiError `invalid_token`, `outcome_unknown`, `rate_limited`
   */
  run<T>(
    number: number,
    notes: NotesInMaking,
    attempt: (session: Session) => T | Promise<T>,
  ): T | Promise<T> {
    const session = askingSession(this.venue, number, notes);
    if (!isExecuted(this.venue, notes)) this.limit.take(session.account, notes);
    return attempt(session);
  }

  /** As `run`, for an attempt that reads lists of the past: it waits until they have all that is applied now. */
  runPast<T>(
    number: number,
    notes: NotesInMaking,
    attempt: (session: Session) => T | Promise<T>,
  ): T | Promise<T> {
    return this.run(number, notes, async (session) => {
      const { history } = this.venue;
      await history.reached();
      return attempt(session);
    });
  }
}

/**
 * The session of an unsigned request. Of one that is in the log already, what it did cannot be told without it.
 *
 * @throws ApiError `invalid_token`, `outcome_unknown`
 */
export function askingSession(venue: Venue, number: number, notes: NotesInMaking): Session {
  if (venue.views.session(number) === undefined && isExecuted(venue, notes)) {
    throw unanswered("outcome_unknown");
  }
  return knownSession(venue, number);
}

/** @throws ApiError `invalid_token` */
export function knownSession({ views }: Venue, number: number): Session {
  const session = views.session(number);
  if (session === undefined) throw new ApiError("invalid_token", {});
  return session;
}
