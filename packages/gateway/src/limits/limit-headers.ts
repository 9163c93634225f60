/**
 * Rate limits in headers, as the IETF draft "RateLimit header fields for HTTP" writes them:
 *
 *   RateLimit-Policy: "orders";q=200;w=2     the quota, and the seconds in which it comes back
 *   RateLimit: "orders";r=187;t=1            what is left, and the seconds until all of it is back
 *   Retry-After: 1                           on a 429: when to come again
 */

import { ApiError } from "@perpgate/protocol";
import type { HeaderSink } from "../request.js";
import type { BucketRule, BucketState } from "./token-buckets.js";

export function policyOf({ name, perSecond, burst }: BucketRule): string {
  return `"${name}";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`;
}

/** Writes the two headers; on a refusal also `Retry-After`, and throws. */
export function announceLimit(
  rule: BucketRule,
  policy: string,
  state: BucketState,
  header: HeaderSink,
): void {
  header("ratelimit-policy", policy);
  header("ratelimit", `"${rule.name}";r=${state.remaining};t=${Math.ceil(state.fullInMs / 1_000)}`);
  if (state.isAllowed) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(state.retryAfterMs / 1_000));
  header("retry-after", String(retryAfterSeconds));
  throw new ApiError(
    "rate_limited",
    { retryAfterSeconds },
    { details: { limit: rule.name, retryAfterMs: Math.ceil(state.retryAfterMs) } },
  );
}
