/** The trader's lines: entry, liquidation price, open orders and price alerts. */

import type { Order, Position } from "@perpgate/protocol";
import { canAmend, isAtLimit, priceOfOrder } from "../order/amendment.js";
import { t } from "../text/texts.js";
import type { MarketView } from "../venue/market-view.js";
import type { PriceAlert } from "../venue/price-alerts.js";

export interface ChartLine {
  readonly price: number;
  readonly title: string;
  readonly tone: "accent" | "long" | "short" | "warn";
  /** Of an order, which can be dragged. */
  readonly orderId?: string;
}

export function chartLinesOf(
  { market }: MarketView,
  positions: ReadonlyMap<string, Position> | undefined,
  orders: ReadonlyMap<string, Order> | undefined,
  alerts: readonly PriceAlert[],
): ChartLine[] {
  const lines: ChartLine[] = [];
  const position = positions?.get(market.symbol);
  if (position !== undefined) {
    const { avgEntry, liquidationPrice, side } = position;
    lines.push({ price: avgEntry, title: t.chart.entry, tone: side });
    if (liquidationPrice !== null) {
      lines.push({ price: liquidationPrice, title: t.chart.liquidation, tone: "warn" });
    }
  }
  for (const { symbol, price, source } of alerts) {
    if (symbol !== market.symbol) continue;
    lines.push({ price, title: t.chart.alert(t.words.sourcesInSentence[source]), tone: "accent" });
  }
  for (const order of orders?.values() ?? []) {
    const price = priceOfOrder(order);
    if (order.symbol !== market.symbol || price === null) continue;
    const { orderId, side } = order;
    const line = { price, title: titleOf(order), tone: side };
    lines.push(canAmend(order) ? { ...line, orderId } : line);
  }
  return lines;
}

function titleOf(order: Order): string {
  const { side, type, trigger, closePosition, parentOrderId } = order;
  if (closePosition || parentOrderId !== undefined) return trigger === "takeProfit" ? "TP" : "SL";
  const act = t.words.acts[side];
  if (type !== "stop" || isAtLimit(order)) return act;
  return trigger === "takeProfit" ? t.chart.takeProfit(act) : t.chart.stop(act);
}
