/** Ends all open orders of an account: by request, or when its dead-man's switch fires. */
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
  const ids: number[] = [];
  for (const market of s.markets) {
    if (onlyMarket >= 0 && market.number !== onlyMarket) continue;
    const row = market.positions.rowOf(account);
    if (row === NONE) continue;
    for (const order of openOrdersOf(s, market, row)) {
      ids.push(s.orders.table.data[order * ORDER_WORDS + ORDER.ID]!);
    }
  }
  ids.sort((a, b) => a - b);
  let canceled = 0;
  for (const id of ids) {
    // Ending one order can end others (a reduce-only one, say): they are gone by their turn.
    const order = s.orders.index.get(id);
    if (order === NONE) continue;
    const market = s.markets[s.orders.table.data[order * ORDER_WORDS + ORDER.MARKET]!]!;
    s.focus = market.number;
    endOrder(s, market, order, reason);
    canceled++;
  }
  return canceled;
}
