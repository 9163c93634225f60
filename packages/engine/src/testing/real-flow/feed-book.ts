/** The engine's own ladders and order store, driven by a feed instead of by matching. */
import { Ladder } from "../../book/ladder.js";
import { NONE, ORDER, ORDER_WORDS, OrderStore } from "../../state/orders.js";
import { UndoLog } from "../../state/table.js";
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

  place(id: number, side: BookSide, cents: number, satoshi: number): void {
    this.undo.begin();
    const row = this.orders.allocate();
    const { data } = this.orders.table;
    const at = row * ORDER_WORDS;
    data.fill(0, at, at + ORDER_WORDS);
    data[at + ORDER.ID] = id;
    data[at + ORDER.SIDE] = side === "bids" ? 1 : -1;
    data[at + ORDER.PRICE] = cents;
    data[at + ORDER.REMAINING] = satoshi;
    this.orders.index.set(id, row);
    this.ladders[side].add(row, cents, satoshi);
  }

  /** What is left of an order has become less; unknown orders are ignored. */
  reduceTo(id: number, satoshi: number): void {
    const row = this.orders.index.get(id);
    if (row === NONE) return;
    this.undo.begin();
    this.orders.table.touch(row);
    const { data } = this.orders.table;
    const at = row * ORDER_WORDS + ORDER.REMAINING;
    this.ladderOf(row).reduce(row, data[at]! - satoshi);
    data[at] = satoshi;
  }

  remove(id: number): void {
    const row = this.orders.index.get(id);
    if (row === NONE) return;
    this.undo.begin();
    this.orders.table.touch(row);
    const { data } = this.orders.table;
    const at = row * ORDER_WORDS;
    this.ladderOf(row).remove(row, data[at + ORDER.PRICE]!, data[at + ORDER.REMAINING]!);
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
    return this.ladders[
      this.orders.table.data[row * ORDER_WORDS + ORDER.SIDE] === 1 ? "bids" : "asks"
    ];
  }
}
