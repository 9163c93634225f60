/**
 * Where the exits of the form lie: typed as a price, as a move of the price in percent, or as a return on the
 * margin, which is leverage times as large.
 */

import type { Step } from "@perpgate/protocol/core";
import { type ExitUnit, numberIn, type OrderForm } from "./order-form-state.js";
import { stepsIn } from "./typed-steps.js";

export type ExitName = "takeProfit" | "stopLoss";

/** In ticks, rounded toward the base: never further from it than was typed. Undefined for no price. */
export function exitTicks(
  form: OrderForm,
  name: ExitName,
  tick: Step,
  base: number | undefined,
): number | undefined {
  const text = form[name];
  if (form.exitUnit === "price") return stepsIn(text, tick);
  const percent = numberIn(text);
  if (percent === undefined || percent <= 0 || base === undefined) return undefined;
  const distance = Math.floor((base * moveOf(percent, form.exitUnit, form.leverage)) / 100);
  const isAbove = (name === "takeProfit") === (form.side === "long");
  const ticks = isAbove ? base + distance : base - distance;
  return distance > 0 && ticks > 0 ? ticks : undefined;
}

function moveOf(percent: number, unit: ExitUnit, leverage: string): number {
  return unit === "roi" ? percent / Math.max(1, numberIn(leverage) ?? 1) : percent;
}
