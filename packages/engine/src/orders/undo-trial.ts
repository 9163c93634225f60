/**
 * A fill-or-kill order is executed like any other; if a lot is left, everything is undone. Tables have
 * their undo log. Of the derived structures only these have changed: orders have left book, lists and
 * indexes (none has entered), levels have lost lots, and what positions keep of their closing orders
 * has moved. So it suffices to have noted the removed orders and what the positions kept. Orders go
 * back in the reverse order of their removal: at its turn, the neighbours that each still names are its
 * neighbours again. The cost is that of what was tried.
 */
import { EXIT_KINDS, exitId } from "@perpgate/protocol/order-id";
import { enterStop } from "../snapshot/rebuild.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { countInLine, countOrder, leaveStops, relinkToLists } from "./open-orders.js";
import { NOTED_WORDS } from "./trial.js";

/** Undoes all that the command has done; its undo log begins again. */
export function undoTrial(s: VenueState, market: Market): void {
  const { orders } = s;
  const { trial } = s.scratch;
  const resting = hideResting(s, market);
  forgetPairs(s, market);
  trial.isOn = false;
  s.undo.rollback();
  s.totals.table.touch(0);
  for (const order of resting) {
    market.ladder(orders.side(order)).reduce(order, -orders.remaining(order));
  }
  for (let i = trial.removed.length - 1; i >= 0; i--) {
    restoreOrder(s, market, trial.removed[i]!);
  }
  restorePositions(s, market);
  restorePairs(s, market);
  restoreWaiting(s, market);
}

/** Takes the exits that have changed out of the stops and of their pairs. */
function forgetPairs(s: VenueState, market: Market): void {
  const { orders, exits } = s;
  s.scratch.resizedExits.length = 0;
  for (const orderId of s.scratch.trial.pairs) {
    const pair = exits.find(orderId);
    if (pair === NONE) continue;
    for (const kind of EXIT_KINDS) {
      const exit = exits.exit(pair, kind);
      if (exit === NONE) continue;
      if (orders.isStop(exit)) leaveStops(s, market, exit);
      exits.remove(orders.id(exit), market.positions, orders.position(exit));
    }
  }
}

/** Puts them back, once their words and those that were removed are restored. */
function restorePairs(s: VenueState, market: Market): void {
  const { orders, exits } = s;
  // Exits that were removed are back already, and a pair may have been noted more than once.
  const restored = new Set(s.scratch.trial.removed);
  for (const orderId of s.scratch.trial.pairs) {
    for (const kind of EXIT_KINDS) {
      const exit = orders.index.get(exitId(orderId, kind));
      if (exit === NONE) continue;
      if (orders.isStop(exit) && !restored.has(exit)) restoreStop(s, market, exit);
      restored.add(exit);
      exits.list(exits.add(exit), market.positions, orders.position(exit));
    }
  }
}

/** Takes the lots of each changed order that still rests off its level; returns these orders. */
function hideResting({ orders, undo }: VenueState, market: Market): number[] {
  const resting: number[] = [];
  for (let i = 0; i < undo.count; i++) {
    if (undo.tables[i] !== orders.table) continue;
    const order = undo.rows[i]!;
    if (orders.id(order) === 0 || orders.isStop(order)) continue;
    market.ladder(orders.side(order)).reduce(order, orders.remaining(order));
    resting.push(order);
  }
  return resting;
}

/** Puts a removed order, whose words are restored, back into all structures. */
function restoreOrder(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  const { positions } = market;
  orders.reclaim(order);
  const side = orders.side(order);
  const isStop = orders.isStop(order);
  if (isStop) restoreStop(s, market, order);
  else market.ladder(side).restore(order, orders.price(order), orders.remaining(order));
  relinkToLists(orders, positions, order);
  countOrder(orders, positions, order, 1);
}

/** Puts a stop back that has left its line, unless it was reached: those follow together. */
function restoreStop(s: VenueState, market: Market, order: number): void {
  if (!s.scratch.trial.waited.has(order)) enterStop(s, market, order);
}

/** Puts those back that had been reached, last first. */
function restoreWaiting(s: VenueState, market: Market): void {
  for (const [order, { before, run }] of [...s.scratch.trial.waited].reverse()) {
    market.stopLines.putBack(order, before, run);
    countInLine(s, market, order, 1);
  }
}

function restorePositions({ scratch }: VenueState, { positions }: Market): void {
  const noted = scratch.trial.positions;
  for (let i = noted.length - NOTED_WORDS; i >= 0; i -= NOTED_WORDS) {
    const row = noted[i]!;
    positions.setClosingSide(row, noted[i + 1]!);
    positions.setFrontier(row, noted[i + 2]!);
    positions.addCovered(row, noted[i + 3]! - positions.covered(row));
  }
}
