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

/**
 * The operations of `session.protect`, for a batch with others: amends what exists, places what does not,
 * cancels what is null. A price that is refused leaves the position as protected as it was.
 *
 * @example
 * const exits = protectionOf({ symbol: "BTCUSD", side: "long", stopLoss: 62_000 }, await session.openOrders());
 * const entry = { op: "place", symbol: "BTCUSD", side: "long", type: "market", size: 0.01, leverage: 5 } as const;
 * const { results } = await session.batch([entry, ...exits]);
 * console.log(results.map(({ status }) => status));
 */
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
    if (orderId !== undefined) {
      return price === null ? [{ op: "cancel", orderId }] : [{ op: "amend", orderId, price }];
    }
    if (price === null) return [];
    const terms = { symbol, side: exit, type: "stop", trigger, price } as const;
    return [{ op: "place", ...terms, closePosition: true }];
  };
  return [...change("takeProfit", takeProfit), ...change("stop", stopLoss)];
}
