/**
 * "Market controls": reduce-only, halt, resume and settle, a bounded part in the command itself and
 * in every tick after it.
 */
import type { ControlMarket } from "../../commands.js";
import {
  CONTROL_CANCELS_PER_COMMAND,
  CONTROL_VISITS_PER_COMMAND,
  SETTLEMENTS_PER_COMMAND,
} from "../../config.js";
import { END } from "../../reasons.js";
import { emit, settleEvents, touch } from "./end-events.js";
import { settleFunding } from "./funding.js";
import { abs, floorDiv, max, min, num } from "./integers.js";
import { unitOf } from "./margin.js";
import { type Refused, refused } from "./refusal.js";
import { endOrders, settle } from "./settle.js";
import {
  accountOf,
  type Market,
  type Position,
  positionOf,
  type Settlement,
  type State,
} from "./state.js";

const STATUSES: readonly Market["status"][] = [
  "active",
  "reduceOnly",
  "halted",
  "settling",
  "settled",
];

interface Budget {
  orders: number;
  positions: number;
  visits: number;
}

function newBudget(): Budget {
  return {
    orders: CONTROL_CANCELS_PER_COMMAND,
    positions: SETTLEMENTS_PER_COMMAND,
    visits: CONTROL_VISITS_PER_COMMAND,
  };
}

export function controlMarket(state: State, command: ControlMarket): Refused | null {
  const market = state.markets[command.market];
  if (market === undefined) return refused("market_unknown");
  if (market.settlement !== null) return refused("market_settled");
  const price = command.priceTicks;
  if (command.action === "settle" && !canSettleAt(state, market, price)) {
    return refused("invalid_command");
  }
  const before = { fund: state.fund, fees: state.fees };
  market.sweep = null;
  const isTakenUp = command.action === "resume" || command.action === "reduceOnly";
  // Nothing is liquidated or triggered before a fresh index.
  if (market.status === "halted" && isTakenUp) market.awaits = state.time;
  switch (command.action) {
    case "halt":
      become(state, market, "halted");
      break;
    case "resume":
      become(state, market, "active");
      break;
    case "reduceOnly":
      become(state, market, "reduceOnly");
      market.sweep = { phase: "reduce", account: 1 };
      break;
    case "settle":
      become(state, market, "settling");
      market.settlement = { price: BigInt(price), lots: 0n, pool: 0n, gains: 0n, payout: 0n };
      market.sweep = { phase: "cancel", account: 1 };
  }
  sweep(state, market, newBudget());
  settleEvents(state, before);
  return null;
}

/** A whole price ≥ 1 at which the value of all longs is a safe integer. */
function canSettleAt(state: State, market: Market, price: number): boolean {
  if (!Number.isSafeInteger(price) || price < 1) return false;
  let longs = max(0n, market.backstop.lots);
  for (const { number } of state.accounts) {
    longs += max(0n, positionOf(state, number, market.number).lots);
  }
  return longs * BigInt(price) * unitOf(market) <= BigInt(Number.MAX_SAFE_INTEGER);
}

/** "Tick": goes on with the controls of all markets, in listing order. */
export function sweepMarkets(state: State): void {
  const budget = newBudget();
  for (const market of state.markets) sweep(state, market, budget);
}

function become(state: State, market: Market, status: Market["status"]): void {
  market.status = status;
  emit(state, {
    kind: "MarketStatusChanged",
    market: market.number,
    status: STATUSES.indexOf(status),
  });
}

function sweep(state: State, market: Market, budget: Budget): void {
  const isSpent = (): boolean => budget.orders <= 0 || budget.positions <= 0 || budget.visits <= 0;
  while (market.sweep !== null) {
    const at = market.sweep;
    while (at.account <= state.accounts.length && !isSpent()) {
      budget.visits -= 1;
      visit(state, market, at.phase, positionOf(state, at.account, market.number), budget);
      at.account += 1;
    }
    if (at.account <= state.accounts.length) return;
    market.sweep = nextPhase(state, market, at.phase);
  }
}

type Phase = NonNullable<Market["sweep"]>["phase"];

function visit(
  state: State,
  market: Market,
  phase: Phase,
  position: Position,
  budget: Budget,
): void {
  if (phase === "reduce" || phase === "cancel") {
    budget.orders -= position.orders.length;
    if (phase === "cancel") endOrders(state, position.orders, END.market_settled);
    else if (position.orders.length > 0) settle(state, position.account, market.number);
    return;
  }
  if (position.lots === 0n || market.settlement === null) return;
  budget.positions -= 1;
  const { settlement } = market;
  if (phase === "losers") settleFunding(state, position);
  const pnl = position.lots * settlement.price * unitOf(market) - position.cost;
  if (phase === "winners") {
    const { gains, payout } = settlement;
    close(state, market, settlement, position, gains === 0n ? 0n : floorDiv(pnl * payout, gains));
  } else if (pnl < 0n) {
    close(state, market, settlement, position, pnl);
  } else {
    settlement.gains += pnl;
  }
}

/** The owner gets the margin and what is granted, but never owes more than the margin. */
function close(
  state: State,
  market: Market,
  settlement: Settlement,
  position: Position,
  granted: bigint,
): void {
  const { lots, margin } = position;
  const pnl = lots * settlement.price * unitOf(market) - position.cost;
  touch(state, position);
  const paid = max(0n, margin + granted);
  accountOf(state, position.account).wallet += paid;
  position.realized += paid - margin;
  position.lots = 0n;
  position.cost = 0n;
  position.margin = 0n;
  settlement.lots += lots;
  settlement.pool += margin + pnl - paid;
  emit(state, {
    kind: "CashSettled",
    account: position.account,
    market: market.number,
    lots: num(lots),
    priceTicks: num(settlement.price),
    pnlMicros: num(pnl),
    paidMicros: num(paid),
    marginMicros: num(margin),
  });
}

function nextPhase(state: State, market: Market, phase: Phase): Market["sweep"] {
  const { settlement } = market;
  if (settlement === null || phase === "reduce") return null;
  if (phase === "cancel") return { phase: "losers", account: 1 };
  if (phase === "losers") {
    // The backstop settles against the fund; then the fund pays what is lacking, while above zero.
    const { lots, cost } = market.backstop;
    const pnl = lots * settlement.price * unitOf(market) - cost;
    settlement.lots += lots;
    market.backstop = { lots: 0n, cost: 0n };
    if (pnl > 0n) state.fund += pnl;
    else settlement.pool += pnl;
    const help = min(abs(settlement.pool), max(0n, state.fund));
    state.fund -= help;
    settlement.pool += help;
    settlement.payout = max(0n, settlement.gains + settlement.pool);
    return { phase: "winners", account: 1 };
  }
  state.fund += settlement.pool;
  settlement.pool = 0n;
  become(state, market, "settled");
  return null;
}
