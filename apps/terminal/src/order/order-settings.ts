/** The trader's own limits on orders, kept between visits. */

import { PPM } from "@perpgate/protocol/core";
import { readPreference, writePreference } from "../state/preferences.js";
import { Store } from "../state/store.js";
import { numberIn } from "./order-form-state.js";

export interface OrderSettings {
  /** Percent from the mark: the worst price of market orders. */
  readonly maxSlippage: string;
  /** Order value in dollars above which the form asks; empty for never. */
  readonly confirmAbove: string;
}

const DEFAULTS: OrderSettings = { maxSlippage: "0.5", confirmAbove: "100000" };
const WIDEST_PERCENT = 50;

export const orderSettings = new Store<OrderSettings>(
  {
    maxSlippage: readPreference("max-slippage") ?? DEFAULTS.maxSlippage,
    confirmAbove: readPreference("confirm-above") ?? DEFAULTS.confirmAbove,
  },
  "immediate",
);

export function changeSettings(change: Partial<OrderSettings>): void {
  orderSettings.update((known) => ({ ...known, ...change }));
  const { maxSlippage, confirmAbove } = orderSettings.get();
  if (slippageProblem(maxSlippage) === undefined) writePreference("max-slippage", maxSlippage);
  if (confirmProblem(confirmAbove) === undefined) writePreference("confirm-above", confirmAbove);
}

export function slippageProblem(text: string): string | undefined {
  const percent = numberIn(text);
  const isAllowed = percent !== undefined && percent > 0 && percent <= WIDEST_PERCENT;
  return isAllowed ? undefined : `Enter a percentage up to ${WIDEST_PERCENT}`;
}

export function confirmProblem(text: string): string | undefined {
  return text.trim() === "" || numberIn(text) !== undefined ? undefined : "Enter an amount";
}

/** In parts per million; the default while the field holds no percentage. */
export function maxSlippagePpm(): number {
  const { maxSlippage } = orderSettings.get();
  const text = slippageProblem(maxSlippage) === undefined ? maxSlippage : DEFAULTS.maxSlippage;
  return Math.round(((numberIn(text) ?? 0) * PPM) / 100);
}

/** Whether an order of this value is confirmed before it is sent. */
export function needsConfirmation(dollars: number): boolean {
  const above = numberIn(orderSettings.get().confirmAbove);
  return above !== undefined && dollars > above;
}
