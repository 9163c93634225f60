/** The order in the form and its estimate, updated with the form and four times a second with the book. */

import { useState } from "react";
import { useRefresh } from "../account/live-pnl.js";
import { SortedLevels } from "../book/levels.js";
import { type FundsContext, largestMargin } from "../maths/largest-order.js";
import { type OrderPreview, previewOrder, valueMicros } from "../maths/order-preview.js";
import { useStore } from "../state/store.js";
import { type Terminal, useTerminal } from "../terminal.js";
import type { MarketView } from "../venue/market-view.js";
import { holdingOf, markOf, readContext } from "./order-context.js";
import type { OrderForm } from "./order-form-state.js";
import { maxSlippagePpm, orderSettings } from "./order-settings.js";
import { directionOf, intentOf, type ReadForm, readForm } from "./order-terms.js";

export interface FormEstimate {
  readonly read: ReadForm;
  readonly preview: OrderPreview | undefined;
  /** Value of the whole order, which a market order may not reach; 0 without an order. */
  readonly valueMicros: number;
  /** Undefined until there is a mark and a book. */
  readonly context: FundsContext | undefined;
}

export function useEstimate(view: MarketView, form: OrderForm): FormEstimate {
  const terminal = useTerminal();
  useStore(orderSettings);
  useStore(terminal.account.positions);
  const [levels] = useState(() => new SortedLevels());
  useRefresh();
  return estimate(terminal, view, form, levels);
}

export function estimate(
  terminal: Terminal,
  view: MarketView,
  form: OrderForm,
  levels: SortedLevels,
): FormEstimate {
  const known = formContext(terminal, view);
  const read = readForm(view, form, known);
  const context = readContext(terminal, view, directionOf(form), levels);
  const intent = read.terms?.intent;
  const preview =
    intent === undefined || context === undefined ? undefined : previewOrder(intent, context);
  const ordered = intent === undefined ? 0 : valueMicros(intent, known.markTicks ?? 0, view.units);
  return {
    read,
    preview,
    valueMicros: Math.max(preview?.notionalMicros ?? 0, ordered),
    context,
  };
}

/** The margin of the largest order with the form's other terms, in micros; undefined without a book. */
export function largestNow(
  terminal: Terminal,
  view: MarketView,
  form: OrderForm,
  levels: SortedLevels,
): { readonly marginMicros: number; readonly lots: number } | undefined {
  const context = readContext(terminal, view, directionOf(form), levels);
  if (context === undefined) return undefined;
  const intent = intentOf(view, form, formContext(terminal, view));
  if (form.type !== "market" && intent.priceTicks === 0) return undefined;
  const marginMicros = largestMargin(intent, context);
  const preview = previewOrder({ ...intent, sizeLots: 0, marginMicros }, context);
  return {
    marginMicros,
    lots: preview === undefined ? 0 : preview.takingLots + preview.waitingLots,
  };
}

function formContext({ account, marketFeed, clock }: Terminal, view: MarketView) {
  return {
    now: clock.now(),
    markTicks: markOf(marketFeed, view),
    maxSlippagePpm: maxSlippagePpm(),
    held: holdingOf(account.positions.get()?.get(view.market.symbol), view),
  };
}
