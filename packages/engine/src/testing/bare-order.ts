/** An order with nothing but what a ladder needs. */
import { LIMIT_ORDER, type Side } from "../commands.js";
import type { OrderRowTerms } from "../state/orders.js";

export function bareOrder(side: Side, priceTicks: number): OrderRowTerms {
  return {
    market: 0,
    side,
    type: LIMIT_ORDER,
    priceTicks,
    marginMicros: 0,
    leverage: 1,
    reduceOnly: false,
    postOnly: false,
    session: 0,
  };
}
