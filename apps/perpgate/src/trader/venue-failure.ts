/**
 * Errors of a gateway or of the connection to it, with advice: lines for people, or one JSON document
 * for programs.
 */

import { ConnectionError, PerpgateError, TimeoutError } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { inOneLine, StartError } from "../cli/start-error.js";
import type { Hint } from "./hint.js";

/** A command in angle brackets is printed as one that works: see `Hint`. */
const ADVICE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    invalid_token: "The session has ended. Sign in again: <login>",
    token_required: "Sign in first: <login>",
    session_key_rotated: "Another program changed the session's key. Sign in again: <login>",
    insufficient_margin: "Available money: <account>. Test money: <deposit>",
    unknown_symbol: "The markets: <markets>",
    market_not_found: "The markets: <markets>",
    unknown_stream: "The streams: perpgate watch --help",
    order_not_found: "Your open orders: <orders>",
    order_not_cancelable: "What became of it: <orders --all>",
    post_only_would_cross: "Change the price, or trade immediately without --post-only.",
    stop_would_trigger: "Choose a price beyond the mark, or trade now without --stop or --take.",
    reduce_only_without_position: "Your positions: <positions>",
    price_outside_band: "Choose a price within the band, or trade at the market without --price.",
    not_in_cohort: "The operator decides who may open positions: perpgate cohort --help",
    stale_index: "The index price is stale; wait until it is updated.",
    index_held: "The index price jumped; wait some seconds until it is confirmed.",
    siwe_domain_not_allowed: "Name a domain that the gateway serves: <login --domain NAME>",
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

/** How a failure is described: the address that was called, and commands that reach it. */
interface FailureContext {
  readonly url: string;
  readonly hint: Hint;
  /** For a request whose outcome is unknown: how to find it out. */
  readonly settle?: string;
  /** The symbol that may have been meant. */
  readonly meant?: string | undefined;
}

/** Converts errors of the SDK; returns any other error unchanged. */
export function failureOf(error: unknown, context: FailureContext): unknown {
  if (error instanceof PerpgateError) return refusal(error, context);
  if (error instanceof ConnectionError) return noAnswer(error, context);
  return error;
}

function refusal(error: PerpgateError, context: FailureContext): VenueFailure {
  const { code, status, field, details, requestId, outcome, nonce } = error;
  const advice = ADVICE.get(code)?.replace(/<([^>]+)>/g, (_, call) => context.hint(call));
  return new VenueFailure({
    code,
    message: withoutPaths(error.message),
    advice: [
      unknownOutcome(outcome, context),
      context.meant === undefined ? undefined : `Did you mean ${context.meant}?`,
      advice,
    ],
    details: { status, requestId, field, details, outcome, nonce },
  });
}

function noAnswer(error: ConnectionError, context: FailureContext): VenueFailure {
  const { url } = context;
  const { outcome, nonce, message } = error;
  const isSlow = error instanceof TimeoutError;
  return new VenueFailure({
    code: isSlow ? "timed_out" : "connection_failed",
    message: isSlow ? `${url} is slow: ${message}` : `no gateway answers at ${url}: ${message}`,
    advice: [
      unknownOutcome(outcome, context),
      isSlow ? undefined : "Start one with npm start, or name another with --url or PERPGATE_URL.",
    ],
    details: { outcome, nonce },
  });
}

/** For a request that may or may not have been executed. */
function unknownOutcome(outcome: string, { settle }: FailureContext): string | undefined {
  if (outcome !== "unknown" || settle === undefined) return undefined;
  return `It may have been executed; ${settle}.`;
}

/** A venue's message without the paths of its API, which a user of the shell does not call. */
export function withoutPaths(message: string): string {
  return message
    .replace(/[.;] (?:See )?GET \/v1\/\S+ (?:for the shape|lists them)\.?/g, ".")
    .replaceAll("GET /v1/auth/nonce", "the gateway");
}
