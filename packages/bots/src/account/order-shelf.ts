/**
 * An account's open orders, from its stream and from the answers to what it places.
 *
 * The answer to an order and the frame about it come on their own ways. An order that the stream has
 * called finished before its answer is read must not come back; so the latest finished ones are kept
 * in mind for a while.
 */

import type { Order, OrdersFrame, PlacedOrder } from "@perpgate/sdk";

export interface OpenOrder {
  readonly orderId: string;
  readonly side: "long" | "short";
  readonly price: number;
}

const FINISHED_KEPT = 4_096;

export class OrderShelf {
  private readonly bySymbol = new Map<string, Map<string, OpenOrder>>();
  private readonly finished = new Set<string>();

  of(symbol: string): ReadonlyMap<string, OpenOrder> {
    return this.shelf(symbol);
  }

  get count(): number {
    let count = 0;
    for (const orders of this.bySymbol.values()) count += orders.size;
    return count;
  }

  clear(): void {
    this.bySymbol.clear();
  }

  onFrame({ type, orders }: OrdersFrame): void {
    if (type === "snapshot") this.bySymbol.clear();
    for (const order of orders) this.onOrder(order);
  }

  onPlaced({ orderId, symbol, side, status }: PlacedOrder, price: number): void {
    if (status !== "resting" || this.finished.has(orderId)) return;
    this.shelf(symbol).set(orderId, { orderId, side, price });
  }

  /** Canceled, or gone already. */
  onGone(symbol: string, orderId: string): void {
    this.shelf(symbol).delete(orderId);
    this.finished.add(orderId);
    if (this.finished.size <= FINISHED_KEPT) return;
    const [oldest] = this.finished;
    if (oldest !== undefined) this.finished.delete(oldest);
  }

  private onOrder({ orderId, symbol, side, status, price }: Order): void {
    if (status === "resting" && price !== null && !this.finished.has(orderId)) {
      this.shelf(symbol).set(orderId, { orderId, side, price });
    } else if (status !== "resting") {
      this.onGone(symbol, orderId);
    }
  }

  private shelf(symbol: string): Map<string, OpenOrder> {
    const known = this.bySymbol.get(symbol);
    if (known !== undefined) return known;
    const shelf = new Map<string, OpenOrder>();
    this.bySymbol.set(symbol, shelf);
    return shelf;
  }
}
