/**
 * Hourly funding: the side that pushes the price pays the other. Payers pay up to their equity, the
 * fund covers what they cannot, and only then are receivers scaled down; rounding stays in the fund.
 */
import { divCeil, mulDivCeil, mulDivFloor, mulDivTrunc } from "@perpgate/protocol/integers";
import { LONG, SHORT, type Side } from "../commands.js";
import {
  FUNDING_CAP_PER_HOUR,
  INTEREST_PER_8H,
  PREMIUM_CLAMP_PER_8H,
  RATE_SCALE,
} from "../config.js";
import { emit } from "../events/event-log.js";
import type { Ladder } from "../state/ladder.js";
import type { Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";
import { equityOf } from "./fill.js";
import { SUBTICKS } from "./mark.js";

/**
 * Adds one sample to the hour's average premium: how far from the index a position of the impact
 * notional could be opened. No sample if a side of the book is too thin.
 */
export function samplePremium(market: Market): void {
  const bid = impactSubticks(market, market.bids);
  if (bid === 0) return;
  const ask = impactSubticks(market, market.asks);
  if (ask === 0) return;
  const index = market.index * SUBTICKS;
  const gap = Math.max(0, bid - index) - Math.max(0, index - ask);
  market.premiumSum += mulDivTrunc(gap, RATE_SCALE, index);
  market.premiumCount += 1;
}

/** Average price of taking the impact notional from a side, or 0 if the side is too thin. */
function impactSubticks(market: Market, ladder: Ladder): number {
  const target = market.config.impactNotionalMicros;
  let notional = 0;
  let lots = 0;
  for (let i = 0; i < ladder.count && notional < target; i++) {
    const unit = ladder.ticksAt(i) * market.microsPerTickLot;
    const taken = Math.min(ladder.lotsAt(i), divCeil(target - notional, unit));
    notional += taken * unit;
    lots += taken;
  }
  if (notional < target) return 0;
  return mulDivFloor(notional, SUBTICKS, lots * market.microsPerTickLot);
}

/** The hour's rate in billionths, from the samples taken so far. */
export function fundingRate(market: Market): number {
  const count = market.premiumCount;
  if (count === 0) return 0;
  const premium = Math.trunc(market.premiumSum / count);
  const pull = clamp(INTEREST_PER_8H - premium, PREMIUM_CLAMP_PER_8H);
  // No hour takes more than half of the maintenance, so a liquidated position keeps the other half.
  const cap = Math.min(FUNDING_CAP_PER_HOUR, market.maintenance.lowestPpm * 500);
  return clamp(Math.trunc((premium + pull) / 8), cap) + 0;
}

export function applyFunding(s: VenueState, market: Market, hourEndMs: number): void {
  s.focus = market.number;
  // With a stale index no position can be liquidated, so no position may lose margin either.
  const rate = s.indexIsStale(market) ? 0 : fundingRate(market);
  market.premiumSum = 0;
  market.premiumCount = 0;
  let collected = 0;
  let paid = 0;
  if (rate !== 0) {
    const rows = market.positions.openRows();
    const payingSide = rate > 0 ? LONG : SHORT;
    const size = Math.abs(rate);
    const dues = rows.map((row) => due(market, row, payingSide, size));
    let wanted = 0;
    let missing = 0;
    rows.forEach((row, i) => {
      const amount = dues[i]!;
      // By side, not by sign: a receiver of less than a micro is due 0.
      if (market.positions.lots(row) * payingSide < 0) {
        wanted += amount;
      } else {
        collected -= amount;
        missing += owed(market, row, size) + amount;
      }
    });
    // The fund pays for accounts that cannot, not for its own backstop.
    const available = collected + Math.min(missing, Math.max(0, s.totals.fund));
    rows.forEach((row, i) => {
      const amount = dues[i]!;
      const moved =
        amount <= 0 || wanted <= available ? amount : mulDivFloor(amount, available, wanted);
      if (moved > 0) paid += moved;
      if (moved !== 0) moveFunding(s, market, row, moved);
    });
    s.totals.fund += collected - paid;
  }
  emit.FundingApplied(s.events, {
    market: market.number,
    rate,
    markTicks: market.mark,
    hourEndMs,
    collectedMicros: collected,
    paidMicros: paid,
  });
}

/** What a position receives, or (negative) what it pays, at most its equity. */
function due(market: Market, row: number, payingSide: Side, rate: number): number {
  const lots = market.positions.lots(row);
  if (lots * payingSide < 0) return mulDivFloor(market.notional(lots), rate, RATE_SCALE);
  return 0 - Math.min(owed(market, row, rate), Math.max(0, equityOf(market, row)));
}

function owed(market: Market, row: number, rate: number): number {
  return mulDivCeil(market.notional(market.positions.lots(row)), rate, RATE_SCALE);
}

function moveFunding(s: VenueState, market: Market, row: number, received: number): void {
  const { positions } = market;
  positions.table.touch(row);
  positions.addFunding(row, -received);
  // A payer whose margin is used up pays out of its unrealised profit: its cost rises by as much.
  const margin = Math.max(0, positions.margin(row));
  const fromProfit = Math.max(0, -received - margin);
  s.addMargin(market, row, received + fromProfit);
  if (fromProfit !== 0) s.addCost(market, row, fromProfit);
}

function clamp(value: number, bound: number): number {
  return Math.min(Math.max(value, -bound), bound);
}
