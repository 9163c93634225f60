/**
 * Keeps an account's orders in step with its position: which of them close it, which open and so
 * reserve margin and fee, and which must go because the position or the wallet no longer carries
 * them (docs/engine.md, "settle").
 *
 * Closing capacity is handed out by ascending id, so the covered orders are always a prefix of the
 * closing side's list. Only the orders at the edge of that prefix (the frontier) are visited when
 * the position moves; an account with hundreds of quotes pays for the lots that moved, not for the
 * quotes it has.
 */
import { divCeil, mulDivCeil } from "@perpgate/protocol/integers";
import { changeReserve, removeOrder } from "../book/open-orders.js";
import { LONG, SHORT, STOP_ORDER } from "../commands.js";
import { PPM } from "../config.js";
import { EVENT } from "../event-log.js";
import { InvariantViolation } from "../invariants.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { LINKS, LIST_NEXT, LIST_PREV, NONE, ORDER, ORDER_WORDS } from "../state/orders.js";
import { PLINK, PLINKS, POSITION, POSITION_WORDS } from "../state/positions.js";
import type { VenueState } from "../state/venue.js";

/** Ends an open order: event, out of the book, reserve back; then its account settles. */
export function endOrder(s: VenueState, market: Market, order: number, reason: number): void {
  const row = s.orders.table.data[order * ORDER_WORDS + ORDER.POSITION]!;
  dropOrder(s, market, order, reason);
  settle(s, market, row);
}

export function settle(s: VenueState, market: Market, row: number): void {
  dropIdleReduceOnly(s, market, row);
  shareCapacity(s, market, row);
  const account = market.positions.table.data[row * POSITION_WORDS + POSITION.ACCOUNT]!;
  while (s.wallet(account) < 0) {
    const newest = newestWithReserve(s, market, row);
    // Without a reserve left the wallet cannot be short: the invariant check will say so.
    if (newest === NONE) return;
    dropOrder(s, market, newest, END.unfunded);
    shareCapacity(s, market, row);
  }
}

/** All open orders of an account in a market, ascending id. */
export function openOrdersOf(s: VenueState, market: Market, row: number): number[] {
  const orders: number[] = [];
  const base = row * PLINKS;
  for (const head of [PLINK.LONG_HEAD, PLINK.SHORT_HEAD, PLINK.PENDING_HEAD]) {
    let order = market.positions.links[base + head]!;
    while (order !== NONE) {
      orders.push(order);
      order = s.orders.links[order * LINKS + LIST_NEXT]!;
    }
  }
  const data = s.orders.table.data;
  return orders.sort((a, b) => data[a * ORDER_WORDS]! - data[b * ORDER_WORDS]!);
}

/** Recomputes the reserves of all the account's resting orders, then settles. */
export function reserveAnew(s: VenueState, market: Market, row: number): void {
  market.positions.table.touch(row);
  for (const order of openOrdersOf(s, market, row)) {
    if (s.orders.table.data[order * ORDER_WORDS + ORDER.TYPE] === STOP_ORDER) continue;
    s.orders.table.touch(order);
    reserveFor(s, market, order);
  }
  settle(s, market, row);
}

/** Recomputes what a resting order keeps in reserve from its remaining and covered lots. */
export function reserveFor(s: VenueState, market: Market, order: number): void {
  const data = s.orders.table.data;
  const at = order * ORDER_WORDS;
  const opening =
    data[at + ORDER.REDUCE_ONLY] !== 0
      ? 0
      : data[at + ORDER.REMAINING]! - data[at + ORDER.CLOSING]!;
  if (opening === 0) {
    changeReserve(s, market, order, 0, 0);
    return;
  }
  const notional = opening * data[at + ORDER.PRICE]! * market.microsPerTickLot;
  const reserve =
    divCeil(notional, data[at + ORDER.LEVERAGE]!) +
    mulDivCeil(notional, market.config.makerFeePpm, PPM);
  changeReserve(s, market, order, opening, reserve);
}

function dropOrder(s: VenueState, market: Market, order: number, reason: number): void {
  const data = s.orders.table.data;
  const at = order * ORDER_WORDS;
  const w = s.events.open(EVENT.OrderEnded, 5);
  const words = s.events.words;
  words[w] = data[at + ORDER.ID]!;
  words[w + 1] = data[at + ORDER.ACCOUNT]!;
  words[w + 2] = market.number;
  words[w + 3] = reason;
  words[w + 4] = data[at + ORDER.REMAINING]!;
  removeOrder(s, market, order);
}

