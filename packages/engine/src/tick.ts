/**
 * The work that time brings, in phases: cancels carried over, expiries, mark, funding, liquidations, the
 * backstop, stops, timers. Within each phase markets go in listing order. From version 3 on a phase leaves
 * units to those after it, and liquidations and stops go on at the end with what is left.
 */
import { HOUR_MS } from "./config.js";
import { emit } from "./events/event-log.js";
import { sweepMarkets } from "./markets/sweep.js";
import { sampleFund } from "./money/fund-budget.js";
import { applyFunding, forgetSamples, samplePremium } from "./money/funding.js";
import { shedBackstop } from "./money/hand-over.js";
import {
  beginLiquidations,
  endLiquidations,
  forgetParts,
  reduceBackstop,
  runLiquidations,
} from "./money/liquidate.js";
import { recomputeMark } from "./money/mark.js";
import { advanceWatches } from "./money/watch.js";
import { expireOrders, fireSwitches } from "./orders/cancel.js";
import { endInRounds } from "./orders/over.js";
import { endStops, runStops } from "./orders/stops.js";
import {
  cancelCarriedOver,
  cancelOfExpiring,
  DisconnectBudget,
  listExpiring,
} from "./sessions/disconnect.js";
import { MARKET_HALTED } from "./state/market.js";
import type { VenueState } from "./state/venue.js";
import { WorkBudget } from "./work-budget.js";
import { carryOverOfLeader } from "./writers/leader.js";
import { carryOverOfGone } from "./writers/life.js";

/** The part of a tick that can break an invariant; the rest follows after their check. */
export function runTick(s: VenueState): void {
  const budget = new WorkBudget(s.rules.liquidationsAndStopsPerCommand);
  const disconnects = new DisconnectBudget();
  beginLiquidations(s, budget);
  // First, because their owners are gone: these orders must not be filled any more.
  carryOverOfGone(s);
  carryOverOfLeader(s);
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
  const share = fairShare(s);
  allot(s, (3 * share) / 8);
  while (s.totals.nextFundingMs <= s.timeMs) {
    const hourEndMs = s.totals.nextFundingMs;
    for (const market of s.markets) {
      if (!market.halted) applyFunding(s, market, hourEndMs);
      else if (market.status === MARKET_HALTED) forgetSamples(market);
    }
    s.totals.nextFundingMs += HOUR_MS;
    runLiquidations(s);
  }
  runLiquidations(s);
  allot(s, share / 2);
  for (const market of s.markets) {
    if (!s.isLive(market)) continue;
    reduceBackstop(s, market);
    shedBackstop(s, market);
  }
  allot(s, share);
  runStops(s, budget);
  if (s.rules.takesTurns) {
    allot(s, s.rules.unitsPerTickAndMarket);
    endLiquidations(s);
    endStops(s);
  }
  forgetParts(s);
  if (s.rules.endsInRounds) return;
  fireSwitches(s);
  cancelOfExpiring(s, disconnects);
}

/**
 * Units of the tick that are each market's own: its service does not depend on what is met in others. The
 * liquidations of a market leave some of them to its stops; what nobody has used by then is shared.
 */
function fairShare({ scratch, markets, rules }: VenueState): number {
  return Math.min(rules.unitsPerTickAndMarket, scratch.work.leftInAll / markets.length);
}

function allot({ scratch, rules }: VenueState, units: number): void {
  if (rules.takesTurns) scratch.work.allot(Math.floor(units));
}
