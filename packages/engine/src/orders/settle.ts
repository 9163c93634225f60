/**
 * Keeps an account's orders consistent with its position: which of them close it, which open and
 * therefore reserve margin and fee, and which must end because the position or the wallet no longer
 * supports them (docs/engine.md, "settle").
 *
 * The position's lots cover closing orders by ascending rank, so the covered orders are always a prefix
 * of the closing side's list. Only the orders at the end of that prefix (the frontier) are visited
 * when the position changes: the cost depends on the lots that moved, not on the number of quotes.
 */
import { divCeil, mulDivCeil } from "@perpgate/protocol/integers";
import { LONG, SHORT, type Side, STOP_TRIGGER, TAKE_PROFIT_TRIGGER } from "../commands.js";
import { PPM } from "../config.js";
import { emit } from "../events/event-log.js";
import { InvariantViolation } from "../invariants.js";
import { closable } from "../money/fill.js";
import { END } from "../reasons.js";
import { MARKET_REDUCE_ONLY, type Market } from "../state/market.js";
import { NONE, type OrderStore } from "../state/orders.js";
import {
  CLOSING_LIST,
  LONG_ENTRY_LIST,
  LONG_LIST,
  type PositionStore,
  REDUCE_ONLY_LIST,
  restingList,
  SHORT_ENTRY_LIST,
  SHORT_LIST,
} from "../state/positions.js";
import type { VenueState } from "../state/venue.js";
import { endExitsOf } from "./exits.js";
import { changeReserve, openOrdersOf, removeOrder, shrinkLots } from "./open-orders.js";

/** As `endOrder`, for an order that the command or tick ends itself: it is a turn of its own. */
export function cancelOpen(s: VenueState, market: Market, order: number, reason: number): void {
  s.scratch.work.charge(s.rules.unitsPerCancel);
  endOrder(s, market, order, reason);
}

const TRIGGERS: readonly number[] = [STOP_TRIGGER, TAKE_PROFIT_TRIGGER];

/** Ends an open order and settles its account. */
export function endOrder(s: VenueState, market: Market, order: number, reason: number): void {
  const row = s.orders.position(order);
  dropOrder(s, market, order, reason);
  settle(s, market, row);
}

export function settle(s: VenueState, market: Market, row: number): void {
  dropIdleReduceOnly(s, market, row);
  coverOrders(s, market, row);
  if (market.status === MARKET_REDUCE_ONLY) dropOpening(s, market, row);
  const account = market.positions.account(row);
  while (s.wallet(account) < 0) {
    const newest = newestThatOpens(s, market, row);
    // Without a reserve the wallet cannot be negative: the invariant check reports it.
    if (newest === NONE) return;
    dropUnsupported(s, market, newest, END.unfunded);
    coverOrders(s, market, row);
  }
  dropIdleClosing(s, market, row);
}

/**
 * Ends those orders that are still open; returns how many. Ending one order can end others (a
 * reduce-only one, for example), which are then skipped.
 */
export function endOrders(s: VenueState, ids: readonly number[], reason: number): number {
  let ended = 0;
  for (const id of ids) if (endIfOpen(s, id, reason)) ended++;
  return ended;
}

/** Ends the order unless it is gone; returns whether it did. */
export function endIfOpen(s: VenueState, id: number, reason: number): boolean {
  const order = s.orders.index.get(id);
  if (order === NONE) return false;
  const market = s.markets[s.orders.market(order)]!;
  s.focus = market.number;
  cancelOpen(s, market, order, reason);
  return true;
}

/**
 * Ends orders that close the position where there is none, and no order that could open one; one that was
 * triggered whatever rests.
 */
function dropIdleClosing(s: VenueState, market: Market, row: number): void {
  const { orders, scratch } = s;
  const idleLongs = closingIsIdle(s, market, row, LONG);
  const idleShorts = closingIsIdle(s, market, row, SHORT);
  const ended: number[] = [];
  for (const trigger of TRIGGERS) {
    const order = market.positions.triggeredStop(row, trigger);
    if (order !== NONE && shrinkTriggered(s, market, order) === 0) ended.push(order);
  }
  if (idleLongs || idleShorts) {
    const isIdle = (order: number) => (orders.side(order) === LONG ? idleLongs : idleShorts);
    for (const order of ofKind(s, market, row, CLOSING_LIST, isIdle)) {
      if (!ended.includes(order)) ended.push(order);
    }
  }
  if (ended.length === 0) return;
  for (const each of ended.sort((a, b) => orders.id(a) - orders.id(b))) {
    // The one in service has done what it was for.
    const isFilled = orders.id(each) === scratch.serving && scratch.taker.filledLots > 0;
    dropUnsupported(s, market, each, isFilled ? END.none : END.position_closed);
  }
}

