/** Finds the positions that are due and liquidates them, those left over from before first. */
import { isDue, liquidate } from "../liquidation/liquidate.js";
import { refreshWatches } from "../margin/watch.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import { POSITION_WORDS } from "../state/positions.js";
import type { VenueState } from "../state/venue.js";
import type { WorkBudget } from "./work-budget.js";

export function runLiquidations(s: VenueState, budget: WorkBudget): void {
  refreshWatches(s);
  const queue = [...s.carriedLiquidations];
  const carried = new Set<string>();
  for (let i = 0; i < queue.length; i += 2) carried.add(`${queue[i]} ${queue[i + 1]}`);
  for (const market of s.markets) {
    if (market.halted || s.indexIsStale(market)) continue;
    s.focus = market.number;
    for (const account of accountsDue(market)) {
      if (carried.size > 0 && carried.has(`${market.number} ${account}`)) continue;
      queue.push(market.number, account);
    }
  }
  let next = 0;
  for (; next < queue.length; next += 2) {
    const market = s.markets[queue[next]!]!;
    if (market.halted || s.indexIsStale(market)) continue;
    s.focus = market.number;
    const row = market.positions.rowOf(queue[next + 1]!);
    if (row === NONE || !isDue(market, row)) continue;
    if (!budget.take()) break;
    liquidate(s, market, row);
  }
  s.carriedLiquidations = next < queue.length ? queue.slice(next) : [];
}

/** Accounts whose equity is at or below maintenance, ascending. */
export function accountsDue(market: Market): number[] {
  const { watch, table } = market.positions;
  const { mark } = market;
  const accounts: number[] = [];
  const rows = table.rows;
  for (let row = 0; row < rows; row++) {
    const at = watch[row]!;
    if (at > 0 ? mark > at : at === 0 || mark < -at) continue;
    if (isDue(market, row)) accounts.push(table.data[row * POSITION_WORDS]!);
  }
  return accounts.sort((a, b) => a - b);
}
