/**
 * "settle(account, market)" and what it means that an order ends. Every reserve is recomputed from
 * nothing, each time.
 */
import { LONG, SHORT, type Side } from "../../commands.js";
import { END } from "../../reasons.js";
import { leaveBook } from "./book.js";
import { emit, touch } from "./end-events.js";
import { isWaitingExit, orderGone } from "./exits.js";
import { ceilDiv, min, num } from "./integers.js";
import { closable, MILLION, unitOf } from "./margin.js";
import {
  accountOf,
  type Market,
  marketOf,
  type Order,
  type Position,
  positionOf,
  rulesOf,
  type State,
} from "./state.js";
import { chargeCancel, chargeOrders } from "./work.js";

/** Leaves book and position, its reserve returns to the wallet; `OrderEnded` at removal. */
function remove(state: State, order: Order, reason: number): void {
  const position = positionOf(state, order.account, order.market);
  touch(state, position);
  position.orders = position.orders.filter((other) => other !== order);
  if (order.resting) leaveBook(marketOf(state, order.market), order);
  accountOf(state, order.account).wallet += order.reserve;
  order.reserve = 0n;
  emit(state, {
    kind: "OrderEnded",
    orderId: order.id,
    account: order.account,
    market: order.market,
    reason,
    remainingLots: num(order.remaining),
  });
  orderGone(state, position, order.id, removeIdle);
}

/** As `remove`, for an order that settle ends, or that has lost what it was for. */
export function removeIdle(state: State, order: Order, reason: number): void {
  state.endedBySettle += 1;
  chargeOrders(state, 2);
  remove(state, order, reason);
}

/** As `endOrder`, for an order that the command or tick ends itself. */
export function cancel(state: State, order: Order, reason: number): void {
  chargeCancel(state);
  endOrder(state, order, reason);
}

export function endOrder(state: State, order: Order, reason: number): void {
  remove(state, order, reason);
  settle(state, order.account, order.market);
}

export function isOpen(state: State, order: Order): boolean {
  return positionOf(state, order.account, order.market).orders.includes(order);
}

/** Ends the orders of the list, ascending id, that are still open when their turn comes. */
export function endOrders(state: State, orders: readonly Order[], reason: number): number {
  let count = 0;
  for (const order of byId(orders)) {
    if (!isOpen(state, order)) continue;
    cancel(state, order, reason);
    count += 1;
  }
  return count;
}

function byId(orders: readonly Order[]): Order[] {
  return [...orders].sort((a, b) => a.id - b.id);
}

export function settle(state: State, accountNumber: number, marketNumber: number): void {
  const account = accountOf(state, accountNumber);
  const market = marketOf(state, marketNumber);
  const position = positionOf(state, accountNumber, marketNumber);

  // 1. Reduce-only orders that have nothing to reduce.
  for (const order of byId(position.orders)) {
    if (order.reduceOnly && !isWaitingExit(order) && closable(position, order.side) === 0n) {
      removeIdle(state, order, END.reduce_only);
    }
  }
  // 2. Closing capacity by rank, reserves for what is beyond it.
  chargeOrders(state, reserve(account, market, position));
  if (market.status === "reduceOnly") dropOpening(state, account, position);
  // 3. Newest first, what the wallet cannot pay.
  while (account.wallet < 0n) {
    const newest = position.orders.filter((order) => order.reserve > 0n).at(-1);
    if (newest === undefined) {
      throw new Error(`account ${accountNumber}: wallet ${account.wallet}, nothing left to cancel`);
    }
    removeIdle(state, newest, END.unfunded);
    chargeOrders(state, reserve(account, market, position));
  }
  // 4. "It lives while the account has a position, or an order that is not reduce-only, on the other
  // side". One that has just closed the position is filled.
  for (const order of byId(position.orders)) {
    if (order.extra?.closePosition !== true) continue;
    // "once triggered it acts on the position of that moment alone": lots that only shrink.
    const isFixed = order.triggered && rulesOf(state).triggeredLotsAreFixed;
    if (isFixed) order.remaining = min(order.remaining, closable(position, order.side));
    const lives = isFixed ? order.remaining > 0n : hasToClose(state, position, order.side);
    if (lives) continue;
    const { serving } = state;
    const isFilled = serving !== null && serving.order === order && serving.taker.filled > 0n;
    removeIdle(state, order, isFilled ? END.none : END.position_closed);
  }
}

/** Whether there is, or may come, a position that an order of this side would close. */
export function hasToClose(state: State, position: Position, side: Side): boolean {
  if (closable(position, side) > 0n) return true;
  const { serving } = state;
  const isOwn =
    serving?.order.account === position.account && serving.order.market === position.market;
  // A stop that takes from the book is still an order.
  const orders = serving !== null && isOwn ? [...position.orders, serving.order] : position.orders;
  return orders.some(
    (order) => order.side !== side && !order.reduceOnly && order.extra?.closePosition !== true,
  );
}

/** "In a reduce-only market what would open is canceled." */
function dropOpening(state: State, account: { wallet: bigint }, position: Position): void {
  for (const order of byId(position.orders)) {
    const opening = order.resting ? openingLots(order) : 0n;
    if (opening === 0n) continue;
    if (order.closing === 0n) {
      removeIdle(state, order, END.market_reduce_only);
      continue;
    }
    touch(state, position);
    chargeOrders(state, 1);
    order.remaining -= opening;
    order.lots -= opening;
    account.wallet += order.reserve;
    order.reserve = 0n;
    emit(state, {
      kind: "OrderReduced",
      orderId: order.id,
      account: order.account,
      market: order.market,
      reason: END.market_reduce_only,
      remainingLots: num(order.remaining),
    });
  }
}

/** Returns how many orders cover other lots than before, their own remaining lots aside. */
export function reserve(account: { wallet: bigint }, market: Market, position: Position): number {
  let moved = 0;
  for (const side of [LONG, SHORT] as const) {
    let capacity = closable(position, side);
    for (const order of position.orders) {
      if (order.side !== side || !order.resting) continue;
      const before = min(order.closing, order.remaining);
      order.closing = min(order.remaining, capacity);
      if (order.closing !== before) moved += 1;
      capacity -= order.closing;
      const needed = reserveOf(market, order);
      account.wallet += order.reserve - needed;
      order.reserve = needed;
    }
  }
  return moved;
}

/** o: what a resting order would open. */
export function openingLots(order: Order): bigint {
  return order.reduceOnly ? 0n : order.remaining - order.closing;
}

function reserveOf(market: Market, order: Order): bigint {
  const notional = openingLots(order) * order.price * unitOf(market);
  const fee = ceilDiv(notional * BigInt(market.config.makerFeePpm), MILLION);
  return ceilDiv(notional, order.leverage) + fee;
}
