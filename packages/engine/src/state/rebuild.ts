/**
 * Makes every derived structure anew from the tables: book, stops, order lists, closing shares,
 * liquidation watches, dead-man's switches. Used after a restore and after a rollback.
 */
import type { Ladder } from "../book/ladder.js";
import { ladderOf, listOrder, queueOrder } from "../book/open-orders.js";
import { refreshWatch } from "../margin/watch.js";
import type { Market } from "./market.js";
import { LINKS, LIST_NEXT, NONE, ORDER, ORDER_WORDS } from "./orders.js";
import { PLINK, PLINKS, POSITION, POSITION_WORDS } from "./positions.js";
import { ACCOUNT, ACCOUNT_WORDS, type VenueState } from "./venue.js";

export function rebuildIndexes(s: VenueState): void {
  for (const market of s.markets) {
    for (const ladder of [market.bids, market.asks, market.longStops, market.shortStops]) {
      ladder.clear();
    }
    market.positions.reindex();
  }
  const data = s.orders.table.data;
  const queues = new Map<Ladder, number[]>();
  for (const order of s.orders.reindex()) {
    const at = order * ORDER_WORDS;
    const market = s.markets[data[at + ORDER.MARKET]!]!;
    data[at + ORDER.POSITION] = market.positions.rowOf(data[at + ORDER.ACCOUNT]!);
    listOrder(s, market, order);
    const ladder = ladderOf(s, market, order);
    const queue = queues.get(ladder);
    if (queue === undefined) queues.set(ladder, [order]);
    else queue.push(order);
    const row = data[at + ORDER.POSITION]!;
    market.positions.given[row] = market.positions.given[row]! + data[at + ORDER.CLOSING]!;
  }
  for (const [ladder, queue] of queues) fillLadder(s, ladder, queue);
  for (const market of s.markets) {
    for (let row = 0; row < market.positions.table.rows; row++) {
      findFrontier(s, market, row);
      refreshWatch(market, row);
    }
  }
  s.switches.clear();
  for (let account = 1; account < s.accounts.rows; account++) {
    const cancelAt = s.accounts.data[account * ACCOUNT_WORDS + ACCOUNT.CANCEL_AT]!;
    if (cancelAt !== 0) s.switches.push(cancelAt, account);
  }
}

/** Worst price first, so that every level is appended; the sort keeps ids in order. */
function fillLadder(s: VenueState, ladder: Ladder, queue: number[]): void {
  const data = s.orders.table.data;
  const price = (order: number): number => data[order * ORDER_WORDS + ORDER.PRICE]!;
  queue.sort((a, b) => ladder.sign * (price(a) - price(b)));
  for (const order of queue) queueOrder(s, ladder, order);
}

/** Where covered lots end in the list of the side that closes the position. */
function findFrontier(s: VenueState, market: Market, row: number): void {
  const { links, table } = market.positions;
  const base = row * PLINKS;
  const lots = table.data[row * POSITION_WORDS + POSITION.LOTS]!;
  links[base + PLINK.CLOSING_SIDE] = lots > 0 ? -1 : lots < 0 ? 1 : 0;
  links[base + PLINK.FRONTIER] = NONE;
  if (lots === 0) return;
  let order = links[base + (lots > 0 ? PLINK.SHORT_HEAD : PLINK.LONG_HEAD)]!;
  const data = s.orders.table.data;
  while (order !== NONE) {
    const at = order * ORDER_WORDS;
    if (data[at + ORDER.CLOSING]! < data[at + ORDER.REMAINING]!) break;
    order = s.orders.links[order * LINKS + LIST_NEXT]!;
  }
  links[base + PLINK.FRONTIER] = order;
}
