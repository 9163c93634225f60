/**
 * The work that time brings, in phases: cancels carried over, expiries, mark, funding, liquidations, the
 * backstop, stops, timers. Within each phase markets go in listing order.
 */
import { HOUR_MS } from "./config.js";
import { emit } from "./events/event-log.js";
import { sweepMarkets } from "./markets/sweep.js";
import { sampleFund } from "./money/fund-budget.js";
import { applyFunding, forgetSamples, samplePremium } from "./money/funding.js";
import { shedBackstop } from "./money/hand-over.js";
import { reduceBackstop, runLiquidations } from "./money/liquidate.js";
import { recomputeMark } from "./money/mark.js";
import { advanceWatches } from "./money/watch.js";
import { expireOrders, fireSwitches } from "./orders/cancel.js";
import { endInRounds } from "./orders/over.js";
import { runStops } from "./orders/stops.js";
import {
  cancelCarriedOver,
  cancelOfExpiring,
  DisconnectBudget,
  listExpiring,
} from "./sessions/disconnect.js";
import { MARKET_HALTED } from "./state/market.js";
import type { VenueState } from "./state/venue.js";
import { WorkBudget } from "./work-budget.js";
import { carryOverOfGone } from "./writers/life.js";

/** The part of a tick that can break an invariant; the rest follows after their check. */
export function runTick(s: VenueState): void {
  const budget = new WorkBudget(s.rules.liquidationsAndStopsPerCommand);
  const disconnects = new DisconnectBudget();
  // First, because their owners are gone: these orders must not be filled any more.
  carryOverOfGone(s);
  if (s.rules.endsInRounds) {
    listExpiring(s);
    endInRounds(s);
    sweepMarkets(s);
  } else {
    cancelCarriedOver(s, disconnects);
    sweepMarkets(s);
    expireOrders(s);
  }
  for (const market of s.markets) {
    if (!s.isLive(market)) continue;
    s.focus = market.number;
    if (recomputeMark(s, market)) {
      emit.MarkChanged(s.events, { market: market.number, markTicks: market.mark });
    }
    samplePremium(s, market);
    advanceWatches(market);
  }
  sampleFund(s);
  while (s.totals.nextFundingMs <= s.timeMs) {
    const hourEndMs = s.totals.nextFundingMs;
    for (const market of s.markets) {
      if (!market.halted) applyFunding(s, market, hourEndMs);
      else if (market.status === MARKET_HALTED) forgetSamples(market);
    }
    s.totals.nextFundingMs += HOUR_MS;
    runLiquidations(s, budget);
  }
  runLiquidations(s, budget);
  for (const market of s.markets) {
    if (!s.isLive(market)) continue;
    reduceBackstop(s, market);
    shedBackstop(s, market);
  }
  runStops(s, budget);
  if (s.rules.endsInRounds) return;
  fireSwitches(s);
  cancelOfExpiring(s, disconnects);
}
