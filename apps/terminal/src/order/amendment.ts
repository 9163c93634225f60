/** What of an open order can be changed. */

import type { Order } from "@perpgate/protocol";
import type { OrderAmendment } from "@perpgate/sdk";

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
