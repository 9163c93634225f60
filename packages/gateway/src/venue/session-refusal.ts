import { ApiError } from "@perpgate/protocol/core";
import { type RefusedOutcome, unexpectedRefusal } from "./venue-link.js";

/** A session that ended after the token was checked gives `invalid_token`. */
export function sessionRefusal(command: string, outcome: RefusedOutcome): Error {
  const isGone = outcome.refusal === "session_unknown" || outcome.refusal === "session_expired";
  return isGone ? new ApiError("invalid_token", {}) : unexpectedRefusal(command, outcome);
}
