/**
 * Books without margin, sessions or events behind one interface: the engine's ladders, and the npm
 * package nodejs-order-book.
 */
import { LIMIT_ORDER, LONG, SHORT } from "@perpgate/engine";
import { Ladder, OrderStore, UndoLog } from "@perpgate/engine/reading";
import { OrderBook } from "nodejs-order-book";

export interface BareBook {
  /** Rests an order that does not cross. */
  place(id: number, isBid: boolean, ticks: number, lots: number): void;
  cancel(id: number): void;
  /** Takes lots from the other side; returns how many it got. */
  cross(isBid: boolean, lots: number): number;
}

export class LadderBook implements BareBook {
  readonly orders = new OrderStore(new UndoLog());
  readonly bids = new Ladder(1, this.orders);
  readonly asks = new Ladder(-1, this.orders);

  place(id: number, isBid: boolean, ticks: number, lots: number): void {
    const terms = {
      market: 0,
      side: isBid ? LONG : SHORT,
      type: LIMIT_ORDER,
      priceTicks: ticks,
      marginMicros: 0,
      leverage: 1,
      reduceOnly: false,
      postOnly: false,
      session: 0,
    } as const;
    const row = this.orders.add(id, 0, 0, terms, lots, lots);
    (isBid ? this.bids : this.asks).add(row, ticks, lots);
  }

  cancel(id: number): void {
    const row = this.orders.index.get(id);
    if (row < 0) return;
    const ladder = this.orders.side(row) === LONG ? this.bids : this.asks;
    ladder.remove(row, this.orders.price(row), this.orders.remaining(row));
    this.orders.release(row);
  }

  cross(isBid: boolean, lots: number): number {
    const ladder = isBid ? this.asks : this.bids;
    let left = lots;
    while (left > 0 && ladder.count > 0) {
      const row = ladder.bestOrder();
      const remaining = this.orders.remaining(row);
      if (remaining > left) {
        this.orders.setRemaining(row, remaining - left);
        ladder.reduce(row, left);
        return lots;
      }
      left -= remaining;
      ladder.remove(row, this.orders.price(row), remaining);
      this.orders.release(row);
    }
    return lots - left;
  }
}

export class NodejsOrderBook implements BareBook {
  private readonly book = new OrderBook();

  place(id: number, isBid: boolean, ticks: number, lots: number): void {
    this.book.limit({
      side: isBid ? "buy" : "sell",
      id: String(id),
      size: lots,
      price: ticks,
    } as Parameters<OrderBook["limit"]>[0]);
  }

  cancel(id: number): void {
    this.book.cancel(String(id));
  }

  cross(isBid: boolean, lots: number): number {
    this.book.market({
      side: isBid ? "buy" : "sell",
      size: lots,
    } as Parameters<OrderBook["market"]>[0]);
    return lots;
  }
}
