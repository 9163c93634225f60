/**
 * The errors of the client: the venue refused (`PerpgateError`), or there was no response
 * (`ConnectionError` and its subclass `TimeoutError`). An invalid argument is a `TypeError` or a
 * `RangeError`.
 */

import type { ErrorBody, ErrorCode } from "@perpgate/protocol";

/** A code of the error table; a newer server may send others. */
export type AnyErrorCode = ErrorCode | (string & {});

/**
 * `refused`: nothing was done. `not_sent`: the request was not sent. `unknown`: it may have been
 * executed, or may still be, because this or an earlier try ended without a response.
 */
export type Outcome = "refused" | "not_sent" | "unknown";

interface ErrorFacts {
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
  readonly outcome?: Outcome;
}

/**
 * The venue refused. `code` is stable and names the rule, `message` says what to do.
 *
 * @example
 * try {
 *   await session.placeOrder({ symbol: "BTCUSD", side: "long", type: "market", margin: 1e9, leverage: 5 });
 * } catch (error) {
 *   if (error instanceof PerpgateError && error.code === "insufficient_margin") {
 *     console.log(error.message, error.field, error.details);
 *   } else throw error;
 * }
 */
export class PerpgateError extends Error {
  override readonly name = "PerpgateError";
  readonly code: AnyErrorCode;
  /** The HTTP status; on a socket the status of the code over HTTP, or 0 if the code is unknown. */
  readonly status: number;
  readonly field: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Quote it when you report a fault. */
  readonly requestId: string;
  /** How long the server requests to wait. */
  readonly retryAfterMs: number | undefined;
  /** Whether this or an earlier try may have been executed. */
  outcome: Outcome;
  /** How often the request was sent. */
  attempts = 1;
  /** @internal Whether a try before the last may have been executed. */
  isDoubtful = false;
  /** The nonce of the order. */
  nonce: number | undefined;
  /** @internal Whether the next try goes to another gateway immediately. */
  hasOther = false;
  /** @internal The gateway that was asked; undefined if the client has only one. */
  gateway: string | undefined;

  constructor(body: ErrorBody, { status, retryAfterMs, outcome = "refused" }: ErrorFacts) {
    super(body.message);
    this.code = body.code;
    this.status = status;
    this.field = body.field;
    this.details = body.details;
    this.requestId = body.requestId;
    this.retryAfterMs = retryAfterMs;
    this.outcome = outcome;
  }
}

interface ConnectionFacts {
  readonly cause?: unknown;
  readonly outcome?: Outcome;
  readonly isFinal?: boolean;
}

/**
 * There was no response. If `outcome` is `"unknown"`, the request may have been executed. For an
 * order, send it again with the same fields and `nonce`: it is placed at most once. After `renew` the
 * order is sent in the session that it belongs to; once that one has ended, `nonce_too_old` advises to
 * look the order up.
 *
 * @example
 * const order = { symbol: "BTCUSD", side: "long", type: "market", margin: 100, leverage: 5 } as const;
 * try {
 *   await session.placeOrder(order);
 * } catch (error) {
 *   if (!(error instanceof ConnectionError) || error.nonce === undefined) throw error;
 *   // Later, when the network is back:
 *   const ack = await session.placeOrder({ ...order, nonce: error.nonce });
 *   console.log(ack.replayed ? "it had been placed" : "placed now");
 * }
 */
export class ConnectionError extends Error {
  override readonly name: string = "ConnectionError";
  outcome: Outcome;
  /** How often the request was sent. */
  attempts = 1;
  /** @internal Whether a try before the last may have been executed. */
  isDoubtful = false;
  /** The nonce of the order. */
  nonce: number | undefined;
  /** @internal Whether the next try goes to another gateway immediately. */
  hasOther = false;
  /** @internal The gateway that was asked; undefined if the client has only one. */
  gateway: string | undefined;

  /** Whether the connection was closed on purpose, so that a retry is useless. */
  readonly isFinal: boolean;

  constructor(message: string, facts: ConnectionFacts = {}) {
    const { cause, outcome = "unknown", isFinal = false } = facts;
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
    this.isFinal = isFinal;
  }
}

/**
 * There was no response in time.
 *
 * @example
 * try {
 *   await client.markets({ timeoutMs: 500, retries: 0 });
 * } catch (error) {
 *   if (error instanceof TimeoutError) console.log("slow network, or a gateway that hangs");
 * }
 */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
}
