/** An order in a few words: side, type, flags. */

import type { Order } from "@perpgate/protocol";
import { useTerminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { priceText } from "../venue/market-view.js";

/** From which side the mark reaches a stop. */
export function triggerSign({ side, trigger }: Order): "≥" | "≤" {
  return (side === "long") === (trigger !== "takeProfit") ? "≥" : "≤";
}

export function OrderTitle({ order }: { readonly order: Order }) {
  const { side, type, reduceOnly, postOnly, closePosition, timeInForce, limitPrice } = order;
  const { parentOrderId } = order;
  const view = useTerminal().marketFeed.view(order.symbol);
  const stop = parentOrderId === undefined ? t.words.typesInSentence[type] : t.orders.stopLoss;
  const kind = order.trigger === "takeProfit" ? t.orders.takeProfit : stop;
  const flags = [
    closePosition ? t.orders.wholePosition : undefined,
    order.triggered === true ? t.orders.triggered : undefined,
    parentOrderId === undefined ? undefined : t.orders.exitOf(parentOrderId),
    reduceOnly ? t.orders.reduce : undefined,
    postOnly ? t.orders.post : undefined,
    type === "limit" && timeInForce !== "gtc" ? timeInForce.toUpperCase() : undefined,
    type === "stop" && limitPrice !== null
      ? t.orders.limit(priceText(view, limitPrice))
      : undefined,
  ].filter((flag) => flag !== undefined);
  return (
    <span className={side}>
      {t.words.acts[side]} {kind}
      {flags.map((flag) => (
        <span key={flag} className="chip">
          {flag}
        </span>
      ))}
    </span>
  );
}
