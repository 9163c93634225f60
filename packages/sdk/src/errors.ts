/**
 * What can go wrong, in two kinds: the venue answered and said no (`PerpgateError`), or there was no
 * answer (`ConnectionError`, and `TimeoutError` among them). A mistake in calling the client, such as
 * an option that makes no sense, is a plain `TypeError` or `RangeError`.
 */

import type { ErrorBody, ErrorCode } from "@perpgate/protocol";

/** A code of the error table; a newer server may know more. */
export type AnyErrorCode = ErrorCode | (string & {});

/**
 * `refused`: nothing was done. `not_sent`: it never left. `unknown`: it may have been carried out,
 * because an earlier try, or this one, ended without a word on it.
 */
export type Outcome = "refused" | "not_sent" | "unknown";

export interface RefusalFacts {
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
  readonly outcome?: Outcome;
}

/**
 * The venue refused. `code` is a stable word that states the rule, `message` says what to do.
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
  /** The HTTP status; on a socket the one that the code has over HTTP, or 0 where it is unknown. */
  readonly status: number;
  readonly field: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Quote it when you report a fault. */
  readonly requestId: string;
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** Whether the request may have been carried out all the same, by this or an earlier try. */
  outcome: Outcome;
  /** How often the request was sent. */
  attempts = 1;
  /** The nonce of the order that this is about. */
  nonce: number | undefined;

  constructor(body: ErrorBody, { status, retryAfterMs, outcome = "refused" }: RefusalFacts) {
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

export interface SilenceFacts {
  readonly cause?: unknown;
  readonly outcome?: Outcome;
  readonly isFinal?: boolean;
}

/**
 * There was no answer. If `outcome` is `"unknown"`, the request may have been carried out. For an
 * order, send it again with the same fields and `nonce`: it is placed at most once.
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
  /** The nonce of the order that this is about. */
  nonce: number | undefined;

  /** Whether the connection was closed on purpose, so that trying again is of no use. */
  readonly isFinal: boolean;

  constructor(message: string, facts: SilenceFacts = {}) {
    const { cause, outcome = "unknown", isFinal = false } = facts;
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
    this.isFinal = isFinal;
  }
}

/**
 * No answer came in time.
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
