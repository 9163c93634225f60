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

export function canResize(order: Order): boolean {
  return !order.closePosition && !isAtLimit(order);
}

/** Undefined if nothing changes. `size` is the total, filled lots included. */
export function amendmentOf(
  order: Order,
  { price, size }: { readonly price: number; readonly size?: number },
): OrderAmendment | undefined {
  const { orderId } = order;
  const isMoved = price !== priceOfOrder(order);
  const isResized = size !== undefined && canResize(order) && size !== order.size;
  if (!isMoved && !isResized) return undefined;
  return {
    orderId,
    ...(isMoved ? (isAtLimit(order) ? { limitPrice: price } : { price }) : {}),
    ...(isResized ? { size } : {}),
  };
}
