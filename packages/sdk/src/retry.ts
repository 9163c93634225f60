/**
 * The retry policy: which failures are retried, after how long, how often.
 *
 *   no response, 408, 500, 502, 503, 504   wait for the backoff or for Retry-After, then send again
 *   429, `too_many_orders` apart           wait for Retry-After; not counted as a try
 *   not_executed, outcome_unknown          as a 503; not counted as a try
 *   any of these, gateway lost             send again immediately, to the next gateway
 *   anything else                          final
 *
 * A request is sent again unchanged, so every request must be safe to repeat. The time budget starts
 * with the first try; time in a queue before that is not counted.
 */

import { isErrorCode, MAX_TIMER_MS } from "@perpgate/protocol/core";
import { ConnectionError, PerpgateError } from "./errors.js";

export interface RetryRules {
  /** Milliseconds that one try may take. */
  readonly timeoutMs: number;
  /** How often a request is sent again. */
  readonly retries: number;
  /** Milliseconds after the start of the first try from which no other try starts. */
  readonly budgetMs: number;
}

/** What a call may change about the client's rules. */
export interface CallOptions extends Partial<RetryRules> {
  /** Ends the call when aborted; a request that was sent may still be executed. */
  readonly signal?: AbortSignal;
  /**
   * Whether an order with a given `nonce` may have been sent before; true unless you say otherwise. A
   * response that proves nothing about the earlier call then leaves the outcome unknown. After `renew`
   * an order with a nonce of your own that is not above all of the old session's is sent in the old
   * session, unless this is false.
   */
  readonly isRepeat?: boolean;
  /** As the client's `onHistoryBefore`, and in place of it: says which list has ended. */
  readonly onHistoryBefore?: (position: number) => void;
}

/** The rules of one call; an option that is undefined does not replace the default. */
export function rulesWith(options: CallOptions, rules: RetryRules): RetryRules {
  const {
    timeoutMs = rules.timeoutMs,
    retries = rules.retries,
    budgetMs = rules.budgetMs,
  } = options;
  return { timeoutMs, retries, budgetMs };
}

interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

const REQUEST_BACKOFF: Backoff = { firstMs: 100, longestMs: 5_000 };
export const RECONNECT_BACKOFF: Backoff = { firstMs: 200, longestMs: 10_000 };
/** While none of several gateways can be reached. */
export const MOVE_BACKOFF: Backoff = { firstMs: 200, longestMs: 1_000 };
export const RESUBSCRIBE_BACKOFF: Backoff = { firstMs: 500, longestMs: 15_000 };

/** Doubles with each failure. The upper half is random, so that clients do not retry in step. */
export function backoffMs(
  failures: number,
  { firstMs, longestMs }: Backoff = REQUEST_BACKOFF,
): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 20));
  return full / 2 + (full / 2) * Math.random();
}

export interface Attempt {
  /** 0 for the first. */
  readonly number: number;
  readonly timeoutMs: number;
  /** Must be called when the request leaves its queue; the first call starts the time budget. */
  begin(): void;
}

const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export async function withRetries<T>(
  rules: RetryRules,
  signal: AbortSignal | undefined,
  send: (attempt: Attempt) => Promise<T>,
  /** Whether an earlier call may have been executed. */
  isRepeat = false,
): Promise<T> {
  const { timeoutMs, retries, budgetMs } = rules;
  let endsAt: number | undefined;
  let failures = 0;
  let uncounted = 0;
  // Where earlier tries of unknown outcome were sent; that of an earlier call is not known.
  const doubtful = new Set<string | undefined>(isRepeat ? [undefined] : []);
  const begin = () => {
    endsAt ??= performance.now() + budgetMs;
  };
  for (let number = 0; ; number++) {
    signal?.throwIfAborted();
    try {
      return await send({ number, timeoutMs, begin });
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      if (!(error instanceof PerpgateError) && !(error instanceof ConnectionError)) throw error;
      error.attempts = number + 1;
      error.isDoubtful = doubtful.size > 0;
      if (error.outcome === "unknown") doubtful.add(error.gateway);
      const waitMs = error.hasOther ? 0 : waitBefore(error, failures);
      if (!isRateLimited(error)) failures++;
      if (isUnsettled(error)) uncounted++;
      const isTooLate = performance.now() + waitMs > (endsAt ?? Number.POSITIVE_INFINITY);
      const isLast = retries === 0 ? failures > 0 : failures - uncounted > retries;
      if (!isRetryable(error) || isLast || isTooLate) {
        if (doubtful.size > 0 && !settlesEarlierTries(error, doubtful)) error.outcome = "unknown";
        throw error;
      }
      await pause(waitMs, signal);
    }
  }
}

