/**
 * Notices of what happens to the account without a press of a button in this page: fills of resting
 * orders, stops that trigger, cancels, liquidations. What an order did when it was placed is its result,
 * and no notice.
 */

import type { Fill, Order } from "@perpgate/protocol";
import type { FillsFrame, OrdersFrame } from "@perpgate/sdk";
import { formatSigned } from "../format/numbers.js";
import { REASON_TEXTS } from "../order/advice.js";
import type { Toasts } from "../ui/toasts.js";
import { type MarketView, priceText, sizeText } from "./market-view.js";

export interface NoticeSources {
  readonly toasts: Pick<Toasts, "show">;
  view(symbol: string): MarketView | undefined;
  /** An order that is no longer among the open ones, as the venue has it. */
  readOrder(orderId: string): Promise<Order | undefined>;
  /** Called with every order that changed. */
  onChanged(order: Order): void;
}

/** After a long outage the list of open orders may differ by many. */
const MOST_READ = 20;

const FORCED: Readonly<Partial<Record<Fill["kind"], string>>> = {
  liquidation: "Liquidated",
  backstop: "Liquidated by the backstop",
  adl: "Auto-deleveraged",
};

export class AccountNotices {
  constructor(private readonly sources: NoticeSources) {}

  orders({ type, orders }: OrdersFrame, known: ReadonlyMap<string, Order> | undefined): void {
    for (const order of orders) this.changed(order, known?.get(order.orderId));
    if (type !== "snapshot" || known === undefined) return;
    // Missing in a snapshot: ended while there was no line.
    const ids = new Set(orders.map(({ orderId }) => orderId));
    const ended = [...known.values()].filter(({ orderId }) => !ids.has(orderId));
    for (const before of ended.slice(-MOST_READ)) void this.readEnded(before);
  }

  fills({ fills }: FillsFrame): void {
    for (const fill of fills) {
      const title = FORCED[fill.kind];
      if (title === undefined) continue;
      const { symbol, side, size, price, realizedPnl } = fill;
      const view = this.sources.view(symbol);
      const done = `${side === "long" ? "Bought" : "Sold"} ${sizeText(view, size)} ${view?.market.base ?? ""}`;
      this.sources.toasts.show(
        "bad",
        `${title}: ${symbol}`,
        `${done} at ${priceText(view, price)}, PnL ${formatSigned(realizedPnl, 2)}.`,
        `${fill.kind} ${symbol}`,
      );
    }
  }

  private async readEnded(before: Order): Promise<void> {
    const order = await this.sources.readOrder(before.orderId).catch(() => undefined);
    if (order !== undefined) this.changed(order, before);
  }

  private changed(order: Order, before: Order | undefined): void {
    this.sources.onChanged(order);
    if (before === undefined) return;
    const key = `order ${order.orderId}`;
    const isTriggered = before.status === "pending" && order.status !== "pending";
    if (order.status === "filled" || order.filledSize > before.filledSize) {
      const title = order.status === "filled" ? "Filled" : "Partly filled";
      this.show("good", isTriggered ? `Stop triggered, ${title.toLowerCase()}` : title, order, key);
    } else if (order.status === "canceled") {
      this.show(
        "info",
        isTriggered && before.type === "stop" ? endOfStop(order) : "Canceled",
        order,
        key,
      );
    } else if (isTriggered) {
      this.show("info", "Stop triggered", order, key);
    }
  }

  private show(kind: "good" | "info", title: string, order: Order, key: string): void {
    const { symbol, side, type, filledSize, size, avgFillPrice, price, reason } = order;
    const view = this.sources.view(symbol);
    const what = `${side === "long" ? "Buy" : "Sell"} ${type}`;
    const base = view?.market.base ?? "";
    const amount =
      filledSize > 0
        ? `${sizeText(view, filledSize)} of ${sizeText(view, size)} ${base} at ${priceText(view, avgFillPrice)}`
        : `${sizeText(view, size)} ${base}${price === null ? "" : ` at ${priceText(view, price)}`}`;
    const why =
      order.status === "canceled" && reason !== null ? ` ${REASON_TEXTS[reason] ?? reason}` : "";
    this.sources.toasts.show(kind, `${title}: ${symbol}`, `${what}, ${amount}.${why}`, key);
  }
}

/** A stop that its owner canceled has not triggered. */
function endOfStop({ reason }: Order): string {
  return reason === "book_empty" || reason === "band" || reason === "not_filled"
    ? "Stop triggered, not filled"
    : "Canceled";
}
