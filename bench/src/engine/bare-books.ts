/**
 * Books without margin, sessions or events behind one interface: the engine's ladders, and the npm
 * package nodejs-order-book. They get the orders and cancels of a flow.
 */
import { type Command, LONG, SHORT } from "@perpgate/engine";
import { Ladder, OrderStore, UndoLog } from "@perpgate/engine/reading";
import { bareOrder } from "@perpgate/engine/testing";
import { OrderBook } from "nodejs-order-book";
import { INDEX_TICKS, type VenueFlow } from "./venue-flow.js";

const PLACE = 0;
const CANCEL = 1;
const CROSS = 2;
/** Of an operation: kind, id, whether it bids, ticks, lots. */
const WORDS = 5;

export interface BareBook {
  /** Rests an order that does not cross. */
  place(id: number, isBid: boolean, ticks: number, lots: number): void;
  cancel(id: number): void;
  /** Takes lots from the other side. */
  cross(isBid: boolean, lots: number): void;
}

export class LadderBook implements BareBook {
  private readonly orders = new OrderStore(new UndoLog());
  private readonly bids = new Ladder(1, this.orders);
  private readonly asks = new Ladder(-1, this.orders);

  place(id: number, isBid: boolean, ticks: number, lots: number): void {
    const terms = bareOrder(isBid ? LONG : SHORT, ticks);
    const row = this.orders.add(id, 0, 0, terms, lots, lots);
    (isBid ? this.bids : this.asks).add(row, ticks, lots);
  }

  cancel(id: number): void {
    const row = this.orders.index.get(id);
    if (row >= 0) this.remove(this.orders.side(row) === LONG ? this.bids : this.asks, row);
  }

  cross(isBid: boolean, lots: number): void {
    const ladder = isBid ? this.asks : this.bids;
    for (let left = lots; left > 0 && ladder.count > 0; ) {
      const row = ladder.bestOrder();
      const remaining = this.orders.remaining(row);
      if (remaining > left) {
        this.orders.setRemaining(row, remaining - left);
        ladder.reduce(row, left);
        return;
      }
      left -= remaining;
      this.remove(ladder, row);
    }
  }

  private remove(ladder: Ladder, row: number): void {
    ladder.remove(row, this.orders.price(row), this.orders.remaining(row));
    this.orders.release(row);
  }
}

export class NodejsOrderBook implements BareBook {
  private readonly book = new OrderBook();

  place(id: number, isBid: boolean, price: number, size: number): void {
    const order = { side: isBid ? "buy" : "sell", id: String(id), size, price };
    this.book.limit(order as Parameters<OrderBook["limit"]>[0]);
  }

  cancel(id: number): void {
    this.book.cancel(String(id));
  }

  cross(isBid: boolean, size: number): void {
    const order = { side: isBid ? "buy" : "sell", size };
    this.book.market(order as Parameters<OrderBook["market"]>[0]);
  }
}

/** The operations of a flow as numbers, so that the timed loop reads no objects. */
export class BookOperations {
  private readonly opening: Float64Array;
  private readonly timed: Float64Array;

  constructor(flow: VenueFlow) {
    const opening = flow.opening;
    this.opening = operationsOf(opening, 0);
    this.timed = operationsOf(flow.timed, opening.length);
  }

  /** Operations a second in this share of the flow; the book is filled before. */
  perSecond(book: BareBook, share: number): number {
    run(book, this.opening);
    const count = Math.floor((share * this.timed.length) / WORDS);
    const operations = this.timed.subarray(0, count * WORDS);
    const started = performance.now();
    run(book, operations);
    return (count * 1_000) / (performance.now() - started);
  }
}

function operationsOf(commands: readonly Command[], positionBefore: number): Float64Array {
  const operation = (command: Command, i: number): number[] => {
    if (command.kind === "CancelOrder") return [CANCEL, command.orderId, 0, 0, 0];
    if (command.kind !== "PlaceOrder") return [];
    const dollars = command.marginMicros / 1e6;
    const isBid = command.side === LONG;
    const rests = command.priceTicks > 0 && command.priceTicks < INDEX_TICKS === isBid;
    if (!rests) return [CROSS, 0, isBid ? 1 : 0, 0, dollars];
    // Some crosses meet two orders, most of them one.
    const lots = Math.ceil(dollars / 5);
    return [PLACE, positionBefore + i + 1, isBid ? 1 : 0, command.priceTicks, lots];
  };
  return Float64Array.from(commands.flatMap(operation));
}

function run(book: BareBook, words: Float64Array): void {
  for (let at = 0; at < words.length; at += WORDS) {
    const isBid = words[at + 2] === 1;
    if (words[at] === PLACE) book.place(words[at + 1]!, isBid, words[at + 3]!, words[at + 4]!);
    else if (words[at] === CANCEL) book.cancel(words[at + 1]!);
    else book.cross(isBid, words[at + 4]!);
  }
}
