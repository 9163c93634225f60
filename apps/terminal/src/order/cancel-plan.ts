/** What *Cancel all* cancels: orders, and exits only if the trader says so. */

import type { Order, Position } from "@perpgate/protocol";

export interface CancelPlan {
  /** Open orders that are no exits. */
  readonly others: readonly Order[];
  readonly exits: readonly Order[];
  /** Exits that protect a position now. The rest ends with its order. */
  readonly kept: readonly Order[];
}

export function cancelPlan(
  orders: ReadonlyMap<string, Order> | undefined,
  positions: ReadonlyMap<string, Position> | undefined,
): CancelPlan {
  const open = [...(orders?.values() ?? [])];
  const exits = open.filter(isExit);
  const isKept = ({ symbol, parentOrderId, remainingSize }: Order) =>
    positions?.has(symbol) === true && (parentOrderId === undefined || remainingSize > 0);
  return { others: open.filter((order) => !isExit(order)), exits, kept: exits.filter(isKept) };
}

/** Take-profit, stop-loss, or a stop that only reduces. */
function isExit({ type, closePosition, reduceOnly }: Order): boolean {
  return type === "stop" && (closePosition || reduceOnly);
}
