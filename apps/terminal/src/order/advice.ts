/**
 * A title and a suggested correction for each error code. The server's message explains the error;
 * codes without an entry show the message alone.
 */

import { ConnectionError, PerpgateError } from "@perpgate/sdk";
import { floorToCents, formatFixed } from "../format/numbers.js";
import { t } from "../text/texts.js";
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
type Rule = (details: Details) => AdviceAction | undefined;

const signIn = (): AdviceAction => ({ kind: "sign-in", label: t.advice.signInAgain });
const retry = (): AdviceAction => ({ kind: "retry", label: t.advice.sendAgain });
const deposit = (): AdviceAction => ({ kind: "deposit", label: t.words.deposit });
const cancelAll = (): AdviceAction => ({ kind: "cancel-all", label: t.orders.cancelAll });
const postOnlyOff = (): AdviceAction => ({
  kind: "change",
  label: t.advice.postOnlyOff,
  change: { postOnly: false },
});
const reduceOnlyOff = (): AdviceAction => ({
  kind: "change",
  label: t.advice.reduceOnlyOff,
  change: { reduceOnly: false },
});

/** What corrects it. */
const ACTIONS: Readonly<Record<string, Rule>> = {
  insufficient_margin: ({ maxMargin }) =>
    typeof maxMargin === "number" && maxMargin > 0
      ? offerNumber("margin", maxMargin, "cents")
      : deposit(),
  size_below_lot: ({ minMargin }) =>
    typeof minMargin === "number" ? offerNumber("margin", minMargin) : undefined,
  too_late: retry,
  price_not_on_tick: ({ below, above }) =>
    offerNumber("price", typeof below === "number" ? below : above),
  price_outside_band: ({ price, low, high }) =>
    offerNumber("price", typeof price === "number" && price > Number(high) ? high : low),
  leverage_above_maximum: ({ maxLeverage }) => offerLeverage(maxLeverage),
  leverage_above_tier: ({ maxLeverage }) => offerLeverage(maxLeverage),
  leverage_limited: ({ maxLeverage }) => offerLeverage(maxLeverage),
  open_order_limit: cancelAll,
  too_many_orders: cancelAll,
  post_only_would_cross: postOnlyOff,
  post_only_needs_limit: postOnlyOff,
  reduce_only_without_position: reduceOnlyOff,
  stale_index: retry,
  index_held: retry,
  rate_limited: retry,
  overloaded: retry,
  stopped: retry,
  not_executed: retry,
  lagging: retry,
  history_rebuilding: retry,
  not_ready: retry,
  invalid_token: signIn,
  token_required: signIn,
  session_key_rotated: signIn,
};

/** EIP-1193: the user rejected the request. */
const USER_REJECTED = 4001;

export function adviceOn(error: unknown): Advice {
  if (error instanceof PerpgateError) return adviceOnRefusal(error);
  if (error instanceof StillPendingError) {
    return {
      title: t.advice.stillWaiting,
      text: t.advice.stillWaitingText,
    };
  }
  if (error instanceof ConnectionError) {
    return {
      title: t.advice.noResponse,
      // Sending the form again would place a second order.
      text: error.outcome === "unknown" ? t.advice.mayHaveHappened : t.advice.nothingSent,
      ...(error.outcome === "unknown" ? {} : { endsWith: "time" as const }),
    };
  }
  if (codeOf(error) === USER_REJECTED) {
    return { title: t.advice.notSigned, text: t.advice.declined };
  }
  return {
    title: t.advice.wentWrong,
    text: error instanceof Error ? error.message : String(error),
  };
}

function adviceOnRefusal(error: PerpgateError): Advice {
  const { code, message, field, details, requestId } = error;
  const known = ACTIONS[code]?.(details ?? {});
  const titles: Readonly<Record<string, string>> = t.advice.titles;
  const isUnknown = error.outcome === "unknown";
  const endsWith = isUnknown ? undefined : endOf(code, known);
  const action = isUnknown && known?.kind === "retry" ? undefined : known;
  return {
    title: isUnknown ? t.advice.unknown : (titles[code] ?? t.advice.rejected),
    text: isUnknown ? `${message} ${t.advice.mayHaveHappened}` : message,
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
    label: t.advice.use(rounding === "cents" ? formatFixed(Number(text), 2) : shown),
    change: field === "price" ? { price: text } : { unit: "margin", amount: text, share: 0 },
  };
}

function offerLeverage(value: unknown): AdviceAction | undefined {
  if (typeof value !== "number") return undefined;
  return { kind: "change", label: t.advice.use(`${value}×`), change: { leverage: String(value) } };
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
