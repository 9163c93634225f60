/** The trader's own limits on orders, kept between visits. */

import { PPM } from "@perpgate/protocol/core";
import { readPreference, writePreference } from "../state/preferences.js";
import { Store } from "../state/store.js";
import { t } from "../text/texts.js";
import { numberIn } from "./order-form-state.js";

interface OrderSettings {
  /** Percent from the mark: the worst price of market orders. */
  readonly maxSlippage: string;
  /** Order value in dollars above which the form asks; empty for never. */
  readonly confirmAbove: string;
  /** Whether *Close*, *Close all*, *Cancel all*, and *Sign out* with positions, ask first. */
  readonly asksFirst: boolean;
}

const DEFAULTS: OrderSettings = { maxSlippage: "0.5", confirmAbove: "100000", asksFirst: true };
const WIDEST_PERCENT = 50;

export const orderSettings = new Store<OrderSettings>(
  {
    maxSlippage: readPreference("max-slippage") ?? DEFAULTS.maxSlippage,
    confirmAbove: readPreference("confirm-above") ?? DEFAULTS.confirmAbove,
    asksFirst: readPreference("ask-first") !== "no",
  },
  "immediate",
);

export function changeSettings(change: Partial<OrderSettings>): void {
  orderSettings.update((known) => ({ ...known, ...change }));
  const { maxSlippage, confirmAbove, asksFirst } = orderSettings.get();
  writePreference("ask-first", asksFirst ? "yes" : "no");
  if (slippageProblem(maxSlippage) === undefined) writePreference("max-slippage", maxSlippage);
  if (confirmProblem(confirmAbove) === undefined) writePreference("confirm-above", confirmAbove);
}

export function slippageProblem(text: string): string | undefined {
  const percent = numberIn(text);
  const isAllowed = percent !== undefined && percent > 0 && percent <= WIDEST_PERCENT;
  return isAllowed ? undefined : t.problems.percentUpTo(WIDEST_PERCENT);
}

export function confirmProblem(text: string): string | undefined {
  return text.trim() === "" || numberIn(text) !== undefined ? undefined : t.problems.amountOrAsks;
}

/** In parts per million; undefined while the field holds no percentage that is allowed. */
export function maxSlippagePpm(): number | undefined {
  const { maxSlippage } = orderSettings.get();
  const percent = slippageProblem(maxSlippage) === undefined ? numberIn(maxSlippage) : undefined;
  return percent === undefined ? undefined : Math.round((percent * PPM) / 100);
}

/** Of closes, which a field that cannot be read must not keep from being sent: the default then. */
export function closingSlippagePpm(): number {
  return maxSlippagePpm() ?? (Number(DEFAULTS.maxSlippage) * PPM) / 100;
}

/** Whether an order of this value is confirmed before it is sent; a value that cannot be read asks always. */
export function needsConfirmation(dollars: number): boolean {
  const { confirmAbove } = orderSettings.get();
  return confirmAbove.trim() !== "" && !(dollars <= (numberIn(confirmAbove) ?? -1));
}
