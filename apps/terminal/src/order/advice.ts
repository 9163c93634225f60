/**
 * A title and a suggested correction for each error code. The server's message explains the error;
 * codes without an entry show the message alone.
 */

import { ConnectionError, PerpgateError } from "@perpgate/sdk";
import { floorToCents, formatFixed } from "../format/numbers.js";
import { StillPendingError } from "../venue/unsettled-requests.js";
import type { OrderForm } from "./order-form-state.js";

export interface Advice {
  readonly title: string;
  readonly text: string;
  /** The form field at fault. */
  readonly field?: string;
  readonly action?: AdviceAction;
  /** When it is gone although the form is as it was: once there is other money to spend, or by itself. */
  readonly endsWith?: "money" | "time";
  /** For a bug report, if the server failed. */
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
  notional_too_small: () => ({ title: "Too small" }),
  size_not_on_lot: () => ({ title: "Size between two lots" }),
  margin_too_small: () => ({ title: "Margin too small for this size" }),
  margin_needed: () => ({ title: "The position needs its margin" }),
  expiry_out_of_range: () => ({ title: "Expiry out of range" }),
  limit_price_outside_band: () => ({ title: "Limit too far from the trigger" }),
  exit_price: () => ({ title: "Exit on the wrong side of the price" }),
  order_not_amendable: () => ({ title: "Too late to amend" }),
  close_position_in_use: () => ({ title: "The position has such an exit already" }),
  too_late: () => ({ title: "Too late: nothing was done", action: RETRY }),
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
  leverage_limited: ({ maxLeverage }) => ({
    title: "Less leverage than usual now",
    action: offerLeverage(maxLeverage),
  }),
  position_limit: () => ({ title: "Position too large" }),
  notional_limit: () => ({ title: "Order too large" }),
  open_order_limit: () => ({
    title: "Too many open orders",
    action: { kind: "cancel-all", label: "Cancel all" },
  }),
  too_many_orders: () => ({
    title: "Too many open orders for this account's equity",
    action: { kind: "cancel-all", label: "Cancel all" },
  }),
  post_only_would_cross: () => ({
    title: "Would fill immediately",
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
  market_reduce_only: () => ({ title: "Market is reduce-only" }),
  market_settled: () => ({ title: "Market is settled" }),
  deposit_reorged: () => ({ title: "A deposit left its chain" }),
  stale_index: () => ({ title: "Index price is stale", action: RETRY }),
  index_held: () => ({ title: "Index price jumped, waiting for confirmation", action: RETRY }),
  not_in_cohort: () => ({ title: "Not allowed to trade yet" }),
  rate_limited: () => ({ title: "Too many requests", action: RETRY }),
  overloaded: () => ({ title: "Venue is busy", action: RETRY }),
  stopped: () => ({ title: "Gateway is restarting", action: RETRY }),
  not_executed: () => ({ title: "Not executed", action: RETRY }),
  lagging: () => ({ title: "Gateway is behind", action: RETRY }),
  history_not_kept: () => ({ title: "Too long ago: no longer kept" }),
  history_rebuilding: () => ({ title: "History is being rebuilt", action: RETRY }),
  not_ready: () => ({ title: "Venue is not ready", action: RETRY }),
  invalid_token: () => ({ title: "Signed out", action: SIGN_IN }),
  token_required: () => ({ title: "Signed out", action: SIGN_IN }),
  session_key_rotated: () => ({ title: "Session key changed", action: SIGN_IN }),
  order_not_cancelable: () => ({ title: "Too late to cancel" }),
  order_not_found: () => ({ title: "Order not found" }),
  invalid_tx_hash: () => ({ title: "Not a transaction hash" }),
  token_not_on_chain: () => ({ title: "Token not accepted on this chain" }),
  siwe_message_from_future: () => ({ title: "This computer's clock is ahead" }),
  siwe_message_too_old: () => ({ title: "This computer's clock is behind" }),
  siwe_domain_not_allowed: () => ({ title: "Sign-in not allowed from this page address" }),
};

/** Sending the form again would place a second order. */
const MAY_HAVE_HAPPENED =
  "The request may have been carried out. Check your orders, positions and withdrawals before you send it again.";

/** EIP-1193: the user rejected the request. */
const USER_REJECTED = 4001;

export function adviceOn(error: unknown): Advice {
  if (error instanceof PerpgateError) return adviceOnRefusal(error);
  if (error instanceof StillPendingError) {
    return {
      title: "Still waiting for an answer",
      text: `${error.message} Nothing was sent; the page asks the venue what became of it.`,
    };
  }
  if (error instanceof ConnectionError) {
    return {
      title: "No response from the venue",
      text:
        error.outcome === "unknown"
          ? MAY_HAVE_HAPPENED
          : "Nothing was sent. The page is reconnecting; try again in a moment.",
      ...(error.outcome === "unknown" ? {} : { endsWith: "time" as const }),
    };
  }
  if (codeOf(error) === USER_REJECTED) {
    return { title: "Not signed", text: "You declined in the wallet. Nothing was sent." };
  }
  return {
    title: "Something went wrong",
    text: error instanceof Error ? error.message : String(error),
  };
}

function adviceOnRefusal(error: PerpgateError): Advice {
  const { code, message, field, details, requestId } = error;
  const rule = RULES[code]?.(details ?? {});
  const isUnknown = error.outcome === "unknown";
  const endsWith = isUnknown ? undefined : endOf(code, rule?.action);
  const action = isUnknown && rule?.action?.kind === "retry" ? undefined : rule?.action;
  return {
    title: isUnknown ? "Outcome unknown" : (rule?.title ?? "Rejected"),
    text: isUnknown ? `${message} ${MAY_HAVE_HAPPENED}` : message,
    ...(field === undefined ? {} : { field }),
    ...(action === undefined ? {} : { action }),
    ...(endsWith === undefined ? {} : { endsWith }),
    ...(code === "internal_error" ? { requestId } : {}),
  };
}

/** What has passed by itself is worth another try; the press shows whether it has. */
function endOf(code: string, action: AdviceAction | undefined): Advice["endsWith"] {
  if (code === "insufficient_margin") return "money";
  return action?.kind === "retry" ? "time" : undefined;
}

/** Rounded down to cents, so that the offered number is accepted. */
function offerNumber(
  field: "margin" | "price",
  value: unknown,
  rounding: "exact" | "cents" = "exact",
): AdviceAction | undefined {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0) return undefined;
  const cents = floorToCents(number);
  const text = rounding === "cents" && cents > 0 ? cents.toFixed(2) : String(number);
  const shown = formatFixed(number, text.split(".")[1]?.length ?? 0);
  return {
    kind: "change",
    label: `Use ${rounding === "cents" ? formatFixed(Number(text), 2) : shown}`,
    change: field === "price" ? { price: text } : { unit: "margin", amount: text, share: 0 },
  };
}

function offerLeverage(value: unknown): AdviceAction | undefined {
  if (typeof value !== "number") return undefined;
  return { kind: "change", label: `Use ${value}×`, change: { leverage: String(value) } };
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
