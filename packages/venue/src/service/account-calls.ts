/** A call of a live session: counted once, and judged again where this core may be behind others. */

import type { Session } from "@perpgate/engine/reading";
import type { NotesInMaking } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import type { Venue } from "../venue.js";
import type { AccountLimit } from "./account-limits.js";
import { caughtUp, isExecuted } from "./execution.js";

const NOT_FOUND = 404;

export class AccountCalls {
  constructor(
    private readonly venue: Venue,
    private readonly limit: AccountLimit,
    /** There is nothing of a read to execute: one that is not executed is late. */
    private readonly isReading: boolean,
  ) {}

  /**
   * Runs `attempt` for the session. What is not found here may be known to another core: it is looked for
   * again once everything is applied that any core has answered; the limit is not charged again. A request
   * that is in the log already is not charged either.
   *
   * @throws ApiError `invalid_token`, `rate_limited`
   */
  run<T>(
    number: number,
    notes: NotesInMaking,
    attempt: (session: Session) => T | Promise<T>,
  ): T | Promise<T> {
    const session = liveSession(this.venue, number);
    if (!isExecuted(this.venue, notes)) this.limit.take(session.account, notes);
    return this.venue.isReplicated ? this.judged(number, attempt) : attempt(session);
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

  private async judged<T>(
    number: number,
    attempt: (session: Session) => T | Promise<T>,
  ): Promise<T> {
    const { venue } = this;
    try {
      return await attempt(liveSession(venue, number));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== NOT_FOUND) throw error;
      await caughtUp(venue).catch((failure: unknown) => {
        const isLate = failure instanceof ApiError && failure.code === "not_executed";
        if (!isLate || !this.isReading) throw failure;
        const details = { retryAfterMs: 1_000 };
        throw new ApiError("lagging", { position: venue.seq }, { details });
      });
      return attempt(liveSession(venue, number));
    }
  }
}

/** @throws ApiError `invalid_token` */
export function liveSession({ views }: Venue, number: number): Session {
  const session = views.session(number);
  if (session === undefined) throw new ApiError("invalid_token", {});
  return session;
}
