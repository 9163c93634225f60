/**
 * Adds open orders to all structures and removes them: book or stops, the account's lists, the
 * counts of its position. `settle.ts` decides what they reserve.
 */
import { isExitId, parentOf } from "@perpgate/protocol/order-id";
import { LONG, STOP_TRIGGER } from "../commands.js";
import type { Ladder } from "../state/ladder.js";
import type { Market } from "../state/market.js";
import { NONE, type OrderStore } from "../state/orders.js";
import {
  CLOSING_LIST,
  type List,
  LONG_ENTRY_LIST,
  ORDER_LISTS,
  type PositionStore,
  REDUCE_ONLY_LIST,
  restingList,
  SHORT_ENTRY_LIST,
  STOP_LIST,
} from "../state/positions.js";
import type { StopBook } from "../state/stop-book.js";
import { NO_LINE, stopSet } from "../state/stop-lines.js";
import type { VenueState } from "../state/venue.js";
import { laterLine, lineOf } from "./line-of-stop.js";

/** Adds an order row to book and lists. */
export function enterOrder(s: VenueState, market: Market, order: number): void {
  if (!s.orders.isStop(order)) queueOrder(s, market.ladder(s.orders.side(order)), order);
  else if (isExit(s.orders, order)) awaitLots(s, order);
  else addStop(s, market, order);
  countOpen(s, market, order);
}

/** Adds an order that is in book or stops to its account's lists and counts. */
function countOpen(s: VenueState, market: Market, order: number): void {
  const { positions } = market;
  listOrder(s, market, order);
  const row = s.orders.position(order);
  positions.table.touch(row);
  positions.addOpenOrders(row, 1);
  positions.addPendingNotional(row, pendingNotional(s, market, order));
}

/** Appends an order to the queue of its price. */
export function queueOrder({ orders }: VenueState, ladder: Ladder, order: number): void {
  ladder.add(order, orders.price(order), orders.remaining(order));
}

/** Appends an order to its account's list. */
export function listOrder({ orders }: VenueState, { positions }: Market, order: number): void {
  const row = orders.position(order);
  const side = orders.side(order);
  const isStop = orders.isStop(order);
  appendToLists(orders, positions, order);
  // If all orders before it are covered, uncovered lots of the closing side begin here.
  if (!isStop && positions.closingSide(row) === side && positions.frontier(row) === NONE) {
    positions.setFrontier(row, order);
  }
  countOrder(orders, positions, order, 1);
}

/** Appends an order, whose rank is the highest, to the lists that it belongs to. */
export function appendToLists(orders: OrderStore, positions: PositionStore, order: number): void {
  const row = orders.position(order);
  const kind = kindList(orders, order);
  positions.append(row, orderList(orders, order), order, orders);
  if (kind !== NONE) positions.append(row, kind, order, orders);
}

export function unlinkFromLists(orders: OrderStore, positions: PositionStore, order: number): void {
  const row = orders.position(order);
  const kind = kindList(orders, order);
  positions.unlink(row, orderList(orders, order), order, orders);
  if (kind !== NONE) positions.unlink(row, kind, order, orders);
}

/** Puts an order back that was unlinked, in the reverse order. */
export function relinkToLists(orders: OrderStore, positions: PositionStore, order: number): void {
  const row = orders.position(order);
  const kind = kindList(orders, order);
  positions.relink(row, orderList(orders, order), order, orders);
  if (kind !== NONE) positions.relink(row, kind, order, orders);
}

function orderList(orders: OrderStore, order: number): List {
  return orders.isStop(order) ? STOP_LIST : restingList(orders.side(order));
}

/** NONE for a pending order that may open, and for an exit that waits. */
function kindList(orders: OrderStore, order: number): List | typeof NONE {
  if (isWaitingExit(orders, order)) return NONE;
  if (orders.isReduceOnly(order)) return REDUCE_ONLY_LIST;
  if (!orders.isStop(order))
    return orders.side(order) === LONG ? LONG_ENTRY_LIST : SHORT_ENTRY_LIST;
  return closesPosition(orders, order) ? CLOSING_LIST : NONE;
}

/** Counts an order where its account's orders of its side and kind are counted. */
export function countOrder(
  orders: OrderStore,
  positions: PositionStore,
  order: number,
  delta: number,
): void {
  // It goes with the lots that it covers.
  if (isWaitingExit(orders, order)) return;
  const row = orders.position(order);
  const side = orders.side(order);
  if (orders.isReduceOnly(order)) positions.addReduceOnlyOrders(row, side, delta);
  else if (closesPosition(orders, order)) positions.addClosePositionOrders(row, side, delta);
  else positions.addEntryOrders(row, side, delta);
}

/** Whether it is attached to another order. */
export function isExit(orders: OrderStore, order: number): boolean {
  return isExitId(orders.id(order));
}

/** An exit that has not been triggered, or has closed all that it covered. */
export function isWaitingExit(orders: OrderStore, order: number): boolean {
  return orders.isStop(order) && isExitId(orders.id(order));
}