/** Lots of the position that were there when the stop was triggered; the newest go first. */
function shrinkTriggered({ orders }: VenueState, market: Market, order: number): number {
  const lots = closable(market, orders.position(order), orders.side(order));
  if (lots >= orders.remaining(order)) return orders.remaining(order);
  orders.table.touch(order);
  orders.setRemaining(order, lots);
  return lots;
}

/** Whether the account has orders of that side that close the position, and none may come to close. */
function closingIsIdle(s: VenueState, market: Market, row: number, side: Side): boolean {
  if (market.positions.closePositionOrders(row, side) === 0) return false;
  return !mayHaveToClose(s, market, row, side);
}

/** Whether the account has a position opposite to that side, or an order that could open one. */
export function mayHaveToClose(
  { scratch }: VenueState,
  { positions }: Market,
  row: number,
  side: Side,
): boolean {
  if (positions.lots(row) * side < 0) return true;
  const { taker, serving } = scratch;
  // A stop that takes is no longer among the open orders, and not done yet.
  if (serving !== 0 && taker.row === row && taker.side !== side && !taker.reduceOnly) return true;
  return positions.entryOrders(row, side === LONG ? SHORT : LONG) > 0;
}

/** Recomputes the reserves of all the account's resting orders, then settles. */
export function recomputeReserves(s: VenueState, market: Market, row: number): void {
  market.positions.table.touch(row);
  for (const order of openOrdersOf(s, market, row)) {
    if (s.orders.isStop(order)) continue;
    s.orders.table.touch(order);
    reserveFor(s, market, order);
  }
  settle(s, market, row);
}

/** Recomputes the reserve of a resting order from its remaining and covered lots. */
export function reserveFor(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  const opening = orders.isReduceOnly(order) ? 0 : orders.remaining(order) - orders.closing(order);
  if (opening === 0) {
    changeReserve(s, market, order, 0, 0);
    return;
  }
  changeReserve(s, market, order, opening, reserveOf(s, market, order, opening));
}

/** What a resting order reserves for that many opening lots. */
export function reserveOf(
  { orders }: VenueState,
  market: Market,
  order: number,
  openingLots: number,
): number {
  const notional = openingLots * orders.price(order) * market.microsPerTickLot;
  return (
    divCeil(notional, orders.leverage(order)) + mulDivCeil(notional, market.config.makerFeePpm, PPM)
  );
}

/** Reports the end of an order and removes it. */
function dropOrder(s: VenueState, market: Market, order: number, reason: number): void {
  const orderId = s.orders.id(order);
  emit.OrderEnded(s.events, {
    orderId,
    account: s.orders.account(order),
    market: market.number,
    reason,
    remainingLots: s.orders.remaining(order),
  });
  removeOrder(s, market, order);
  if (s.exits.size > 0) endExitsOf(s, market, orderId);
}

/** Ends an order that `settle` finds without support, and counts it. */
function dropUnsupported(s: VenueState, market: Market, order: number, reason: number): void {
  s.scratch.endedBySettle++;
  s.scratch.work.charge(s.rules.unitsPerEnd);
  dropOrder(s, market, order, reason);
}

/** Ends reduce-only orders that would no longer reduce. */
function dropIdleReduceOnly(s: VenueState, market: Market, row: number): void {
  const { positions } = market;
  const lots = positions.lots(row);
  const idleLongs = lots >= 0 && positions.reduceOnlyOrders(row, LONG) > 0;
  const idleShorts = lots <= 0 && positions.reduceOnlyOrders(row, SHORT) > 0;
  if (!idleLongs && !idleShorts) return;
  const isIdle = (order: number) => s.orders.side(order) * lots >= 0;
  for (const order of ofKind(s, market, row, REDUCE_ONLY_LIST, isIdle)) {
    dropUnsupported(s, market, order, END.reduce_only);
  }
}

/** Orders of a short list, or of one that ends: those that pass the filter, ascending id. */
function ofKind(
  { orders }: VenueState,
  { positions }: Market,
  row: number,
  list: typeof CLOSING_LIST | typeof REDUCE_ONLY_LIST,
  isMeant: (order: number) => boolean,
): number[] {
  const meant: number[] = [];
  let order = positions.head(row, list);
  for (; order !== NONE; order = orders.nextOfKind(order)) if (isMeant(order)) meant.push(order);
  return meant.sort((a, b) => orders.id(a) - orders.id(b));
}

