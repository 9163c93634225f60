/**
 * The book of a market: two arrays of resting orders, best price first, then by rank. A level is
 * whatever neighbours share a price.
 */
import { LONG, type Side } from "../../commands.js";
import type { Market, Order } from "./state.js";

export function sideOf(market: Market, side: Side): Order[] {
  return side === LONG ? market.bids : market.asks;
}

/** The best order that a taker of `side` meets, if any. */
export function bestAgainst(market: Market, side: Side): Order | undefined {
  return side === LONG ? market.asks[0] : market.bids[0];
}

export function bestBid(market: Market): bigint | null {
  return market.bids[0]?.price ?? null;
}

export function bestAsk(market: Market): bigint | null {
  return market.asks[0]?.price ?? null;
}

/** Price-time: behind every order of the same or a better price. */
export function enterBook(market: Market, order: Order): void {
  const orders = sideOf(market, order.side);
  const place = orders.findIndex((other) =>
    order.side === LONG ? other.price < order.price : other.price > order.price,
  );
  orders.splice(place < 0 ? orders.length : place, 0, order);
}

export function leaveBook(market: Market, order: Order): void {
  const orders = sideOf(market, order.side);
  const place = orders.indexOf(order);
  if (place < 0) throw new Error(`order ${order.id} is not in the book`);
  orders.splice(place, 1);
}

export interface Level {
  readonly price: bigint;
  readonly lots: bigint;
}

/** Levels from the best outward. */
export function* levels(orders: readonly Order[]): Generator<Level> {
  let at = 0;
  while (at < orders.length) {
    const price = orders[at]?.price ?? 0n;
    let lots = 0n;
    for (; orders[at]?.price === price; at++) lots += orders[at]?.remaining ?? 0n;
    yield { price, lots };
  }
}
