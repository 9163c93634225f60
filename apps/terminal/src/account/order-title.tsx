/** An order in a few words: side, type, flags. */

import type { Order } from "@perpgate/protocol";
import { useTerminal } from "../terminal.js";
import { priceText } from "../venue/market-view.js";

/** From which side the mark reaches a stop. */
export function triggerSign({ side, trigger }: Order): "≥" | "≤" {
  return (side === "long") === (trigger !== "takeProfit") ? "≥" : "≤";
}

export function OrderTitle({ order }: { readonly order: Order }) {
  const { side, type, reduceOnly, postOnly, closePosition, timeInForce, limitPrice } = order;
  const { parentOrderId } = order;
  const view = useTerminal().marketFeed.view(order.symbol);
  const stop = parentOrderId === undefined ? type : "stop loss";
  const kind = order.trigger === "takeProfit" ? "take profit" : stop;
  const flags = [
    closePosition ? "Whole position" : undefined,
    order.triggered === true ? "Triggered" : undefined,
    parentOrderId === undefined ? undefined : `Exit of ${parentOrderId}`,
    reduceOnly ? "Reduce" : undefined,
    postOnly ? "Post" : undefined,
    type === "limit" && timeInForce !== "gtc" ? timeInForce.toUpperCase() : undefined,
    type === "stop" && limitPrice !== null ? `Limit ${priceText(view, limitPrice)}` : undefined,
  ].filter((flag) => flag !== undefined);
  return (
    <span className={side}>
      {side === "long" ? "Buy" : "Sell"} {kind}
      {flags.map((flag) => (
        <span key={flag} className="chip">
          {flag}
        </span>
      ))}
    </span>
  );
}
