/**
 * Open orders enter and leave here: book or stop ladder, the account's list (ascending id), the
 * counts of its position. What they reserve is `margin/settle.ts`'s business.
 */
import { LONG, type Side, STOP_ORDER } from "../commands.js";
import type { Market } from "../state/market.js";
import { LINKS, LIST_NEXT, LIST_PREV, NONE, ORDER, ORDER_WORDS } from "../state/orders.js";
import { PLINK, PLINKS, POSITION, POSITION_WORDS } from "../state/positions.js";
import { GLOBAL, type VenueState } from "../state/venue.js";
import type { Ladder } from "./ladder.js";

/** Puts an order row, filled in but for its links, into book and lists. */
export function enterOrder(s: VenueState, market: Market, order: number): void {
  queueOrder(s, ladderOf(s, market, order), order);
  listOrder(s, market, order);
  const data = s.orders.table.data;
  const at = order * ORDER_WORDS;
  const row = data[at + ORDER.POSITION]!;
  const position = market.positions.table.data;
  const p = row * POSITION_WORDS;
  market.positions.table.touch(row);
  position[p + POSITION.OPEN_ORDERS] = position[p + POSITION.OPEN_ORDERS]! + 1;
  position[p + POSITION.PENDING_NOTIONAL] =
    position[p + POSITION.PENDING_NOTIONAL]! + pendingNotional(market, data, at);
  s.orders.index.set(data[at + ORDER.ID]!, order);
}

/** Where an order waits: its side of the book, or of the stops. */
export function ladderOf(s: VenueState, market: Market, order: number): Ladder {
  const data = s.orders.table.data;
  const at = order * ORDER_WORDS;
  const side = data[at + ORDER.SIDE] === LONG ? 1 : -1;
  return data[at + ORDER.TYPE] === STOP_ORDER ? market.stops(side) : market.ladder(side);
}

/** Puts an order at the end of its price's queue. */
export function queueOrder(s: VenueState, ladder: Ladder, order: number): void {
  const data = s.orders.table.data;
  const at = order * ORDER_WORDS;
  ladder.add(order, data[at + ORDER.PRICE]!, data[at + ORDER.REMAINING]!);
}

/** Puts an order at the end of its account's list. */
export function listOrder(s: VenueState, market: Market, order: number): void {
  const data = s.orders.table.data;
  const at = order * ORDER_WORDS;
  const side = data[at + ORDER.SIDE] === LONG ? 1 : -1;
  const isStop = data[at + ORDER.TYPE] === STOP_ORDER;
  const links = s.orders.links;
  const plinks = market.positions.links;
  const base = data[at + ORDER.POSITION]! * PLINKS;
  const head = base + listHead(isStop, side);
  const tail = plinks[head + 1]!;
  links[order * LINKS + LIST_PREV] = tail;
  links[order * LINKS + LIST_NEXT] = NONE;
  if (tail === NONE) plinks[head] = order;
  else links[tail * LINKS + LIST_NEXT] = order;
  plinks[head + 1] = order;
  // A newcomer at the end of the closing side's list is where uncovered lots begin, if all before
  // it are covered.
  if (
    !isStop &&
    plinks[base + PLINK.CLOSING_SIDE] === side &&
    plinks[base + PLINK.FRONTIER] === NONE
  ) {
    plinks[base + PLINK.FRONTIER] = order;
  }
  if (data[at + ORDER.REDUCE_ONLY] !== 0) {
    const counter = base + (side === LONG ? PLINK.REDUCE_ONLY_LONG : PLINK.REDUCE_ONLY_SHORT);
    plinks[counter] = plinks[counter]! + 1;
  }
}

/** Takes an order out of everything and frees its row; its reserve returns to the wallet. */
export function removeOrder(s: VenueState, market: Market, order: number): void {
  const { table, links } = s.orders;
  table.touch(order);
  const data = table.data;
  const at = order * ORDER_WORDS;
  const row = data[at + ORDER.POSITION]!;
  const side: Side = data[at + ORDER.SIDE] === LONG ? 1 : -1;
  const isStop = data[at + ORDER.TYPE] === STOP_ORDER;
  ladderOf(s, market, order).remove(order, data[at + ORDER.PRICE]!, data[at + ORDER.REMAINING]!);

  const plinks = market.positions.links;
  const base = row * PLINKS;
  const prev = links[order * LINKS + LIST_PREV]!;
  const next = links[order * LINKS + LIST_NEXT]!;
  const head = base + listHead(isStop, side);
  if (prev === NONE) plinks[head] = next;
  else links[prev * LINKS + LIST_NEXT] = next;
  if (next === NONE) plinks[head + 1] = prev;
  else links[next * LINKS + LIST_PREV] = prev;
  if (plinks[base + PLINK.FRONTIER] === order) plinks[base + PLINK.FRONTIER] = next;
  market.positions.given[row] = market.positions.given[row]! - data[at + ORDER.CLOSING]!;
  if (data[at + ORDER.REDUCE_ONLY] !== 0) {
    const counter = base + (side === LONG ? PLINK.REDUCE_ONLY_LONG : PLINK.REDUCE_ONLY_SHORT);
    plinks[counter] = plinks[counter]! - 1;
  }

  market.positions.table.touch(row);
  const position = market.positions.table.data;
  const p = row * POSITION_WORDS;
  position[p + POSITION.OPEN_ORDERS] = position[p + POSITION.OPEN_ORDERS]! - 1;
  position[p + POSITION.PENDING_NOTIONAL] =
    position[p + POSITION.PENDING_NOTIONAL]! - pendingNotional(market, data, at);
  changeReserve(s, market, order, 0, 0);
  s.orders.release(order);
}

/**
 * Sets what an order keeps in reserve for `openingLots`; the wallet pays or receives the
 * difference. The order and its position are touched already.
 */
export function changeReserve(
  s: VenueState,
  market: Market,
  order: number,
  openingLotsBeyond: number,
  reserve: number,
): void {
  const data = s.orders.table.data;
  const at = order * ORDER_WORDS;
  const delta = reserve - data[at + ORDER.RESERVE]!;
  const row = data[at + ORDER.POSITION]!;
  const p = row * POSITION_WORDS;
  const position = market.positions.table.data;
  const before = data[at + ORDER.OPENING_NOTIONAL]!;
  const notional = openingLotsBeyond * data[at + ORDER.PRICE]! * market.microsPerTickLot;
  if (notional !== before) {
    position[p + POSITION.RESTING_NOTIONAL] =
      position[p + POSITION.RESTING_NOTIONAL]! + notional - before;
    data[at + ORDER.OPENING_NOTIONAL] = notional;
  }
  if (delta === 0) return;
  data[at + ORDER.RESERVE] = reserve;
  position[p + POSITION.RESERVED] = position[p + POSITION.RESERVED]! + delta;
  s.add(GLOBAL.RESERVES, delta);
  s.addWallet(data[at + ORDER.ACCOUNT]!, -delta);
}

/** Offset of the list head in a position's links; its tail follows. */
export function listHead(isStop: boolean, side: Side): number {
  if (isStop) return PLINK.PENDING_HEAD;
  return side === LONG ? PLINK.LONG_HEAD : PLINK.SHORT_HEAD;
}

function pendingNotional(market: Market, data: Float64Array, at: number): number {
  if (data[at + ORDER.TYPE] !== STOP_ORDER || data[at + ORDER.REDUCE_ONLY] !== 0) return 0;
  return data[at + ORDER.REMAINING]! * data[at + ORDER.PRICE]! * market.microsPerTickLot;
}
