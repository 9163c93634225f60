/**
 * Errors of a gateway or of the connection to it, with advice: lines for people, or one JSON document
 * for programs.
 */

import { ConnectionError, PerpgateError, TimeoutError } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { inOneLine, StartError } from "../cli/start-error.js";

const ADVICE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    invalid_token: "The session has ended. Sign in again: perpgate login",
    token_required: "Sign in first: perpgate login",
    session_key_rotated: "Another program changed the session's key. Sign in again: perpgate login",
    insufficient_margin: "Available money: perpgate account. Test money: perpgate deposit",
    unknown_symbol: "The markets: perpgate markets",
    market_not_found: "The markets: perpgate markets",
    unknown_stream: "The streams: perpgate watch --help",
    order_not_found: "Your open orders: perpgate orders",
    order_not_cancelable: "What became of it: perpgate orders --all",
    post_only_would_cross: "Change the price, or trade immediately without --post-only.",
    stop_would_trigger: "Choose a price beyond the mark, or trade now without --stop.",
    reduce_only_without_position: "Your positions: perpgate positions",
    price_outside_band: "Choose a price within the band, or trade at the market without --price.",
    not_in_cohort: "The operator decides who may open positions: perpgate cohort --help",
    stale_index: "The index price is stale; wait until it is updated.",
    index_held: "The index price jumped; wait some seconds until it is confirmed.",
    siwe_domain_not_allowed: "Name a domain that the gateway serves: perpgate login --domain NAME",
    siwe_message_from_future: "Correct the clock of this machine.",
    siwe_message_too_old: "Correct the clock of this machine.",
    session_symbol_not_allowed: "The session was limited at login by --symbols.",
    session_order_cap_exceeded: "The session was limited at login by --max-order-notional.",
    session_notional_cap_exceeded: "The session was limited at login by --max-notional.",
    internal_error: "Include the request id in a report.",
    not_ready: "The venue is starting, or its index is stale; try again shortly.",
  }),
);

interface FailureFacts {
  readonly code: string;
  readonly message: string;
  readonly advice: readonly (string | undefined)[];
  readonly details: Readonly<Record<string, unknown>>;
}

export class VenueFailure extends StartError {
  override readonly name = "VenueFailure";
  private readonly advice: readonly string[];

  constructor(private readonly facts: FailureFacts) {
    super(facts.message);
    this.advice = facts.advice.filter((text) => text !== undefined);
  }

  override get code(): string {
    return this.facts.code;
  }

  override get text(): string {
    const { status, requestId } = this.facts.details;
    const message = printable(inOneLine(this.message));
    const lines = [`perpgate: ${message} (${printable(this.code)})`, ...this.advice];
    if (typeof status === "number" && status >= 500) {
      lines.push(`request id ${printable(String(requestId))}`);
    }
    return `${lines.join("\n  ")}\n`;
  }

  override get json(): string {
    const { code, message, details } = this.facts;
    const advice = this.advice.length === 0 ? null : this.advice.join(" ");
    return `${JSON.stringify({ error: { code, message, advice, ...details } })}\n`;
  }
}

/** A single order can be found by its nonce; of a batch, an amendment or a margin change only a repetition tells. */
export type SignedKind = "order" | "change";

/** Converts errors of the SDK; returns any other error unchanged. */
export function failureOf(error: unknown, url: string, kind: SignedKind = "order"): unknown {
  if (error instanceof PerpgateError) return refusal(error, kind);
  if (error instanceof ConnectionError) return noAnswer(error, url, kind);
  return error;
}

function refusal(error: PerpgateError, kind: SignedKind): VenueFailure {
  const { code, message, status, field, details, requestId, outcome, nonce } = error;
  return new VenueFailure({
    code,
    message,
    advice: [unknownOutcome(outcome, kind, nonce), ADVICE.get(code)],
    details: { status, requestId, field, details, outcome, nonce },
  });
}

function noAnswer(error: ConnectionError, url: string, kind: SignedKind): VenueFailure {
  const { outcome, nonce, message } = error;
  const isSlow = error instanceof TimeoutError;
  return new VenueFailure({
    code: isSlow ? "timed_out" : "connection_failed",
    message: isSlow ? `${url} is slow: ${message}` : `no gateway answers at ${url}: ${message}`,
    advice: [
      unknownOutcome(outcome, kind, nonce),
      isSlow ? undefined : "Start one with npm start, or name another with --url or PERPGATE_URL.",
    ],
    details: { outcome, nonce },
  });
}

/** For a request that may or may not have been executed. */
function unknownOutcome(
  outcome: string,
  kind: SignedKind,
  nonce: number | undefined,
): string | undefined {
  if (outcome !== "unknown" || nonce === undefined) return undefined;
  const what = kind === "order" ? "The order may have been placed" : "It may have been executed";
  return `${what}; ${howToSettle(kind, nonce)}.`;
}

export function howToSettle(kind: SignedKind, nonce: number): string {
  const repeat = `repeat the command with --nonce ${nonce}: it is executed at most once`;
  return kind === "order" ? `check: perpgate orders --all --nonce ${nonce}, or ${repeat}` : repeat;
}
