/** An order with nothing but what a ladder needs. */
import { LIMIT_ORDER, type Side } from "../commands.js";
import type { NewOrder } from "../state/orders.js";

export function bareOrder(id: number, side: Side, priceTicks: number, lots: number): NewOrder {
  return {
    id,
    market: 0,
    account: 0,
    position: 0,
    side,
    type: LIMIT_ORDER,
    priceTicks,
    lots,
    remainingLots: lots,
    marginMicros: 0,
    leverage: 1,
    reduceOnly: false,
    postOnly: false,
    session: 0,
  };
}
