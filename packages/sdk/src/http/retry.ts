/**
 * Safe repetition: one request, sent again unchanged until it is answered or its budget is spent.
 *
 *   no answer, 408, 500, 502, 503, 504   wait by backoff (or as told by Retry-After), send again
 *   429                                  wait as told; does not count as a try
 *   anything else                        the answer
 *
 * Whoever calls this vouches that sending the request twice does no more than sending it once. The
 * budget begins with the first try, so time spent in a queue before it costs nothing.
 */

import { isErrorCode } from "@perpgate/protocol";
import { ConnectionError, PerpgateError } from "../errors.js";
import { backoffMs, pause } from "./backoff.js";

export interface RetryRules {
  /** How long one try may take. */
  readonly timeoutMs: number;
  /** How often a request is sent again. */
  readonly retries: number;
  /** How long after the first try no other begins. */
  readonly budgetMs: number;
}

/** What a call may change about the client's rules. */
export interface CallOptions extends Partial<RetryRules> {
  /** Gives up when aborted; a request that was sent may still be carried out. */
  readonly signal?: AbortSignal;
}

/** The rules of one call: its own where it has any. What is undefined does not hide a default. */
export function rulesWith(options: CallOptions, rules: RetryRules): RetryRules {
  const {
    timeoutMs = rules.timeoutMs,
    retries = rules.retries,
    budgetMs = rules.budgetMs,
  } = options;
  return { timeoutMs, retries, budgetMs };
}

export interface Attempt {
  /** 0 for the first. */
  readonly number: number;
  /** Whether an earlier one may have been carried out. */
  readonly isAfterUnknown: boolean;
  /** How long it may take. */
  readonly timeoutMs: number;
  /** To be called when it leaves its queue; the budget runs from the first time. */
  begin(): void;
}

const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export async function withRetries<T>(
  rules: RetryRules,
  signal: AbortSignal | undefined,
  send: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const { timeoutMs, retries, budgetMs } = rules;
  let endsAt: number | undefined;
  let failures = 0;
  let isAfterUnknown = false;
  const begin = () => {
    endsAt ??= performance.now() + budgetMs;
  };
  for (let number = 0; ; number++) {
    signal?.throwIfAborted();
    try {
      return await send({ number, isAfterUnknown, timeoutMs, begin });
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      if (!(error instanceof PerpgateError) && !(error instanceof ConnectionError)) throw error;
      error.attempts = number + 1;
      isAfterUnknown ||= error.outcome === "unknown";
      const waitMs = waitBefore(error, failures);
      // Being told to wait is no failure, as long as there is time to.
      if (!isRateLimited(error)) failures++;
      const isTooLate = performance.now() + waitMs > (endsAt ?? Number.POSITIVE_INFINITY);
      if (!isRetryable(error) || failures > retries || isTooLate) {
        if (isAfterUnknown && !settlesEarlierTries(error)) error.outcome = "unknown";
        throw error;
      }
      await pause(waitMs, signal);
    }
  }
}

/** Codes below 500 that are given without a look at what earlier tries did. */
const BLIND_CODES: ReadonlySet<string> = new Set([
  // The request was not read as what it is, or by something that does not offer it.
  "malformed_request",
  "malformed_uri",
  "headers_too_large",
  "not_found",
  "method_not_allowed",
  // An earlier try may have been executed and forgotten since.
  "nonce_too_old",
]);

/**
 * Whether an answer tells what became of earlier tries that had none. The venue looks for the nonce
 * before it judges an order, so what is refused after that look was not executed before; and what is
 * wrong with the bytes alone was as wrong the first time. The rest says nothing about earlier tries:
 *
 *   no answer, 408, 429, 5xx   given before the nonce is looked at, or not by the venue
 *   401                        so are token and session, and they end by themselves; a key that was
 *                              changed meanwhile is no reason to believe that nothing happened
 *   a code of no table         a proxy's page, or a rule that is younger than this client
 *   the codes above            for their own reasons
 */
function settlesEarlierTries(error: PerpgateError | ConnectionError): boolean {
  if (!(error instanceof PerpgateError) || isRetryable(error)) return false;
  const { code, status } = error;
  return status !== 401 && isErrorCode(code) && !BLIND_CODES.has(code);
}

export function isRetryable(error: unknown): error is PerpgateError | ConnectionError {
  if (error instanceof ConnectionError) return !error.isFinal;
  return error instanceof PerpgateError && RETRYABLE_STATUSES.has(error.status);
}

function isRateLimited(error: PerpgateError | ConnectionError): boolean {
  return error instanceof PerpgateError && error.code === "rate_limited";
}

function waitBefore(error: PerpgateError | ConnectionError, failures: number): number {
  const askedMs = error instanceof PerpgateError ? (error.retryAfterMs ?? 0) : 0;
  return askedMs + backoffMs(askedMs > 0 ? 0 : failures);
}
