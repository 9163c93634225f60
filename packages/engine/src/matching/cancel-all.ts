/** Ends many open orders of an account: by request, by its dead-man's switch, by a lost connection. */
import { endOrder, openOrdersOf } from "../margin/settle.js";
import { NONE, ORDER, ORDER_WORDS } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";

/** Cancels all open orders of an account, in one market or (−1) all; answers how many. */
export function cancelAll(
  s: VenueState,
  account: number,
  onlyMarket: number,
  reason: number,
): number {
  const ids = openOrderIds(
    s,
    account,
    (at) => onlyMarket < 0 || s.orders.table.data[at + ORDER.MARKET] === onlyMarket,
  );
  return endOrders(s, ids, reason);
}

/** Ids of the account's open orders that are meant, ascending; asked where their words begin. */
export function openOrderIds(
  s: VenueState,
  account: number,
  isMeant: (at: number) => boolean,
): number[] {
  const ids: number[] = [];
  for (const market of s.markets) {
    const row = market.positions.rowOf(account);
    if (row === NONE) continue;
    for (const order of openOrdersOf(s, market, row)) {
      const at = order * ORDER_WORDS;
      if (isMeant(at)) ids.push(s.orders.table.data[at + ORDER.ID]!);
    }
  }
  return ids.sort((a, b) => a - b);
}

/** Ends those that are still open when their turn comes; answers how many. */
export function endOrders(s: VenueState, ids: readonly number[], reason: number): number {
  let ended = 0;
  // Ending one order can end others (a reduce-only one, say): they are gone by their turn.
  for (const id of ids) if (endIfOpen(s, id, reason)) ended++;
  return ended;
}

/** Ends the order unless it is gone; answers whether it did. */
export function endIfOpen(s: VenueState, id: number, reason: number): boolean {
  const order = s.orders.index.get(id);
  if (order === NONE) return false;
  const market = s.markets[s.orders.table.data[order * ORDER_WORDS + ORDER.MARKET]!]!;
  s.focus = market.number;
  endOrder(s, market, order, reason);
  return true;
}
