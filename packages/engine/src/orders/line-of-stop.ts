/** Which line a pending stop is in, under version 3 (docs/engine.md, "Lines of stops"). */
import { closable } from "../money/fill.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import {
  CLOSING_LINES,
  closingLine,
  firstLine,
  LATER_LINES,
  NO_LINE,
  otherLine,
  STALE_LINE,
  sizeClass,
  stopSet,
  turnOf,
  turnOfLine,
} from "../state/stop-lines.js";
import type { VenueState } from "../state/venue.js";

/** The line of a stop whose account has that many others in the market. */
export function lineOf(s: VenueState, market: Market, order: number, others: number): number {
  return lineOfTurn(s, market, order, turnOf(others));
}

/** Where a stop waits that has reached the limit of its turn: as what is left of it, behind the first turns. */
export function laterLine(s: VenueState, market: Market, order: number, line: number): number {
  const isStale = firstLine(line) === STALE_LINE;
  return LATER_LINES + (isStale ? STALE_LINE : lineOfTurn(s, market, order, turnOfLine(line)));
}

function lineOfTurn(s: VenueState, market: Market, order: number, turn: number): number {
  const { orders } = s;
  const lots = closable(market, orders.position(order), orders.side(order));
  const closes =
    orders.closesPosition(order) ||
    orders.isReduceOnly(order) ||
    (lots > 0 && orders.remaining(order) <= lots);
  return closes ? closingLine(turn, sizeNow(s, market, order)) : otherLine(turn);
}

/** The size class of what the stop would close now, at its own price. */
export function sizeNow(s: VenueState, market: Market, order: number): number {
  const { orders } = s;
  const held = closable(market, orders.position(order), orders.side(order));
  const lots = orders.closesPosition(order) ? held : Math.min(held, orders.remaining(order));
  return sizeClass(lots * orders.price(order) * market.microsPerTickLot);
}

/**
 * Orders that close a position have no size of their own: while they are not reached, their line follows
 * the position. The last step of a command that has changed it.
 */
export function followPosition(s: VenueState, market: Market, row: number): void {
  for (let set = 0; set < 4; set++) {
    const order = market.stopLines.closingOrder(row, set);
    if (order !== NONE) resize(s, market, order, set);
  }
}

/** The same for an exit whose lots have changed. */
export function followLots(s: VenueState, exit: number): void {
  const { orders } = s;
  if (!orders.isStop(exit) || orders.line(exit) === NO_LINE) return;
  const set = stopSet(orders.side(exit), orders.extras.trigger(orders.extrasRow(exit)));
  resize(s, s.markets[orders.market(exit)]!, exit, set);
}

/** Moves a stop that no tick has reached to the line of its present size. */
function resize(s: VenueState, market: Market, order: number, set: number): void {
  const { orders } = s;
  const { stopLines } = market;
  const before = orders.line(order);
  if (before >= CLOSING_LINES || stopLines.waits(order)) return;
  const line = closingLine(turnOfLine(before), sizeNow(s, market, order));
  if (line === before) return;
  stopLines.take(order, set);
  orders.table.touch(order);
  orders.setLine(order, line);
  stopLines.add(order, set);
}
