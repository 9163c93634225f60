/** What a trader should know of an order before it is sent. */

import { fromMicros, fromSteps } from "@perpgate/protocol/core";
import { formatDollars, formatFixed, formatPercent } from "../format/numbers.js";
import type { FundsContext } from "../maths/largest-order.js";
import type { OrderPreview } from "../maths/order-preview.js";
import {
  closableLots,
  isBeyondLiquidation,
  liquidationTicks as liquidationOf,
} from "../maths/position-maths.js";
import { t } from "../text/texts.js";
import type { MarketView } from "../venue/market-view.js";
import { exitTicks } from "./exit-terms.js";
import type { OrderForm } from "./order-form-state.js";
import { orderSettings } from "./order-settings.js";
import { canHaveExits, canRest, directionOf, exitBase } from "./order-terms.js";
import { stepsIn } from "./typed-steps.js";
import type { FormEstimate } from "./use-preview.js";

interface OrderNote {
  readonly text: string;
  readonly isWarning: boolean;
}

/** Worse than this is worth a warning: 0.2 % of the value, or a twentieth of the margin. */
const LARGE_SHARE = 0.002;
const LARGE_PART_OF_MARGIN = 0.05;

interface Slippage {
  /** Of the mark; negative if the fills are better than it. */
  readonly share: number;
  readonly dollars: number;
  /** Of the order's margin. */
  readonly partOfMargin: number;
  readonly isLarge: boolean;
}

/** How much worse than the mark the order fills. */
export function slippageOf(
  preview: OrderPreview | undefined,
  context: FundsContext | undefined,
): Slippage | undefined {
  if (preview === undefined || context === undefined || preview.takingLots === 0) return undefined;
  const { units, markTicks, held } = context;
  const direction = preview.after.lots > held.lots ? 1 : -1;
  const lots = preview.takingLots + preview.waitingLots;
  const worse = direction * (preview.notionalMicros - lots * markTicks * units.unit);
  const share = worse / (lots * markTicks * units.unit);
  const margin = preview.walletMicros - preview.feeMicros - preview.lossMicros;
  const partOfMargin = margin > 0 ? Math.max(0, preview.lossMicros) / margin : 0;
  return {
    share,
    dollars: fromMicros(Math.round(worse)),
    partOfMargin,
    isLarge: share > LARGE_SHARE || partOfMargin > LARGE_PART_OF_MARGIN,
  };
}

export function orderNotes(
  view: MarketView,
  form: OrderForm,
  { preview, context }: FormEstimate,
): OrderNote[] {
  if (context === undefined) return [];
  const closable = closableLots(context.held, directionOf(form));
  if (form.reduceOnly && closable === 0) {
    return [{ text: t.notes.nothingToReduce(otherSide(form)), isWarning: false }];
  }
  if (preview === undefined) return [];
  return [
    fillNote(view, form, preview),
    valueNote(view, form, preview, closable),
    slippageNote(form, preview, context),
    postOnlyNote(form, preview),
    exitsNote(form, preview, closable),
    flipNote(view, form, preview, context),
    stopNote(view, form, preview, context),
  ].filter((note) => note !== undefined);
}

function fillNote(
  { market }: MarketView,
  form: OrderForm,
  { takingLots, waitingLots, unspentMicros }: OrderPreview,
): OrderNote | undefined {
  const lots = takingLots + waitingLots;
  if (unspentMicros > 0) {
    const unspent = formatDollars(fromMicros(unspentMicros));
    const where =
      form.type === "market" ? t.notes.within(orderSettings.get().maxSlippage) : t.notes.now;
    const text = lots === 0 ? t.notes.nothingFills(where) : t.notes.notAllFills(where, unspent);
    return { text, isWarning: true };
  }
  if (lots > 0) return undefined;
  return { text: t.notes.belowLot(`${market.lotSize} ${market.base}`), isWarning: false };
}

/** Reductions may be smaller. */
function valueNote(
  { market }: MarketView,
  form: OrderForm,
  { takingLots, waitingLots, notionalMicros }: OrderPreview,
  closable: number,
): OrderNote | undefined {
  const lots = takingLots + waitingLots;
  const isSmall = lots > 0 && fromMicros(notionalMicros) < market.minNotional;
  if (!isSmall || form.reduceOnly || lots <= closable) return undefined;
  const least = `${formatDollars(market.minNotional)} ${market.quote}`;
  return { text: t.notes.smallest(least), isWarning: false };
}

function slippageNote(
  form: OrderForm,
  preview: OrderPreview,
  context: FundsContext,
): OrderNote | undefined {
  const slippage = form.type === "market" ? slippageOf(preview, context) : undefined;
  if (slippage?.isLarge !== true) return undefined;
  const loss = formatDollars(slippage.dollars);
  const part = formatPercent(slippage.partOfMargin, 0).replace("+", "");
  const text =
    slippage.partOfMargin > 0 ? t.notes.slippageOfMargin(loss, part) : t.notes.slippage(loss);
  return { text, isWarning: true };
}

function postOnlyNote(form: OrderForm, { takingLots }: OrderPreview): OrderNote | undefined {
  if (!form.postOnly || form.type !== "limit" || !canRest(form) || takingLots === 0)
    return undefined;
  return { text: t.notes.postOnly, isWarning: true };
}

/** Exits cover what their order opens. */
function exitsNote(
  form: OrderForm,
  { takingLots, waitingLots }: OrderPreview,
  closable: number,
): OrderNote | undefined {
  if (!form.hasExits || !canHaveExits(form) || takingLots + waitingLots > closable)
    return undefined;
  return { text: t.notes.exits, isWarning: true };
}

/** What is meant to close may open the other side. */
function flipNote(
  { market, units, sizeDigits }: MarketView,
  form: OrderForm,
  { takingLots, waitingLots }: OrderPreview,
  { held }: FundsContext,
): OrderNote | undefined {
  const closable = closableLots(held, directionOf(form));
  const opened = takingLots + waitingLots - closable;
  if (closable === 0 || opened <= 0) return undefined;
  const size = `${formatFixed(fromSteps(opened, units.lot), sizeDigits)} ${market.base}`;
  if (market.status === "reduceOnly") {
    return { text: t.notes.flipRefused(size), isWarning: true };
  }
  const text = t.notes.flip(otherSide(form), t.words.inSentence[form.side], size);
  return { text, isWarning: true };
}

function stopNote(
  { units }: MarketView,
  form: OrderForm,
  { liquidationTicks }: OrderPreview,
  { markTicks, held }: FundsContext,
): OrderNote | undefined {
  const isTooFar =
    form.type === "stop"
      ? form.reduceOnly &&
        form.trigger === "stop" &&
        isBeyondLiquidation(
          stepsIn(form.price, units.tick),
          liquidationOf(units, held),
          held.lots > 0 ? 1 : -1,
        )
      : form.hasExits &&
        canHaveExits(form) &&
        isBeyondLiquidation(
          exitTicks(form, "stopLoss", units.tick, exitBase(form, units, markTicks)),
          liquidationTicks,
          directionOf(form),
        );
  return isTooFar ? { text: t.notes.beyondLiquidation, isWarning: true } : undefined;
}

/** In words. */
function otherSide({ side }: OrderForm): string {
  return t.words.inSentence[side === "long" ? "short" : "long"];
}
