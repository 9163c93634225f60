/** The error that a failed request becomes, and what is known of the request's outcome. */

import { connectionErrorCode, type ErrorBody } from "@perpgate/protocol";
import { ConnectionError, type Outcome, PerpgateError } from "../errors.js";

/**
 * Failures of the server (5xx) after which nothing was done. `stopped` is not one of them: it is also
 * the response to a request that is already in the log, which the next start executes.
 */
const NOT_EXECUTED: ReadonlySet<string> = new Set(["overloaded", "not_executed", "lagging"]);
/** The gateway cannot serve now, and another may. */
const GATEWAY_LOST: ReadonlySet<string> = new Set([
  "stopped",
  "lagging",
  "not_ready",
  "not_executed",
  "outcome_unknown",
  "venue_unavailable",
]);
/** A proxy's, in front of a gateway that is down. */
const PROXY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** The error for a body of the error shape; `details.retryAfterMs` is more exact than the header. */
export function refusedError(
  body: ErrorBody,
  status: number,
  retryAfterMs?: number | undefined,
): PerpgateError {
  const exactMs = body.details?.retryAfterMs;
  const isRefused = isClientError(status) || NOT_EXECUTED.has(body.code);
  const outcome: Outcome = isRefused ? "refused" : "unknown";
  return new PerpgateError(body, {
    status,
    retryAfterMs: typeof exactMs === "number" ? exactMs : retryAfterMs,
    outcome,
  });
}

/** A response that no gateway of this release sends: a proxy's, another service's, a newer gateway's. */
export function unexpectedAnswer(message: string, status = 0): PerpgateError {
  return refusedError({ code: "unexpected_answer", message, requestId: "" }, status);
}

/** `fetch` failed. Node names the reason of a failed connection; a browser does not. */
export function connectionFailure(name: string, cause: unknown): ConnectionError {
  const outcome = NEVER_CONNECTED.has(connectionErrorCode(cause)) ? "not_sent" : "unknown";
  return new ConnectionError(`${name}: ${reasonOf(cause)}`, { cause, outcome });
}

/** Whether the next try should go to another gateway, if there is one. */
export function isGatewayLost(error: unknown): error is PerpgateError | ConnectionError {
  if (error instanceof ConnectionError) return !error.isFinal;
  if (!(error instanceof PerpgateError)) return false;
  const isProxy = error.code === "unexpected_answer" && PROXY_STATUSES.has(error.status);
  return isProxy || GATEWAY_LOST.has(error.code);
}

function isClientError(status: number): boolean {
  return status >= 400 && status < 500;
}

/** `fetch` puts the reason of its failure one level down. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0] ?? cause.message);
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}