/** In a reduce-only market: cancels the lots of resting orders that would open. */
function dropOpening(s: VenueState, market: Market, row: number): void {
  const { orders } = s;
  if (market.positions.restingNotional(row) === 0) return;
  const opens: number[] = [];
  for (const list of [LONG_ENTRY_LIST, SHORT_ENTRY_LIST] as const) {
    let order = lastThatOpens(orders, market.positions, row, list);
    while (order !== NONE && orders.reserve(order) > 0) {
      opens.push(order);
      order = orders.previousOfKind(order);
    }
  }
  const reason = END.market_reduce_only;
  for (const order of opens.sort((a, b) => orders.id(a) - orders.id(b))) {
    const opening = orders.remaining(order) - orders.closing(order);
    if (opening === orders.remaining(order)) dropUnsupported(s, market, order, reason);
    else reduceOrder(s, market, order, opening, reason);
  }
}

/** Cancels uncovered lots of a resting order that keeps others. */
function reduceOrder(
  s: VenueState,
  market: Market,
  order: number,
  lots: number,
  reason: number,
): void {
  const { orders } = s;
  s.scratch.work.charge(s.rules.unitsPerMove);
  shrinkOrder(s, market, order, lots);
  const orderId = orders.id(order);
  const account = orders.account(order);
  const remainingLots = orders.remaining(order);
  emit.OrderReduced(s.events, { orderId, account, market: market.number, reason, remainingLots });
}

/** Takes lots off a resting order, which keeps its place; uncovered ones first. */
export function shrinkOrder(s: VenueState, market: Market, order: number, lots: number): void {
  shrinkLots(s, market, order, lots);
  reserveFor(s, market, order);
}

/** Adjusts the covered lots of the closing side's orders to the size of the position. */
function coverOrders(s: VenueState, market: Market, row: number): void {
  const { positions } = market;
  const lots = positions.lots(row);
  const side = lots > 0 ? SHORT : lots < 0 ? LONG : 0;
  if (positions.closingSide(row) !== side) {
    uncover(s, market, row, positions.covered(row));
    positions.setClosingSide(row, side);
    positions.setFrontier(row, side === 0 ? NONE : positions.head(row, restingList(side)));
  }
  const surplus = positions.covered(row) - Math.abs(lots);
  if (surplus > 0) uncover(s, market, row, surplus);
  else if (surplus < 0) coverMore(s, market, row, -surplus);
}

function coverMore(s: VenueState, market: Market, row: number, lots: number): void {
  const { orders } = s;
  let left = lots;
  let order = market.positions.frontier(row);
  while (order !== NONE) {
    const uncovered = orders.remaining(order) - orders.closing(order);
    const share = Math.min(uncovered, left);
    if (share > 0) changeCover(s, market, row, order, share);
    left -= share;
    if (share < uncovered) break;
    order = orders.next(order);
  }
  market.positions.setFrontier(row, order);
}

function uncover(s: VenueState, market: Market, row: number, lots: number): void {
  if (lots === 0) return;
  const { positions } = market;
  let order = positions.frontier(row);
  if (order === NONE) {
    order = positions.tail(row, positions.closingSide(row) === LONG ? LONG_LIST : SHORT_LIST);
  }
  let left = lots;
  for (;;) {
    if (order === NONE) throw new InvariantViolation("lots_balanced", market.number);
    const share = Math.min(s.orders.closing(order), left);
    if (share > 0) changeCover(s, market, row, order, -share);
    left -= share;
    if (left === 0) break;
    order = s.orders.previous(order);
  }
  positions.setFrontier(row, order);
}

function changeCover(
  s: VenueState,
  market: Market,
  row: number,
  order: number,
  lots: number,
): void {
  s.scratch.work.charge(s.rules.unitsPerMove);
  s.orders.table.touch(order);
  market.positions.table.touch(row);
  s.orders.setClosing(order, s.orders.closing(order) + lots);
  market.positions.addCovered(row, lots);
  reserveFor(s, market, order);
}

function newestThatOpens({ orders }: VenueState, { positions }: Market, row: number): number {
  const longs = lastThatOpens(orders, positions, row, LONG_ENTRY_LIST);
  const shorts = lastThatOpens(orders, positions, row, SHORT_ENTRY_LIST);
  if (longs === NONE || shorts === NONE) return longs === NONE ? shorts : longs;
  return orders.rank(longs) > orders.rank(shorts) ? longs : shorts;
}

/**
 * The newest order of the list if it would open, and so reserves. If the newest does not, none does: those
 * that the position covers are the oldest.
 */
function lastThatOpens(
  orders: OrderStore,
  positions: PositionStore,
  row: number,
  list: typeof LONG_ENTRY_LIST | typeof SHORT_ENTRY_LIST,
): number {
  const order = positions.tail(row, list);
  return order !== NONE && orders.reserve(order) > 0 ? order : NONE;
}
