/**
 * The work that time brings, in phases: mark, funding, liquidations, the backstop, stops, timers.
 * Inside each phase markets go in listing order.
 */
import { HOUR_MS } from "../config.js";
import { EVENT } from "../event-log.js";
import { applyFunding } from "../funding/funding.js";
import { samplePremium } from "../funding/premium.js";
import { endOrder, openOrdersOf } from "../margin/settle.js";
import { remark } from "../mark/mark.js";
import { END } from "../reasons.js";
import { NONE, ORDER, ORDER_WORDS } from "../state/orders.js";
import { ACCOUNT, ACCOUNT_WORDS, GLOBAL, type VenueState } from "../state/venue.js";
import { reduceBackstop } from "./backstop.js";
import { runLiquidations } from "./liquidations.js";
import { runStops } from "./stops.js";
import { WorkBudget } from "./work-budget.js";

/** Everything in a tick that can touch margin; the rest follows once it has held. */
export function runTick(s: VenueState): void {
  const budget = new WorkBudget();
  for (const market of s.markets) {
    if (market.halted || s.indexIsStale(market)) continue;
    s.focus = market.number;
    if (remark(market, s.timeMs)) s.events.emit(EVENT.MarkChanged, market.number, market.mark);
    samplePremium(market);
  }
  while (s.global(GLOBAL.NEXT_FUNDING) <= s.timeMs) {
    const hourEnd = s.global(GLOBAL.NEXT_FUNDING);
    for (const market of s.markets) if (!market.halted) applyFunding(s, market, hourEnd);
    s.add(GLOBAL.NEXT_FUNDING, HOUR_MS);
    runLiquidations(s, budget);
  }
  runLiquidations(s, budget);
  for (const market of s.markets) {
    if (!market.halted && !s.indexIsStale(market)) reduceBackstop(s, market);
  }
  runStops(s, budget);
  fireSwitches(s);
}

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

/** Dead-man's switches that are due. */
function fireSwitches(s: VenueState): void {
  while (s.switches.nextTime() <= s.timeMs) {
    const due = s.switches.nextTime();
    const account = s.switches.pop();
    const at = account * ACCOUNT_WORDS + ACCOUNT.CANCEL_AT;
    if (s.accounts.data[at] !== due) continue;
    s.accounts.touch(account);
    s.accounts.data[at] = 0;
    s.events.emit(EVENT.CancelAfterFired, account);
    cancelAll(s, account, -1, END.cancel_after);
  }
}