/** A stop that no mark reaches yet: an exit that covers nothing, or began to within this command. */
export function isOutside(orders: OrderStore, order: number): boolean {
  return orders.line(order) === NO_LINE;
}

/** Keeps an exit out of the stops; if it covers lots, to the end of the command. */
export function awaitLots({ orders, scratch }: VenueState, order: number): void {
  if (!isOutside(orders, order)) orders.setLine(order, NO_LINE);
  if (orders.remaining(order) > 0) scratch.coveringExits.push(orders.id(order));
}

/** At the end of a command: the exits that began to cover lots are stops from now on. */
export function enterCoveringExits(s: VenueState): void {
  const { orders } = s;
  const { coveringExits } = s.scratch;
  for (const id of coveringExits.sort((a, b) => a - b)) {
    const order = orders.index.get(id);
    if (order === NONE || !orders.isStop(order) || orders.remaining(order) === 0) continue;
    if (!isOutside(orders, order)) continue;
    orders.table.touch(order);
    addStop(s, s.markets[orders.market(order)]!, order);
  }
  coveringExits.length = 0;
}

/** Takes a pending stop out of the stops, where it is among them. */
export function leaveStops(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  if (!isExit(orders, order)) {
    removeStop(s, market, order);
  } else if (!isOutside(orders, order)) {
    removeStop(s, market, order);
    orders.table.touch(order);
    orders.setLine(order, NO_LINE);
  }
}

/** Whether it closes the whole position when it triggers. */
export function closesPosition(orders: OrderStore, order: number): boolean {
  return orders.closesPosition(order);
}

/** Whether it closes the whole position and was triggered. */
export function isTriggered(orders: OrderStore, order: number): boolean {
  const extras = orders.extrasRow(order);
  return extras !== NONE && orders.extras.isTriggered(extras);
}

/** Whether its time is over; it may still wait for a tick that has room for it. */
export function isExpired(orders: OrderStore, order: number, timeMs: number): boolean {
  const extras = orders.extrasRow(order);
  return extras !== NONE && orders.extras.isExpired(extras, timeMs);
}

/** The limit of a stop, pending or triggered; 0: none. */
export function limitOf(orders: OrderStore, order: number): number {
  const extras = orders.extrasRow(order);
  return extras === NONE ? 0 : orders.extras.limitTicks(extras);
}

/** What triggers a stop. */
export function triggerOf(orders: OrderStore, order: number): number {
  const extras = orders.extrasRow(order);
  return extras === NONE ? STOP_TRIGGER : orders.extras.trigger(extras);
}

/** Where a stop waits under version 2. */
export function stopsOf({ orders }: VenueState, market: Market, order: number): StopBook {
  return market.stops(orders.side(order), triggerOf(orders, order));
}

/** The set of its line that a stop of its side and trigger is in. */
export function setOfStop(orders: OrderStore, order: number): number {
  return stopSet(orders.side(order), triggerOf(orders, order));
}

/** Lets a stop wait for the mark. */
export function addStop(s: VenueState, market: Market, order: number): void {
  if (!s.rules.stopLines) {
    stopsOf(s, market, order).add(order);
    return;
  }
  const others = market.positions.stops(s.orders.position(order));
  s.orders.setLine(order, lineOf(s, market, order, others));
  enterLine(s, market, order);
}

/** Puts a stop that no tick has reached into its line. */
export function enterLine(s: VenueState, market: Market, order: number): void {
  market.stopLines.add(order, setOfStop(s.orders, order));
  countInLine(s, market, order, 1);
}

/** Puts a stop that a tick has moved into its line. */
export function enterMoved(s: VenueState, market: Market, order: number): void {
  market.stopLines.addMoved(order);
  countInLine(s, market, order, 1);
}

/** Keeps a stop that was triggered and closes the position, for as long as there is something to close. */
export function enterTriggered(s: VenueState, market: Market, order: number): void {
  if (s.rules.stopLines) market.stopLines.addTriggered(order);
  else stopsOf(s, market, order).addTriggered(order);
}

/** Lets a stop of that line that has reached the limit of its turn wait for a later one. */
export function enterBehind(s: VenueState, market: Market, order: number, line: number): void {
  s.orders.setLine(order, laterLine(s, market, order, line), s.seq);
  enterMoved(s, market, order);
  countOpen(s, market, order);
}

/** Notes that a stop is in a line, or (−1) no longer. */
export function countInLine(
  { orders }: VenueState,
  { positions, stopLines }: Market,
  order: number,
  delta: 1 | -1,
): void {
  const row = orders.position(order);
  positions.addStops(row, delta);
  if (!orders.closesPosition(order)) return;
  stopLines.setClosing(row, setOfStop(orders, order), delta === 1 ? order : NONE);
}