/** Reduce-only orders that would no longer reduce. */
function dropIdleReduceOnly(s: VenueState, market: Market, row: number): void {
  const plinks = market.positions.links;
  const base = row * PLINKS;
  const lots = market.positions.table.data[row * POSITION_WORDS + POSITION.LOTS]!;
  const idleLongs = lots >= 0 && plinks[base + PLINK.REDUCE_ONLY_LONG]! > 0;
  const idleShorts = lots <= 0 && plinks[base + PLINK.REDUCE_ONLY_SHORT]! > 0;
  if (!idleLongs && !idleShorts) return;
  for (const order of openOrdersOf(s, market, row)) {
    const at = order * ORDER_WORDS;
    const data = s.orders.table.data;
    if (data[at + ORDER.REDUCE_ONLY] !== 0 && data[at + ORDER.SIDE]! * lots >= 0) {
      dropOrder(s, market, order, END.reduce_only);
    }
  }
}

/** Brings the covered lots of the closing side's orders to the size of the position. */
function shareCapacity(s: VenueState, market: Market, row: number): void {
  const { positions } = market;
  const plinks = positions.links;
  const base = row * PLINKS;
  const lots = positions.table.data[row * POSITION_WORDS + POSITION.LOTS]!;
  const side = lots > 0 ? SHORT : lots < 0 ? LONG : 0;
  if (plinks[base + PLINK.CLOSING_SIDE] !== side) {
    takeBack(s, market, row, positions.given[row]!);
    plinks[base + PLINK.CLOSING_SIDE] = side;
    plinks[base + PLINK.FRONTIER] =
      side === 0 ? NONE : plinks[base + (side === LONG ? PLINK.LONG_HEAD : PLINK.SHORT_HEAD)]!;
  }
  const surplus = positions.given[row]! - Math.abs(lots);
  if (surplus > 0) takeBack(s, market, row, surplus);
  else if (surplus < 0) giveOut(s, market, row, -surplus);
}

function giveOut(s: VenueState, market: Market, row: number, lots: number): void {
  const { positions } = market;
  const frontierAt = row * PLINKS + PLINK.FRONTIER;
  let left = lots;
  let order = positions.links[frontierAt]!;
  while (order !== NONE) {
    const data = s.orders.table.data;
    const at = order * ORDER_WORDS;
    const uncovered = data[at + ORDER.REMAINING]! - data[at + ORDER.CLOSING]!;
    const share = Math.min(uncovered, left);
    if (share > 0) cover(s, market, row, order, share);
    left -= share;
    if (share < uncovered) break;
    order = s.orders.links[order * LINKS + LIST_NEXT]!;
  }
  positions.links[frontierAt] = order;
}

function takeBack(s: VenueState, market: Market, row: number, lots: number): void {
  if (lots === 0) return;
  const { positions } = market;
  const base = row * PLINKS;
  const tail =
    positions.links[base + PLINK.CLOSING_SIDE] === LONG ? PLINK.LONG_TAIL : PLINK.SHORT_TAIL;
  let order = positions.links[base + PLINK.FRONTIER]!;
  if (order === NONE) order = positions.links[base + tail]!;
  let left = lots;
  for (;;) {
    if (order === NONE) throw new InvariantViolation("lots_balanced", market.number);
    const share = Math.min(s.orders.table.data[order * ORDER_WORDS + ORDER.CLOSING]!, left);
    if (share > 0) cover(s, market, row, order, -share);
    left -= share;
    if (left === 0) break;
    order = s.orders.links[order * LINKS + LIST_PREV]!;
  }
  positions.links[base + PLINK.FRONTIER] = order;
}

function cover(s: VenueState, market: Market, row: number, order: number, lots: number): void {
  s.orders.table.touch(order);
  market.positions.table.touch(row);
  const at = order * ORDER_WORDS + ORDER.CLOSING;
  s.orders.table.data[at] = s.orders.table.data[at]! + lots;
  market.positions.given[row] = market.positions.given[row]! + lots;
  reserveFor(s, market, order);
}

function newestWithReserve(s: VenueState, market: Market, row: number): number {
  const base = row * PLINKS;
  const longs = lastWithReserve(s, market.positions.links[base + PLINK.LONG_TAIL]!);
  const shorts = lastWithReserve(s, market.positions.links[base + PLINK.SHORT_TAIL]!);
  if (longs === NONE || shorts === NONE) return longs === NONE ? shorts : longs;
  const data = s.orders.table.data;
  return data[longs * ORDER_WORDS]! > data[shorts * ORDER_WORDS]! ? longs : shorts;
}

function lastWithReserve(s: VenueState, tail: number): number {
  let order = tail;
  while (order !== NONE && s.orders.table.data[order * ORDER_WORDS + ORDER.RESERVE] === 0) {
    order = s.orders.links[order * LINKS + LIST_PREV]!;
  }
  return order;
}
