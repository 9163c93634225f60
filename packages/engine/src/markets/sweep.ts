/**
 * The work of a market control, account by account in ascending number, a bounded part in the command
 * itself and in each tick after it:
 *
 *   REDUCE     settles the accounts with open orders, which cancels what would open
 *   CANCEL     ends all open orders
 *   LOSERS     settles the positions that lost; then the fund pays what they lack
 *   WINNERS    settles all others; then the market is settled
 */
import {
  CONTROL_CANCELS_PER_COMMAND,
  CONTROL_VISITS_PER_COMMAND,
  SETTLEMENTS_PER_COMMAND,
} from "../config.js";
import { emit } from "../events/event-log.js";
import { idsOf, openOrdersOf } from "../orders/open-orders.js";
import { endOrders, settle } from "../orders/settle.js";
import { END } from "../reasons.js";
import {
  MARKET_REDUCE_ONLY,
  MARKET_SETTLED,
  MARKET_SETTLING,
  type Market,
} from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { concludeSettlement, fundSettlement, settleLoser, settleWinner } from "./settlement.js";

export const SWEEP_REDUCE = 1;
export const SWEEP_CANCEL = 2;
const SWEEP_LOSERS = 3;
const SWEEP_WINNERS = 4;

/** What is left of a command's work, over all markets. */
class SweepBudget {
  orders = CONTROL_CANCELS_PER_COMMAND;
  positions = SETTLEMENTS_PER_COMMAND;
  visits = CONTROL_VISITS_PER_COMMAND;

  get isSpent(): boolean {
    return this.orders <= 0 || this.positions <= 0 || this.visits <= 0;
  }
}

/** Continues the controls of all markets. */
export function sweepMarkets(s: VenueState): void {
  let budget: SweepBudget | null = null;
  for (const market of s.markets) {
    if (market.sweepAccount === 0) continue;
    budget ??= new SweepBudget();
    sweep(s, market, budget);
  }
}

export function beginSweep(s: VenueState, market: Market, phase: number): void {
  market.sweepPhase = phase;
  market.sweepAccount = 1;
  // A settlement that continues visits the winners again.
  if (phase === SWEEP_LOSERS) market.settlementGains = 0;
  sweep(s, market, new SweepBudget());
}

/** A market that an invariant has halted meanwhile stays as it is. */
function sweep(s: VenueState, market: Market, budget: SweepBudget): void {
  s.focus = market.number;
  while (market.status === MARKET_REDUCE_ONLY || market.status === MARKET_SETTLING) {
    let account = market.sweepAccount;
    if (account === 0) return;
    for (; account < s.accounts.rows && !budget.isSpent; account++) {
      budget.visits--;
      const row = market.positions.rowOf(account);
      if (row !== NONE) visit(s, market, row, budget);
    }
    market.sweepAccount = account;
    if (account < s.accounts.rows) return;
    nextPhase(s, market);
  }
}

function visit(s: VenueState, market: Market, row: number, budget: SweepBudget): void {
  const { positions } = market;
  const orders = positions.openOrders(row);
  if (market.sweepPhase === SWEEP_REDUCE) {
    if (orders === 0) return;
    budget.orders -= orders;
    settle(s, market, row);
  } else if (market.sweepPhase === SWEEP_CANCEL) {
    budget.orders -= orders;
    endOrders(s, idsOf(s.orders, openOrdersOf(s, market, row)), END.market_settled);
  } else if (positions.lots(row) !== 0) {
    budget.positions--;
    if (market.sweepPhase === SWEEP_LOSERS) settleLoser(s, market, row);
    else settleWinner(s, market, row);
  }
}

function nextPhase(s: VenueState, market: Market): void {
  market.sweepAccount = 1;
  if (market.sweepPhase === SWEEP_CANCEL) {
    market.sweepPhase = SWEEP_LOSERS;
  } else if (market.sweepPhase === SWEEP_LOSERS) {
    fundSettlement(s, market);
    market.sweepPhase = SWEEP_WINNERS;
  } else {
    if (market.sweepPhase === SWEEP_WINNERS) {
      concludeSettlement(s, market);
      setStatus(s, market, MARKET_SETTLED);
    }
    market.sweepAccount = 0;
    market.sweepPhase = 0;
  }
}

export function setStatus(s: VenueState, market: Market, status: number): void {
  market.status = status;
  emit.MarketStatusChanged(s.events, { market: market.number, status });
}
