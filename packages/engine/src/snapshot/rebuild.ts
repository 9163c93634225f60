/**
 * Rebuilds every derived structure from the tables: book, stops, order lists, covered lots,
 * liquidation watches, dead-man's switches. Runs after a restore and after a rollback.
 */
import { STOP_TRIGGER, TAKE_PROFIT_TRIGGER } from "../commands.js";
import { rebuildWatches } from "../money/watch.js";
import { lineOf } from "../orders/line-of-stop.js";
import {
  awaitLots,
  enterLine,
  enterTriggered,
  isExit,
  isOutside,
  isTriggered,
  listOrder,
  queueOrder,
  stopsOf,
  triggerOf,
} from "../orders/open-orders.js";
import { reachOf, replayReaches } from "../orders/stops.js";
import type { Ladder } from "../state/ladder.js";
import type { Market } from "../state/market.js";
import { NONE, type OrderStore } from "../state/orders.js";
import { LONG_LIST, SHORT_LIST } from "../state/positions.js";
import { STOP_LINES } from "../state/stop-lines.js";
import type { VenueState } from "../state/venue.js";

export function rebuildIndexes(s: VenueState): void {
  for (const market of s.markets) {
    for (const book of [market.bids, market.asks, ...market.stopBooks]) book.clear();
    market.stopLines.clear();
    market.positions.reindex();
  }
  s.orders.reindex();
  if (s.rules.endsInRounds) s.ends.reindex(s.carriedDisconnects);
  const queues = new Map<Ladder, number[]>();
  const stops: number[] = [];
  for (const order of s.orders.rowsByRank()) {
    const market = s.markets[s.orders.market(order)]!;
    const row = market.positions.rowOf(s.orders.account(order));
    s.orders.setPosition(order, row);
    listOrder(s, market, order);
    if (s.orders.isStop(order)) {
      stops.push(order);
      continue;
    }
    const ladder = market.ladder(s.orders.side(order));
    const queue = queues.get(ladder);
    if (queue === undefined) queues.set(ladder, [order]);
    else queue.push(order);
    market.positions.addCovered(row, s.orders.closing(order));
  }
  enterStops(s, stops);
  rebuildExits(s);
  for (const [ladder, queue] of queues) fillLadder(s, ladder, queue);
  for (const market of s.markets) {
    for (let row = 0; row < market.positions.table.rows; row++) findFrontier(s, market, row);
    rebuildWatches(market);
    market.recountSteep();
  }
  s.switches.clear();
  for (let account = 1; account < s.accounts.rows; account++) {
    const cancelAtMs = s.cancelAtMs(account);
    if (cancelAtMs !== 0) s.switches.set(account, cancelAtMs);
  }
}

/** The pairs of exits, ascending id: each is the newest of its position when it is listed. */
function rebuildExits({ orders, exits, markets }: VenueState): void {
  exits.clear();
  for (const order of orders.openRows()) {
    if (!isExit(orders, order)) continue;
    const { positions } = markets[orders.market(order)]!;
    exits.list(exits.add(order), positions, orders.position(order));
  }
}

/** Adds stops, ascending rank, to where their prices and the ticks that reached them put them. */
function enterStops(s: VenueState, stops: readonly number[]): void {
  if (!s.rules.stopLines) {
    for (const order of stops) enterStop(s, s.markets[s.orders.market(order)]!, order);
    return;
  }
  const isNew = (order: number): boolean => !isTriggered(s.orders, order);
  for (const order of stops) {
    if (!isNew(order)) enterStop(s, s.markets[s.orders.market(order)]!, order);
  }
  const waiting = stops.filter(isNew);
  for (const order of waiting) checkLine(s.orders, order);
  replayReaches(s, waiting);
}

/** @throws RangeError for a stop whose line or trigger does not exist. */
function checkLine(orders: OrderStore, order: number): void {
  const line = orders.line(order);
  if (isOutside(orders, order)) return;
  const trigger = triggerOf(orders, order);
  const isTrigger = trigger === STOP_TRIGGER || trigger === TAKE_PROFIT_TRIGGER;
  if (Number.isInteger(line) && line >= 0 && line < STOP_LINES && isTrigger) return;
  throw new RangeError(`stop ${orders.id(order)} waits in line ${line}, trigger ${trigger}`);
}

/** From version 2 to 3: lets stops wait in lines. One pass over all of them. */
export function lineUpStops(s: VenueState): void {
  const { orders } = s;
  const stops = orders.rowsByRank().filter((order) => orders.isStop(order));
  const others = new Map<string, number>();
  for (const { stopBooks } of s.markets) for (const book of stopBooks) book.clear();
  for (const order of stops) {
    const market = s.markets[orders.market(order)]!;
    const key = `${market.number} ${orders.account(order)}`;
    const count = others.get(key) ?? 0;
    if (isTriggered(orders, order)) {
      enterTriggered(s, market, order);
      continue;
    }
    others.set(key, count + 1);
    orders.table.touch(order);
    orders.setLine(order, lineOf(s, market, order, count));
  }
  replayReaches(
    s,
    stops.filter((order) => !isTriggered(orders, order)),
  );
}

/** Adds a stop to where its price and the ticks that reached it put it. */
export function enterStop(s: VenueState, market: Market, order: number): void {
  if (isExit(s.orders, order) && s.orders.remaining(order) === 0) {
    awaitLots(s, order);
    return;
  }
  if (isTriggered(s.orders, order)) {
    enterTriggered(s, market, order);
    if (!s.rules.fixesTriggeredLots) return;
    const row = s.orders.position(order);
    market.positions.setTriggeredStop(row, triggerOf(s.orders, order), order);
    return;
  }
  if (s.rules.stopLines) {
    enterLine(s, market, order);
    return;
  }
  const stops = stopsOf(s, market, order);
  const reachedAt = reachOf(s, order);
  if (reachedAt === 0) stops.add(order);
  else stops.addReached(order, reachedAt);
}

/** Worst price first, so that every level is appended; the stable sort keeps ranks in order. */
function fillLadder(s: VenueState, ladder: Ladder, queue: number[]): void {
  queue.sort((a, b) => ladder.sign * (s.orders.price(a) - s.orders.price(b)));
  for (const order of queue) queueOrder(s, ladder, order);
}

/** Finds where covered lots end in the list of the side that closes the position. */
function findFrontier({ orders }: VenueState, { positions }: Market, row: number): void {
  const lots = positions.lots(row);
  positions.setClosingSide(row, lots > 0 ? -1 : lots < 0 ? 1 : 0);
  positions.setFrontier(row, NONE);
  if (lots === 0) return;
  let order = positions.head(row, lots > 0 ? SHORT_LIST : LONG_LIST);
  while (order !== NONE && orders.closing(order) >= orders.remaining(order)) {
    order = orders.next(order);
  }
  positions.setFrontier(row, order);
}
