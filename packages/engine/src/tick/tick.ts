/**
 * The work that time brings, in phases: cancels carried over, mark, funding, liquidations, the
 * backstop, stops, timers. Inside each phase markets go in listing order.
 */
import {
  DISCONNECT_CANCELS_PER_COMMAND,
  HOUR_MS,
  LIQUIDATIONS_AND_STOPS_PER_COMMAND,
} from "../config.js";
import { EVENT } from "../event-log.js";
import { applyFunding } from "../funding/funding.js";
import { samplePremium } from "../funding/premium.js";
import { remark } from "../mark/mark.js";
import { cancelAll } from "../matching/cancel-all.js";
import { END } from "../reasons.js";
import { cancelCarriedOver, cancelOfExpiring } from "../sessions/disconnect.js";
import { ACCOUNT, ACCOUNT_WORDS, GLOBAL, type VenueState } from "../state/venue.js";
import { reduceBackstop } from "./backstop.js";
import { runLiquidations } from "./liquidations.js";
import { runStops } from "./stops.js";
import { WorkBudget } from "./work-budget.js";

/** Everything in a tick that can touch margin; the rest follows once it has held. */
export function runTick(s: VenueState): void {
  const budget = new WorkBudget(LIQUIDATIONS_AND_STOPS_PER_COMMAND);
  const disconnects = new WorkBudget(DISCONNECT_CANCELS_PER_COMMAND);
  // First of all, since their owners are gone: nothing of them may be filled any more.
  cancelCarriedOver(s, disconnects);
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
  cancelOfExpiring(s, disconnects);
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
