/** What of an open order can be changed. */

import type { Order, Position } from "@perpgate/protocol";
import type { OrderAmendment } from "@perpgate/sdk";
import { isBeyondLiquidation } from "../maths/position-maths.js";
import { needsConfirmation } from "./order-settings.js";

/** A stop that was triggered rests at its limit. */
export function isAtLimit({ type, status }: Order): boolean {
  return type === "stop" && status === "resting";
}

/** The price at which the order rests or waits. */
export function priceOfOrder(order: Order): number | null {
  return isAtLimit(order) ? order.limitPrice : order.price;
}

/** An exit is as large as what its order has opened. */
export function canResize(order: Order): boolean {
  return !order.closePosition && order.parentOrderId === undefined && !isAtLimit(order);
}

/** One that was triggered closes the position as soon as the book can take it. */
export function canAmend({ triggered = false }: Order): boolean {
  return !triggered;
}

/** What is wanted of an order; undefined leaves it as it is. */
interface WantedTerms {
  readonly price?: number | undefined;
  /** The total, filled lots included. */
  readonly size?: number | undefined;
}

/** Undefined if nothing changes. */
export function amendmentOf(
  order: Order,
  { price, size }: WantedTerms,
): OrderAmendment | undefined {
  const { orderId } = order;
  const isMoved = price !== undefined && price !== priceOfOrder(order);
  const isResized = size !== undefined && canResize(order) && size !== order.size;
  if (!isMoved && !isResized) return undefined;
  return {
    orderId,
    ...(isMoved ? (isAtLimit(order) ? { limitPrice: price } : { price }) : {}),
    ...(isResized ? { size } : {}),
  };
}

interface AmendedTerms {
  readonly price: number | undefined;
  readonly size: number;
  /** Value of the whole order. */
  readonly dollars: number;
}

/** The order as the amendment makes it; one of the whole position is as large as that. */
export function amendedTerms(
  order: Order,
  { price, limitPrice, size = order.size }: OrderAmendment,
  position: Position | undefined,
): AmendedTerms {
  const at = limitPrice ?? price ?? priceOfOrder(order) ?? undefined;
  const whole = order.closePosition ? Math.abs(position?.size ?? 0) : size;
  return { price: at, size: whole, dollars: whole * (at ?? 0) };
}

/** Whether a stop of the position would lie where the position is liquidated before. */
export function isAmendedBeyondLiquidation(
  order: Order,
  amendment: OrderAmendment,
  position: Position | undefined,
): boolean {
  const { side, type, status, trigger, reduceOnly, closePosition } = order;
  const isStop = type === "stop" && status === "pending" && trigger === "stop";
  if (!isStop || !(reduceOnly || closePosition) || position === undefined) return false;
  if (position.side === side) return false;
  const { price } = amendedTerms(order, amendment, position);
  return isBeyondLiquidation(price, position.liquidationPrice, position.size > 0 ? 1 : -1);
}

/** Whether the trader is asked first: as before an order of that value, and before a stop that comes too late. */
export function asksToAmend(
  order: Order,
  amendment: OrderAmendment,
  position: Position | undefined,
): boolean {
  const { dollars } = amendedTerms(order, amendment, position);
  return needsConfirmation(dollars) || isAmendedBeyondLiquidation(order, amendment, position);
}
