/**
 * The largest order that the venue fills completely: what *Max* means.
 *
 * An order is paid for fill by fill (docs/engine.md, "Fills"): margin, the loss against the mark with
 * which the fill opens, and the fee. The part that the wallet cannot pay is canceled, so the largest
 * order is the one whose whole walk through the book is paid for, and that passes the checks of
 * placement ("Funds at placement"). Mark and book move until the order arrives: `movePpm` is what they
 * may move apart.
 */

import {
  divCeil,
  divFloor,
  MAX_ORDER_NOTIONAL_MICROS,
  mulDivCeil,
  PPM,
} from "@perpgate/protocol/core";
import {
  type OrderIntent,
  type OrderPreview,
  type PreviewContext,
  previewOrder,
} from "./order-preview.js";
import { closableLots } from "./position-maths.js";

export interface FundsContext extends PreviewContext {
  readonly walletMicros: number;
  /** Lots of the trader's resting orders in this market and direction. */
  readonly restingLots: number;
  /** What these orders reserve at most: if all of their lots open. */
  readonly restingMicros: number;
  /** How far mark and book may move apart until the order arrives. */
  readonly movePpm: number;
}

/** The search ends at a cent, in micros. */
const PRECISION = 10_000;

/** The largest margin, in micros and whole cents, of an order that fills, rests or waits completely. */
export function largestMargin(wanted: OrderIntent, context: FundsContext): number {
  const intent: OrderIntent = { ...wanted, sizeLots: 0 };
  if (intent.reduceOnly) return reducingMargin(intent, context);
  const { units, held, markTicks } = context;
  const listed: FundsContext = { ...context, opposite: [...context.opposite] };
  // Closing takes no margin, and gives back at most the margin and the gain.
  const closing = closableLots(held, intent.direction) * markTicks * units.unit;
  const released = closing > 0 ? held.marginMicros + closing : 0;
  const bound = Math.min(
    Math.max(0, context.walletMicros) + released + divCeil(2 * closing, intent.leverage),
    divFloor(MAX_ORDER_NOTIONAL_MICROS, intent.leverage),
  );
  let [least, most] = [0, divFloor(bound, PRECISION)];
  while (most > least) {
    const middle = least + divCeil(most - least, 2);
    if (isPaidFor({ ...intent, marginMicros: middle * PRECISION }, listed)) least = middle;
    else most = middle - 1;
  }
  return least * PRECISION;
}

/** Reduce-only is clamped to the position: a little more than its value closes all of it. */
function reducingMargin(intent: OrderIntent, context: FundsContext): number {
  const { units, held, markTicks, movePpm } = context;
  const [best = markTicks] = Array.from(context.opposite, ([ticks]) => ticks);
  const ticks = intent.type === "market" ? best : Math.max(intent.priceTicks, best);
  const value = closableLots(held, intent.direction) * ticks * units.unit;
  return divCeil(value + mulDivCeil(value, movePpm, PPM), intent.leverage);
}

/** Whether the venue accepts the order, and fills, rests or keeps all of it. */
function isPaidFor(intent: OrderIntent, context: FundsContext): boolean {
  const { direction, type } = intent;
  const move = direction * mulDivCeil(context.markTicks, context.movePpm, PPM);
  // A mark that moved away from the book: fills begin with a larger loss.
  const moved = { ...context, markTicks: Math.max(1, context.markTicks - move) };
  const whole = previewOrder(intent, moved);
  if (whole === undefined || whole.unspentMicros > 0) return false;
  if (intent.reduceOnly) return true;
  const now = type === "limit" ? previewOrder({ ...intent, timeInForce: "ioc" }, moved) : whole;
  if (now === undefined || !isHealthy(now, moved)) return false;
  const opens = openingLots(intent, whole, context);
  const highMark = context.markTicks + Math.abs(move);
  const { unit, maintenance } = context.units;
  if (opens.after * highMark * unit > maintenance.limitOf(intent.leverage)) return false;
  if (opens.isClosing) return type === "stop" || isFlipFunded(intent, now, opens, context);
  const needed = type === "stop" ? 0 : fundsToOpen(intent, whole, context);
  return Math.max(needed, whole.walletMicros) <= context.walletMicros;
}

interface Opening {
  /** Whether a part of the order closes the position. */
  readonly isClosing: boolean;
  readonly now: number;
  readonly resting: number;
  /** The position's lots in the order's direction, once all has filled. */
  readonly after: number;
}

/** What of an order opens ("What opens, at placement"). */
function openingLots(
  { direction, type }: OrderIntent,
  { takingLots, waitingLots }: OrderPreview,
  { held, restingLots }: FundsContext,
): Opening {
  const closable = closableLots(held, direction);
  const lots = takingLots + waitingLots;
  if (closable === 0) {
    const after = Math.abs(held.lots) + lots;
    return { isClosing: false, now: takingLots, resting: waitingLots, after };
  }
  const free = type === "limit" ? Math.max(0, closable - restingLots) : closable;
  const now = Math.max(0, takingLots - closable);
  const resting = Math.max(0, lots - Math.max(free, takingLots));
  const isClosing = free > 0 || takingLots > 0;
  return { isClosing, now, resting, after: type === "limit" ? now + resting : lots - closable };
}

/** Placement counts the whole order at the taker's fee. */
function fundsToOpen(intent: OrderIntent, preview: OrderPreview, context: FundsContext): number {
  const { leverage, marginMicros, sizeLots = 0 } = intent;
  const notional = sizeLots > 0 ? preview.notionalMicros : marginMicros * leverage;
  return divCeil(notional, leverage) + mulDivCeil(notional, context.units.takerPpm, PPM);
}

/**
 * Closes, then opens: what closing releases pays for what opens immediately, and what rests is
 * reserved from the wallet. Orders that covered the position reserve once it is closed.
 */
function isFlipFunded(
  intent: OrderIntent,
  now: OrderPreview,
  opens: Opening,
  { units, held, markTicks, walletMicros, restingMicros }: FundsContext,
): boolean {
  const displaced = now.takingLots > 0 ? restingMicros : 0;
  if (intent.type === "market") return now.walletMicros + displaced <= walletMicros;
  const costOf = (lots: number, ticks: number, feePpm: number): number => {
    const notional = lots * ticks * units.unit;
    return divCeil(notional, intent.leverage) + mulDivCeil(notional, feePpm, PPM);
  };
  const reserve = costOf(opens.resting, intent.priceTicks, units.makerPpm);
  if (Math.max(0, now.walletMicros) + displaced + reserve > walletMicros) return false;
  if (opens.now === 0) return true;
  const equity = held.marginMicros + held.lots * markTicks * units.unit - held.costMicros;
  const closingFee = mulDivCeil(Math.abs(held.lots) * markTicks * units.unit, units.takerPpm, PPM);
  const worst = Math.max(intent.priceTicks, now.lastTicks);
  const needed = reserve + costOf(opens.now, worst, units.takerPpm);
  return needed <= walletMicros + Math.max(0, equity - closingFee);
}

/** A fill that opens must leave more equity than the maintenance margin. */
function isHealthy({ after, takingLots }: OrderPreview, context: FundsContext): boolean {
  const { units, markTicks, held } = context;
  const isReduced = after.lots * held.lots > 0 && Math.abs(after.lots) < Math.abs(held.lots);
  if (takingLots === 0 || after.lots === 0 || isReduced) return true;
  const value = after.lots * markTicks * units.unit;
  const equity = after.marginMicros + value - after.costMicros;
  return equity > units.maintenance.of(Math.abs(value));
}
