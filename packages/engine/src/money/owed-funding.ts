/**
 * Funding of one position. Each hour adds to the market's cumulative funding, in micros per lot; a
 * position owes its lots × what was added since it last settled. It settles before a command first
 * changes its lots, cost or margin.
 *
 * Settling does not change equity: the payment leaves the margin, and what the margin does not cover
 * raises the cost. So it makes no difference when a position settles, and a debt is part of its
 * bankruptcy price. If settling could leave a debt to the fund instead, a ring would let a debt grow
 * on an untouched position and shed it in a price gap, outside the fund's budget.
 */
import { assertSafe, mulDivCeil, mulDivFloor, mulExact } from "@perpgate/protocol/integers";
import { RATE_SCALE } from "../config.js";
import { emit } from "../events/event-log.js";
import type { Market } from "../state/market.js";
import type { VenueTables } from "../state/venue-tables.js";

/** What the position owes, in micros; negative: what it is due. */
export function fundingOwed(market: Market, row: number): number {
  const { positions } = market;
  const micros = market.cumulativeFunding - positions.settledFunding(row);
  const billionths = market.cumulativeFundingBillionths - positions.settledFundingBillionths(row);
  if (micros === 0 && billionths === 0) return 0;
  return fundingOf(positions.lots(row), micros, billionths);
}

/** ⌈lots × (micros + billionths / 10^9)⌉: up for a payer, down for a receiver. */
export function fundingOf(lots: number, micros: number, billionths: number): number {
  const whole = mulExact(lots, billionths < 0 ? micros - 1 : micros);
  const rest = billionths < 0 ? billionths + RATE_SCALE : billionths;
  const part =
    lots > 0 ? mulDivCeil(lots, rest, RATE_SCALE) : 0 - mulDivFloor(-lots, rest, RATE_SCALE);
  return assertSafe(whole + part) + 0;
}

/** Settles the position's funding, and touches its row if any has accrued since the last time. */
export function settleFunding(s: VenueTables, market: Market, row: number): void {
  const { positions } = market;
  const micros = market.cumulativeFunding;
  const billionths = market.cumulativeFundingBillionths;
  if (
    positions.settledFunding(row) === micros &&
    positions.settledFundingBillionths(row) === billionths
  ) {
    return;
  }
  const owed = fundingOwed(market, row);
  positions.table.touch(row);
  positions.setSettledFunding(row, micros, billionths);
  if (owed !== 0) pay(s, market, row, owed);
}

function pay(s: VenueTables, market: Market, row: number, owed: number): void {
  const { positions } = market;
  const fromMargin = Math.min(owed, Math.max(0, positions.margin(row)));
  const fromCost = Math.min(owed - fromMargin, costRoom(market, row));
  const shortfall = owed - fromMargin - fromCost;
  s.addMargin(market, row, -fromMargin);
  if (fromCost !== 0) s.addCost(market, row, fromCost);
  s.totals.fundingPool += owed;
  s.totals.fund -= shortfall;
  positions.addFunding(row, owed - shortfall);
  const account = positions.account(row);
  emit.FundingSettled(s.events, {
    account,
    market: market.number,
    amountMicros: owed - shortfall,
    marginMicros: -fromMargin,
  });
  if (shortfall > 0) {
    emit.LossSocialised(s.events, { account, market: market.number, amountMicros: shortfall });
  }
}

/** By how much the cost may rise: a short's bankruptcy price must stay at one tick or above. */
function costRoom({ positions, microsPerTickLot }: Market, row: number): number {
  const lots = positions.lots(row);
  if (lots > 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, lots * microsPerTickLot - positions.cost(row));
}

/** The figures of a position as they are once its funding is settled. */
export interface SettledFigures {
  readonly costMicros: number;
  readonly marginMicros: number;
  readonly fundingMicros: number;
}

export function settledFigures(market: Market, row: number): SettledFigures {
  const { positions } = market;
  const owed = fundingOwed(market, row);
  const fromMargin = Math.min(owed, Math.max(0, positions.margin(row)));
  const fromCost = Math.min(owed - fromMargin, costRoom(market, row));
  return {
    costMicros: positions.cost(row) + fromCost,
    marginMicros: positions.margin(row) - fromMargin,
    fundingMicros: positions.funding(row) + fromMargin + fromCost,
  };
}
