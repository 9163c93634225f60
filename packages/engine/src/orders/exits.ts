/**
 * The exits that are attached to an order: which lots they cover, and when they end (docs/engine.md,
 * "Attached exits"). A change costs what it touches: the pairs that cover lots of a position are listed,
 * the newest last.
 */
import { EXIT_KINDS, isExitId, parentOf } from "@perpgate/protocol/order-id";
import { emit } from "../events/event-log.js";
import type { FillPlan } from "../money/fill.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { followLots } from "./line-of-stop.js";
import { awaitLots, leaveStops, notePair, removeOrder, shrinkLots } from "./open-orders.js";

/** A planned fill of an order was booked on its account. */
export function coverFill(
  s: VenueState,
  market: Market,
  row: number,
  orderId: number,
  plan: FillPlan,
): void {
  if (plan.closingLots > 0) closeCovered(s, market, row, orderId, plan.closingLots);
  if (plan.openingLots > 0) coverOpened(s, market, row, orderId, plan.openingLots);
}

/** The exits of the order that wait cover lots that it has opened. */
function coverOpened(
  s: VenueState,
  market: Market,
  row: number,
  orderId: number,
  lots: number,
): void {
  const { orders, exits } = s;
  const pair = exits.find(orderId);
  if (pair === NONE) return;
  notePair(s, orderId);
  for (const kind of EXIT_KINDS) {
    const exit = exits.exit(pair, kind);
    if (exit === NONE || !orders.isStop(exit)) continue;
    resize(s, market, exit, orders.remaining(exit) + lots);
  }
  exits.list(pair, market.positions, row);
}

/**
 * Lots of the position were closed: by an exit those that its pair covered, otherwise those of the newest
 * pairs. `orderId`: of the order that did; 0: none.
 */
export function closeCovered(
  s: VenueState,
  market: Market,
  row: number,
  orderId: number,
  lots: number,
): void {
  const { exits } = s;
  if (isExitId(orderId)) {
    const pair = exits.find(parentOf(orderId));
    if (pair !== NONE) shrinkPair(s, market, row, pair, lots, orderId);
    return;
  }
  let left = lots;
  while (left > 0) {
    const newest = market.positions.newestPair(row);
    if (newest === NONE) return;
    const share = Math.min(left, exits.lots(newest));
    shrinkPair(s, market, row, newest, share, 0);
    left -= share;
  }
}

/** Leaves no exit of the pair more lots than are still open. `filling`: the exit that closed them, or 0. */
function shrinkPair(
  s: VenueState,
  market: Market,
  row: number,
  pair: number,
  lots: number,
  filling: number,
): void {
  const { orders, exits } = s;
  const orderId = exits.orderId(pair);
  const left = exits.lots(pair) - lots;
  notePair(s, orderId);
  for (const kind of EXIT_KINDS) {
    const exit = exits.exit(pair, kind);
    if (exit === NONE) continue;
    if (orders.id(exit) === filling) takeFilled(s, exit, lots);
    else if (orders.remaining(exit) > left) resize(s, market, exit, left);
  }
  // The pair may have ended with its exits.
  if (exits.find(orderId) === pair) exits.list(pair, market.positions, row);
}

/** A triggered exit that takes from the book; the lots of one that rests are the book's business. */
function takeFilled({ orders, scratch }: VenueState, exit: number, lots: number): void {
  if (scratch.serving !== orders.id(exit)) return;
  orders.table.touch(exit);
  orders.setRemaining(exit, orders.remaining(exit) - lots);
}

function resize(s: VenueState, market: Market, exit: number, lots: number): void {
  const { orders } = s;
  const before = orders.remaining(exit);
  s.scratch.work.charge(s.rules.unitsPerMove);
  s.scratch.resizedExits.push(orders.id(exit));
  if (!orders.isStop(exit)) {
    shrinkLots(s, market, exit, before - lots);
    if (lots === 0) dropExit(s, market, exit, END.position_closed);
    return;
  }
  orders.table.touch(exit);
  orders.setLots(exit, orders.lots(exit) + lots - before);
  orders.setRemaining(exit, lots);
  if (before === 0) {
    // With the end of the command it is a stop: as much work as its end.
    s.scratch.work.charge(s.rules.unitsPerEnd);
    orders.setCoversSince(exit, s.seq);
    awaitLots(s, exit);
  } else if (lots === 0) {
    leaveStops(s, market, exit);
    if (canOpen(s, exit)) s.scratch.work.charge(s.rules.unitsPerEnd);
    else dropExit(s, market, exit, END.position_closed);
  }
}

/** Whether the order of an exit is open, and so may open lots. */
export function canOpen({ orders }: VenueState, exit: number): boolean {
  return orders.index.get(parentOf(orders.id(exit))) !== NONE;
}

/** An order is no longer open: its exits that cover nothing never will. */
export function endExitsOf(s: VenueState, market: Market, orderId: number): void {
  const { orders, exits } = s;
  const pair = exits.find(orderId);
  if (pair === NONE) return;
  for (const kind of EXIT_KINDS) {
    const exit = exits.exit(pair, kind);
    if (exit === NONE || !orders.isStop(exit) || orders.remaining(exit) > 0) continue;
    dropExit(s, market, exit, END.order_ended);
  }
}

function dropExit(s: VenueState, market: Market, exit: number, reason: number): void {
  const { orders, scratch } = s;
  scratch.endedBySettle++;
  scratch.work.charge(s.rules.unitsPerEnd);
  emit.OrderEnded(s.events, {
    orderId: orders.id(exit),
    account: orders.account(exit),
    market: market.number,
    reason,
    remainingLots: orders.remaining(exit),
  });
  removeOrder(s, market, exit);
}

/** Reports the exits that the command has left with other lots, ascending id. */
export function reportResized(s: VenueState): void {
  const { orders } = s;
  const { resizedExits } = s.scratch;
  if (resizedExits.length === 0) return;
  let last = 0;
  for (const orderId of resizedExits.sort((a, b) => a - b)) {
    const exit = orders.index.get(orderId);
    if (exit === NONE || orderId === last) continue;
    last = orderId;
    followLots(s, exit);
    emit.ExitSized(s.events, {
      orderId,
      account: orders.account(exit),
      market: orders.market(exit),
      remainingLots: orders.remaining(exit),
    });
  }
  resizedExits.length = 0;
}
