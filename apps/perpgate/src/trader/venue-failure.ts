/**
 * What a gateway refused, or that there was none, and what to do about it: lines for people, or one
 * JSON document for programs.
 */

import { ConnectionError, PerpgateError, TimeoutError } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { inOneLine, StartError } from "../cli/start-error.js";

const ADVICE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    invalid_token: "The session is over. Sign in again: perpgate login",
    token_required: "Sign in first: perpgate login",
    session_key_rotated: "Another program changed the session's key. Sign in again: perpgate login",
    insufficient_margin: "What is free: perpgate account. More test money: perpgate deposit",
    unknown_symbol: "The markets: perpgate markets",
    market_not_found: "The markets: perpgate markets",
    unknown_stream: "The streams: perpgate watch --help",
    order_not_found: "Your open orders: perpgate orders",
    order_not_cancelable: "What became of it: perpgate orders --all",
    post_only_would_cross: "Move the price, or leave --post-only out to take what is there.",
    stop_would_trigger: "Leave --stop out to trade now, or choose a price beyond the mark.",
    reduce_only_without_position: "What you hold: perpgate positions",
    price_outside_band: "Choose a price within the band, or trade at the market without --price.",
    not_in_cohort: "The operator decides who may open positions: perpgate cohort --help",
    stale_index: "The index price has stopped; wait until it moves again.",
    siwe_domain_not_allowed: "Name a domain that the gateway serves: perpgate login --domain NAME",
    siwe_message_from_future: "Set this machine's clock.",
    siwe_message_too_old: "Set this machine's clock.",
    session_symbol_not_allowed: "The session was limited at login; log in again without --symbols.",
    session_order_cap_exceeded: "The session was limited at login by --max-order-notional.",
    session_notional_cap_exceeded: "The session was limited at login by --max-notional.",
    internal_error: "Quote the request id when you report it.",
    not_ready: "The venue is starting, or its index has stopped; try again shortly.",
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

/** The failure that an error of the client stands for; any other error is given back as it is. */
export function failureOf(error: unknown, url: string): unknown {
  if (error instanceof PerpgateError) return refusal(error);
  if (error instanceof ConnectionError) return noAnswer(error, url);
  return error;
}

function refusal(error: PerpgateError): VenueFailure {
  const { code, message, status, field, details, requestId, outcome, nonce } = error;
  return new VenueFailure({
    code,
    message,
    advice: [unknownOrder(outcome, nonce), ADVICE.get(code)],
    details: { status, requestId, field, details, outcome, nonce },
  });
}

function noAnswer(error: ConnectionError, url: string): VenueFailure {
  const { outcome, nonce, message } = error;
  const isSlow = error instanceof TimeoutError;
  return new VenueFailure({
    code: isSlow ? "timed_out" : "connection_failed",
    message: isSlow ? `${url} is slow: ${message}` : `no gateway answers at ${url}: ${message}`,
    advice: [
      unknownOrder(outcome, nonce),
      isSlow ? undefined : "Start one with npm start, or name another with --url or PERPGATE_URL.",
    ],
    details: { outcome, nonce },
  });
}

/** An order that may have been placed is the one case in which doing nothing is dangerous. */
function unknownOrder(outcome: string, nonce: number | undefined): string | undefined {
  if (outcome !== "unknown" || nonce === undefined) return undefined;
  return (
    `It is not known whether the order was placed. Look: perpgate orders --all --nonce ${nonce}. ` +
    `Or give the same command again with --nonce ${nonce}: it is placed at most once.`
  );
}