/** Codes below 500 that say nothing about earlier tries. */
const BLIND_CODES: ReadonlySet<string> = new Set([
  // The request was not understood, or was received by a server without this operation.
  "malformed_request",
  "malformed_uri",
  "headers_too_large",
  "not_found",
  "method_not_allowed",
  // An earlier try may have been executed and its nonce forgotten since.
  "nonce_too_old",
]);

/** Refusals that hold at every gateway, now and later. */
const LASTING_CODES: ReadonlySet<string> = new Set([
  // By the venue's time, and by a nonce in the log.
  "too_late",
  "nonce_conflict",
  // By the bytes alone, whatever release reads them.
  "malformed_json",
  "duplicate_key",
  "forbidden_key",
  "number_not_exact",
]);

/**
 * Whether an error proves that no earlier try was executed, or will be. The venue looks up the nonce
 * before it checks an order, so an order rejected after that look-up was not executed before; an error
 * in the bytes themselves was the same the first time. These prove nothing:
 *
 *   no response, 408, 429, 5xx   sent before the nonce is looked up, or not by the venue
 *   401                          token and session are checked before the nonce, and both expire; a
 *                                changed session key does not show that nothing was executed
 *   an unknown code              a proxy's page, or a rule that is newer than this client
 *   `BLIND_CODES`                as explained there
 *   another gateway's refusal    the one that got the earlier try may be stalled and publish it later,
 *                                when the venue's state no longer refuses it; `LASTING_CODES` excepted
 */
function settlesEarlierTries(
  error: PerpgateError | ConnectionError,
  doubtful: ReadonlySet<string | undefined>,
): boolean {
  if (!(error instanceof PerpgateError) || isRetryable(error)) return false;
  const { code, status, gateway } = error;
  if (status === 401 || !isErrorCode(code) || BLIND_CODES.has(code)) return false;
  return LASTING_CODES.has(code) || [...doubtful].every((earlier) => earlier === gateway);
}

export function isRetryable(error: unknown): error is PerpgateError | ConnectionError {
  if (error instanceof ConnectionError) return !error.isFinal;
  if (!(error instanceof PerpgateError)) return false;
  // Waiting does not help: orders have to be canceled first.
  return RETRYABLE_STATUSES.has(error.status) && error.code !== "too_many_orders";
}

function isRateLimited(error: PerpgateError | ConnectionError): boolean {
  return error instanceof PerpgateError && error.code === "rate_limited";
}

/** The venue cannot write to its log now; the time budget alone bounds how long it is tried. */
function isUnsettled(error: PerpgateError | ConnectionError): boolean {
  if (!(error instanceof PerpgateError)) return false;
  return error.code === "not_executed" || error.code === "outcome_unknown";
}

function waitBefore(error: PerpgateError | ConnectionError, failures: number): number {
  const requestedMs = error instanceof PerpgateError ? (error.retryAfterMs ?? 0) : 0;
  return requestedMs + backoffMs(requestedMs > 0 ? 0 : failures);
}

/** Calls back after `ms`, or after 24 days if that is sooner. */
export function startTimer(ms: number, callback: () => void): ReturnType<typeof setTimeout> {
  return setTimeout(callback, Math.min(ms, MAX_TIMER_MS));
}

/** Rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const finish = () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const timer = startTimer(ms, finish);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
