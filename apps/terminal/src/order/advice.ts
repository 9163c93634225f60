/**
 * What to do about a refusal: the code's rule in a trader's words, and where a number mends it, the
 * change to the form that does.
 *
 * The server's message already says what is wrong; this says what to press. A code that is not in
 * the table keeps the server's own words.
 */

import { ConnectionError, PerpgateError } from "@perpgate/sdk";
import { formatFixed } from "../format/numbers.js";
import type { OrderForm } from "./order-form-state.js";

export interface Advice {
  readonly title: string;
  readonly text: string;
  /** Which field is wrong, if one is. */
  readonly field?: string;
  readonly action?: AdviceAction;
  /** For a report, where the fault is the server's. */
  readonly requestId?: string;
}

export type AdviceAction =
  | { readonly kind: "change"; readonly label: string; readonly change: Partial<OrderForm> }
  | { readonly kind: "sign-in" | "deposit" | "retry" | "cancel-all"; readonly label: string };

type Details = Readonly<Record<string, unknown>>;
type Rule = (details: Details) => { title: string; action?: AdviceAction | undefined };

const SIGN_IN: AdviceAction = { kind: "sign-in", label: "Sign in again" };
const RETRY: AdviceAction = { kind: "retry", label: "Send again" };
const DEPOSIT: AdviceAction = { kind: "deposit", label: "Deposit" };

const RULES: Readonly<Record<string, Rule>> = {
  insufficient_margin: ({ maxMargin }) =>
    typeof maxMargin === "number" && maxMargin > 0
      ? { title: "Not enough funds", action: offerNumber("margin", maxMargin, "cents") }
      : { title: "Not enough funds", action: DEPOSIT },
  size_below_lot: ({ minMargin }) => ({
    title: "Too small",
    action: typeof minMargin === "number" ? offerNumber("margin", minMargin) : undefined,
  }),
  price_not_on_tick: ({ below, above }) => ({
    title: "Price between two ticks",
    action: offerNumber("price", typeof below === "number" ? below : above),
  }),
  price_required: () => ({ title: "Price missing" }),
  price_outside_band: ({ price, low, high }) => ({
    title: "Price too far from the mark",
    action: offerNumber("price", typeof price === "number" && price > Number(high) ? high : low),
  }),
  price_too_far: () => ({ title: "Price too far from the mark" }),
  stop_would_trigger: () => ({ title: "Stop would trigger immediately" }),
  leverage_above_maximum: ({ maxLeverage }) => ({
    title: "Leverage too high",
    action: offerLeverage(maxLeverage),
  }),
  leverage_above_tier: ({ maxLeverage }) => ({
    title: "Leverage too high at this size",
    action: offerLeverage(maxLeverage),
  }),
  position_limit: () => ({ title: "Position too large" }),
  notional_limit: () => ({ title: "Order too large" }),
  open_order_limit: () => ({
    title: "Too many open orders",
    action: { kind: "cancel-all", label: "Cancel all" },
  }),
  post_only_would_cross: () => ({
    title: "Would take, not make",
    action: { kind: "change", label: "Turn post-only off", change: { postOnly: false } },
  }),
  post_only_needs_limit: () => ({
    title: "Post-only is for limit orders",
    action: { kind: "change", label: "Turn post-only off", change: { postOnly: false } },
  }),
  reduce_only_without_position: () => ({
    title: "Nothing to reduce",
    action: { kind: "change", label: "Turn reduce-only off", change: { reduceOnly: false } },
  }),
  market_halted: () => ({ title: "Market halted" }),
  stale_index: () => ({ title: "Index price is late", action: RETRY }),
  not_in_cohort: () => ({ title: "Not admitted yet" }),
  rate_limited: () => ({ title: "Too many requests", action: RETRY }),
  overloaded: () => ({ title: "Venue is busy", action: RETRY }),
  stopped: () => ({ title: "Gateway is restarting", action: RETRY }),
  not_ready: () => ({ title: "Venue is not ready", action: RETRY }),
  invalid_token: () => ({ title: "Signed out", action: SIGN_IN }),
  token_required: () => ({ title: "Signed out", action: SIGN_IN }),
  session_key_rotated: () => ({ title: "Session key changed", action: SIGN_IN }),
  order_not_cancelable: () => ({ title: "Too late to cancel" }),
  order_not_found: () => ({ title: "Order not found" }),
  invalid_tx_hash: () => ({ title: "Not a transaction hash" }),
  token_not_on_chain: () => ({ title: "Token not taken on this chain" }),
  siwe_message_from_future: () => ({ title: "This computer's clock is ahead" }),
  siwe_message_too_old: () => ({ title: "This computer's clock is behind" }),
  siwe_domain_not_allowed: () => ({ title: "This address may not sign in here" }),
};

/** Sending it again from the form would be a second order. */
const MAY_HAVE_HAPPENED =
  "The request may have been carried out. Look at orders and positions before you send it again.";

/** EIP-1193: the person said no in the wallet. */
const USER_REJECTED = 4001;

export function adviceOn(error: unknown): Advice {
  if (error instanceof PerpgateError) return adviceOnRefusal(error);
  if (error instanceof ConnectionError) {
    return {
      title: "No answer from the venue",
      text:
        error.outcome === "unknown"
          ? MAY_HAVE_HAPPENED
          : "Nothing was sent. The page reconnects by itself; try again in a moment.",
    };
  }
  if (codeOf(error) === USER_REJECTED) {
    return { title: "Not signed", text: "The wallet was told no. Nothing has happened." };
  }
  return {
    title: "That did not work",
    text: error instanceof Error ? error.message : String(error),
  };
}

function adviceOnRefusal(error: PerpgateError): Advice {
  const { code, message, field, details, requestId } = error;
  const rule = RULES[code]?.(details ?? {});
  const isOpen = error.outcome === "unknown";
  const action = isOpen && rule?.action?.kind === "retry" ? undefined : rule?.action;
  return {
    title: rule?.title ?? "Refused",
    text: isOpen ? `${message} ${MAY_HAVE_HAPPENED}` : message,
    ...(field === undefined ? {} : { field }),
    ...(action === undefined ? {} : { action }),
    ...(code === "internal_error" ? { requestId } : {}),
  };
}

/** Cents are floored, so that the number offered is never more than what passes. */
function offerNumber(
  field: "margin" | "price",
  value: unknown,
  rounding: "exact" | "cents" = "exact",
): AdviceAction | undefined {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0) return undefined;
  const cents = Math.floor(number * 100) / 100;
  const text = rounding === "cents" && cents > 0 ? cents.toFixed(2) : String(number);
  const shown = formatFixed(number, text.split(".")[1]?.length ?? 0);
  return {
    kind: "change",
    label: `Use ${rounding === "cents" ? formatFixed(Number(text), 2) : shown}`,
    change: { [field]: text },
  };
}

function offerLeverage(value: unknown): AdviceAction | undefined {
  if (typeof value !== "number") return undefined;
  return { kind: "change", label: `Use ${value}×`, change: { leverage: value } };
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
