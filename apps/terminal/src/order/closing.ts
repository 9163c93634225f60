/** Orders that close a position, and what its open orders protect. */

import type { Order, Position, Side, Trigger } from "@perpgate/protocol";
import { fromSteps } from "@perpgate/protocol/core";
import type { NewOrder } from "@perpgate/sdk";
import { worstTicks } from "../maths/worst-price.js";
import type { Terminal } from "../terminal.js";
import type { MarketView } from "../venue/market-view.js";
import { markOf } from "./order-context.js";
import { maxSlippagePpm } from "./order-settings.js";

function closingTerms({ symbol, size }: Position, closed: number) {
  const side: Side = size > 0 ? "short" : "long";
  // Reduce-only opens nothing, so the leverage means nothing.
  return { symbol, side, size: closed, leverage: 1, reduceOnly: true } as const;
}

/** At the market, no worse than the trader's own limit allows. */
export function marketClose(
  { marketFeed }: Terminal,
  view: MarketView,
  position: Position,
  size: number,
): NewOrder {
  const markTicks = markOf(marketFeed, view);
  const direction = position.size > 0 ? -1 : 1;
  const price =
    markTicks === undefined
      ? undefined
      : fromSteps(worstTicks(markTicks, direction, maxSlippagePpm()), view.units.tick);
  return { ...closingTerms(position, size), type: "market", price };
}

/** The mark moves between two presses: a market close is the same one although its worst price differs. */
export function closeSubject({ symbol }: Position, size: number | undefined): string {
  return `Close ${size} of ${symbol}`;
}

export function limitClose(position: Position, size: number, price: number): NewOrder {
  return { ...closingTerms(position, size), type: "limit", price };
}

/** The order that closes the whole position at a take-profit or a stop price. */
export function exitOrder(
  orders: ReadonlyMap<string, Order> | undefined,
  { symbol, side }: Position,
  trigger: Trigger,
): Order | undefined {
  return [...(orders?.values() ?? [])].find(
    (order) =>
      order.closePosition &&
      order.symbol === symbol &&
      order.side !== side &&
      order.trigger === trigger,
  );
}