/** Takes a stop from where it waits. */
export function removeStop(s: VenueState, market: Market, order: number): void {
  const { orders, scratch } = s;
  const { stopLines } = market;
  if (!s.rules.stopLines) {
    stopsOf(s, market, order).remove(order);
    return;
  }
  if (isTriggered(orders, order)) {
    stopLines.takeTriggered(order);
    return;
  }
  if (scratch.trial.isOn && stopLines.waits(order)) {
    const before = stopLines.before(order);
    scratch.trial.waited.set(order, { before, run: stopLines.runOf(order) });
  }
  stopLines.take(order, setOfStop(orders, order));
  countInLine(s, market, order, -1);
}

/** Removes an order from all structures and frees its row; its reserve returns to the wallet. */
export function removeOrder(s: VenueState, market: Market, order: number): void {
  detachOrder(s, market, order);
  releaseOrder(s, market, order);
}

/** Frees the row of an order that is detached. */
export function releaseOrder(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  const id = orders.id(order);
  const row = orders.position(order);
  orders.release(order);
  if (!isExitId(id)) return;
  notePair(s, id);
  s.exits.remove(id, market.positions, row);
}

/** Must precede changes of a pair of exits. */
export function notePair({ scratch: { trial } }: VenueState, id: number): void {
  if (trial.isOn) trial.pairs.push(parentOf(id));
}

/** As `removeOrder`, but keeps the row, for an order that is queued again. */
export function detachOrder(s: VenueState, market: Market, order: number): void {
  if (s.scratch.trial.isOn) s.scratch.trial.removed.push(order);
  const { orders } = s;
  const { positions } = market;
  orders.table.touch(order);
  const row = orders.position(order);
  const side = orders.side(order);
  const isStop = orders.isStop(order);
  if (isStop) {
    leaveStops(s, market, order);
    positions.forgetTriggeredStop(row, order);
  } else market.ladder(side).remove(order, orders.price(order), orders.remaining(order));
  unlinkFromLists(orders, positions, order);
  positions.addCovered(row, -orders.closing(order));
  countOrder(orders, positions, order, -1);

  positions.table.touch(row);
  positions.addOpenOrders(row, -1);
  positions.addPendingNotional(row, -pendingNotional(s, market, order));
  changeReserve(s, market, order, 0, 0);
}

/**
 * Sets the reserve of an order for its opening lots; the wallet pays or receives the difference. The
 * order and its position are touched already.
 */
export function changeReserve(
  s: VenueState,
  market: Market,
  order: number,
  openingLots: number,
  reserve: number,
): void {
  const { orders } = s;
  const row = orders.position(order);
  const before = orders.openingNotional(order);
  const notional = openingLots * orders.price(order) * market.microsPerTickLot;
  if (notional !== before) {
    market.positions.addRestingNotional(row, notional - before);
    orders.setOpeningNotional(order, notional);
  }
  const delta = reserve - orders.reserve(order);
  if (delta === 0) return;
  orders.setReserve(order, reserve);
  market.positions.addReserved(row, delta);
  s.totals.reserves += delta;
  s.addWallet(orders.account(order), -delta);
}

/** Takes lots off a resting order, which keeps its place; uncovered ones first. Its reserve is not changed. */
export function shrinkLots(s: VenueState, market: Market, order: number, lots: number): void {
  const { orders } = s;
  const { positions } = market;
  const row = orders.position(order);
  const remaining = orders.remaining(order) - lots;
  orders.table.touch(order);
  positions.table.touch(row);
  orders.setLots(order, orders.lots(order) - lots);
  orders.setRemaining(order, remaining);
  market.ladder(orders.side(order)).reduce(order, lots);
  const covered = orders.closing(order);
  if (covered > remaining) {
    orders.setClosing(order, remaining);
    positions.addCovered(row, remaining - covered);
  }
  if (positions.frontier(row) === order && covered >= remaining) {
    positions.setFrontier(row, orders.next(order));
  }
}

/** All open orders of an account in a market, ascending id. */
export function openOrdersOf(s: VenueState, market: Market, row: number): number[] {
  const rows: number[] = [];
  forEachOpenOrder(s, market, row, (order) => rows.push(order));
  return rows.sort((a, b) => s.orders.id(a) - s.orders.id(b));
}

/** Visits all open orders of an account in a market, list by list. */
export function forEachOpenOrder(
  { orders }: VenueState,
  { positions }: Market,
  row: number,
  visit: (order: number) => void,
): void {
  for (const list of ORDER_LISTS) {
    let order = positions.head(row, list);
    while (order !== NONE) {
      visit(order);
      order = orders.next(order);
    }
  }
}

/** For `endOrders`: the end of one order can end others, whose rows must not be ended again. */
export function idsOf(orders: OrderStore, rows: readonly number[]): number[] {
  return rows.map((row) => orders.id(row));
}

/** What a stop counts in its position's pending notional; one that closes the position opens nothing. */
export function pendingNotional({ orders }: VenueState, market: Market, order: number): number {
  if (!orders.isStop(order) || orders.isReduceOnly(order)) return 0;
  if (closesPosition(orders, order)) return 0;
  return orders.remaining(order) * orders.price(order) * market.microsPerTickLot;
}
