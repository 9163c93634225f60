/** The error for work that may not wait until its sender's budget allows it. */

import type { ApiError } from "@perpgate/protocol";
import type { HeaderSink } from "../request.js";
import { rateLimited } from "./limits.js";

const RETRY_AFTER_MS = 1_000;

export function overBudget(header?: HeaderSink, retryAfterMs = RETRY_AFTER_MS): ApiError {
  return rateLimited("cost", retryAfterMs, header);
}
