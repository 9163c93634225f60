/**
 * An account's open orders, from its stream and from the acknowledgements of what it places.
 *
 * The acknowledgement of an order and the frame about it arrive in any order. An order that the
 * stream has already reported as finished must not be added by its acknowledgement, so the ids of the
 * latest finished orders are kept.
 */

import type { Order, OrdersFrame, PlacedOrder } from "@perpgate/sdk";

interface OpenOrder {
  readonly orderId: string;
  readonly side: "long" | "short";
  readonly price: number;
}

const FINISHED_KEPT = 4_096;

export class OpenOrders {
  private readonly bySymbol = new Map<string, Map<string, OpenOrder>>();
  private readonly finished = new Set<string>();

  of(symbol: string): ReadonlyMap<string, OpenOrder> {
    return this.ordersOf(symbol);
  }

  get count(): number {
    let count = 0;
    for (const orders of this.bySymbol.values()) count += orders.size;
    return count;
  }

  onFrame({ type, orders }: OrdersFrame): void {
    if (type === "snapshot") this.bySymbol.clear();
    for (const order of orders) this.onOrder(order);
  }

  onPlaced({ orderId, symbol, side, status }: PlacedOrder, price: number): void {
    if (status !== "resting" || this.finished.has(orderId)) return;
    this.ordersOf(symbol).set(orderId, { orderId, side, price });
  }

  /** Canceled or filled. */
  onFinished(symbol: string, orderId: string): void {
    this.ordersOf(symbol).delete(orderId);
    this.finished.add(orderId);
    if (this.finished.size <= FINISHED_KEPT) return;
    const [oldest] = this.finished;
    if (oldest !== undefined) this.finished.delete(oldest);
  }

  private onOrder({ orderId, symbol, side, status, price }: Order): void {
    if (status === "resting" && price !== null && !this.finished.has(orderId)) {
      this.ordersOf(symbol).set(orderId, { orderId, side, price });
    } else if (status !== "resting") {
      this.onFinished(symbol, orderId);
    }
  }

  private ordersOf(symbol: string): Map<string, OpenOrder> {
    const known = this.bySymbol.get(symbol);
    if (known !== undefined) return known;
    const added = new Map<string, OpenOrder>();
    this.bySymbol.set(symbol, added);
    return added;
  }
}
