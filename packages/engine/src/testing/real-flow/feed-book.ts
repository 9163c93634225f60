/** The engine's own ladders and order store, driven by a feed instead of by matching. */
import { LONG, SHORT } from "../../commands.js";
import { Ladder } from "../../state/ladder.js";
import { NONE, OrderStore } from "../../state/orders.js";
import { UndoLog } from "../../state/table.js";
import { bareOrder } from "../bare-order.js";
import type { BookSide, Level, OrderEvent } from "./feed.js";

export class FeedBook {
  private readonly undo = new UndoLog();
  private readonly orders = new OrderStore(this.undo);
  private readonly ladders: Readonly<Record<BookSide, Ladder>> = {
    bids: new Ladder(1, this.orders),
    asks: new Ladder(-1, this.orders),
  };

  get openOrders(): number {
    return this.orders.open;
  }

  has(id: number): boolean {
    return this.orders.index.get(id) !== NONE;
  }

  private placed = 0;

  place(id: number, side: BookSide, cents: number, satoshi: number): void {
    this.undo.begin();
    const terms = bareOrder(side === "bids" ? LONG : SHORT, cents);
    const row = this.orders.add(id, 0, 0, terms, satoshi, satoshi);
    // The exchange's ids do not rise with the time at which an order is met here.
    this.orders.setRank(row, ++this.placed);
    this.ladders[side].add(row, cents, satoshi);
  }

  /** What is left of an order has become less; unknown orders are ignored. */
  reduceTo(id: number, satoshi: number): void {
    const row = this.orders.index.get(id);
    if (row === NONE) return;
    this.undo.begin();
    this.orders.table.touch(row);
    this.ladderOf(row).reduce(row, this.orders.remaining(row) - satoshi);
    this.orders.setRemaining(row, satoshi);
  }

  remove(id: number): void {
    const row = this.orders.index.get(id);
    if (row === NONE) return;
    this.undo.begin();
    this.orders.table.touch(row);
    this.ladderOf(row).remove(row, this.orders.price(row), this.orders.remaining(row));
    this.orders.release(row);
  }

  apply(event: OrderEvent): void {
    if (event.kind === "created") this.place(event.id, event.side, event.cents, event.satoshi);
    if (event.kind === "changed") this.reduceTo(event.id, event.satoshi);
    if (event.kind === "deleted") this.remove(event.id);
  }

  /** The best levels of a side. */
  top(side: BookSide, count: number): Level[] {
    const ladder = this.ladders[side];
    const levels: Level[] = [];
    for (let i = 0; i < Math.min(count, ladder.count); i++) {
      levels.push([ladder.ticksAt(i), ladder.lotsAt(i)]);
    }
    return levels;
  }

  /** Everything at least as good as a price, by price. */
  upTo(side: BookSide, cents: number): Map<number, number> {
    const ladder = this.ladders[side];
    const found = new Map<number, number>();
    for (let i = 0; i < ladder.count; i++) {
      const price = ladder.ticksAt(i);
      if (side === "bids" ? price < cents : price > cents) break;
      found.set(price, ladder.lotsAt(i));
    }
    return found;
  }

  isConsistent(): boolean {
    return this.ladders.bids.isConsistent() && this.ladders.asks.isConsistent();
  }

  private ladderOf(row: number): Ladder {
    return this.ladders[this.orders.side(row) === LONG ? "bids" : "asks"];
  }
}
