/**
 * A real book, rebuilt from order-by-order events: Bitstamp BTC/USD of 2015-05-01, in ticks of 0.01
 * and lots of 0.00001 BTC, from the text of `orders.csv` (see the vectors' SOURCE.md; it is not part of
 * this repository). Gives the book at the end of the capture, and a deeper one of all orders of the five
 * hours as if none had ended, because a capture that starts with an empty book stays shallow.
 */

import type { BookSide, Level } from "../book-codec/index.js";
import type { SampleBook } from "./sample-books.js";

const SATOSHI_PER_LOT = 1_000;

interface Order {
  readonly tick: number;
  readonly satoshi: number;
  readonly side: BookSide;
}

export function bitstampBooks(csv: string): SampleBook[] {
  const resting = new Map<string, Order>();
  const all: Order[] = [];
  for (const line of csv.trim().split("\n").slice(1)) {
    const [id = "", , , price, volume, action, direction] = line.split(",");
    const side = direction === "bid" ? "bid" : "ask";
    const order = { tick: Math.round(Number(price) * 100), satoshi: Number(volume), side } as const;
    if (action === "created") all.push(order);
    if (action === "deleted") resting.delete(id);
    else resting.set(id, order);
  }
  return [
    bookOf("Bitstamp 2015, at the end", [...resting.values()]),
    bookOf("Bitstamp 2015, all orders", all),
  ];
}

function bookOf(name: string, orders: readonly Order[]): SampleBook {
  return { name, bids: sideOf(orders, "bid"), asks: sideOf(orders, "ask") };
}

function sideOf(orders: readonly Order[], side: BookSide): Level[] {
  const satoshi = new Map<number, number>();
  for (const order of orders) {
    if (order.side !== side) continue;
    satoshi.set(order.tick, (satoshi.get(order.tick) ?? 0) + order.satoshi);
  }
  const direction = side === "bid" ? -1 : 1;
  return [...satoshi]
    .map(([tick, sum]): Level => [tick, Math.round(sum / SATOSHI_PER_LOT)])
    .filter(([, lots]) => lots > 0)
    .sort(([a], [b]) => (a - b) * direction);
}
