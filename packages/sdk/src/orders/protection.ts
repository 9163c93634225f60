/** Take-profit and stop-loss of a whole position, as operations of one batch. */

import type { Order, Side, Trigger } from "@perpgate/protocol";
import type { NewOperation } from "./order-body.js";

export interface Protection {
  readonly symbol: string;
  /** The side of the position. */
  readonly side: Side;
  /** The price at which the position is closed with a gain; null removes it, undefined leaves it. */
  readonly takeProfit?: number | null | undefined;
  /** The price at which the position is closed with a loss; null removes it, undefined leaves it. */
  readonly stopLoss?: number | null | undefined;
}

/** Replaces what exists, in one batch with nothing in between; cancels what is null. */
export function protectionOf(
  { symbol, side, takeProfit, stopLoss }: Protection,
  open: readonly Order[],
): NewOperation[] {
  const exit: Side = side === "long" ? "short" : "long";
  const existing = (trigger: Trigger) =>
    open.find(
      (order) =>
        order.closePosition &&
        order.symbol === symbol &&
        order.side === exit &&
        order.trigger === trigger,
    )?.orderId;
  const change = (trigger: Trigger, price: number | null | undefined): NewOperation[] => {
    if (price === undefined) return [];
    const orderId = existing(trigger);
    const canceled: NewOperation[] = orderId === undefined ? [] : [{ op: "cancel", orderId }];
    if (price === null) return canceled;
    const terms = {
      symbol,
      side: exit,
      type: "stop",
      trigger,
      price,
      closePosition: true,
    } as const;
    return [...canceled, { op: "place", ...terms }];
  };
  return [...change("takeProfit", takeProfit), ...change("stop", stopLoss)];
}
