/** The refusal for work that may not wait until its sender's budget allows it. */

import { ApiError } from "@perpgate/protocol";
import type { HeaderSink } from "../request.js";

const RETRY_AFTER_MS = 1_000;

export function overBudget(header?: HeaderSink, retryAfterMs = RETRY_AFTER_MS): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  header?.("retry-after", String(retryAfterSeconds));
  const details = { limit: "cost", retryAfterMs: Math.ceil(retryAfterMs) };
  return new ApiError("rate_limited", { retryAfterSeconds }, { details });
}
