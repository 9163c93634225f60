/** A read of a live session: counted once, and judged again where this core may be behind others. */

import type { Session } from "@perpgate/engine/reading";
import type { NotesInMaking } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import { NotApplied } from "../pending-batches.js";
import type { Venue } from "../venue.js";
import type { AccountLimit } from "./account-limits.js";

const NOT_FOUND = 404;

export class AccountCalls {
  constructor(
    private readonly venue: Venue,
    private readonly reads: AccountLimit,
  ) {}

  /**
   * Runs `attempt` for the session. What is not found here may be known to another core: it is looked for
   * again once everything is applied that any core has answered; the limit is not charged again.
   *
   * @throws ApiError `invalid_token`, `rate_limited`
   */
  read<T>(
    number: number,
    notes: NotesInMaking,
    attempt: (session: Session) => T | Promise<T>,
  ): T | Promise<T> {
    const session = liveSession(this.venue, number);
    this.reads.take(session.account, notes);
    return this.venue.isReplicated ? this.judged(session, attempt) : attempt(session);
  }

  private async judged<T>(
    session: Session,
    attempt: (session: Session) => T | Promise<T>,
  ): Promise<T> {
    try {
      return await attempt(session);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== NOT_FOUND) throw error;
      await this.venue.caughtUp().catch((failure: unknown) => {
        if (!(failure instanceof NotApplied)) throw failure;
        if (failure.why === "stopped") throw new ApiError("stopped", {});
        // There is nothing of a read to execute: this core may be behind others.
        const details = { retryAfterMs: 1_000 };
        throw new ApiError("lagging", { position: this.venue.seq }, { details });
      });
      return attempt(liveSession(this.venue, session.number));
    }
  }
}

/** @throws ApiError `invalid_token` */
export function liveSession({ views }: Venue, number: number): Session {
  const session = views.session(number);
  if (session === undefined) throw new ApiError("invalid_token", {});
  return session;
}
