/**
 * Hourly funding: the side that pushes the price pays the other. An hour costs the same whatever the
 * number of positions: it adds to one figure of the market, against which positions settle later.
 */
import {
  assertSafe,
  divCeil,
  mulDivCeil,
  mulDivFloor,
  mulDivTrunc,
} from "@perpgate/protocol/integers";
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
import { budgetLeft } from "./fund-budget.js";
import { SUBTICKS } from "./mark.js";
import { fundingOf } from "./owed-funding.js";

/**
 * Adds one sample to the hour's average premium: how far from the index a position of the impact
 * notional could be opened. No sample if a side of the book is too thin. From version 3 on, the tick
 * counts nevertheless: a book that is deep for one tick must not set the rate of the hour.
 */
export function samplePremium({ rules }: VenueState, market: Market): void {
  if (rules.averagesAllTicks) market.premiumTicks += 1;
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
  const { premiumCount, premiumTicks } = market;
  if (premiumCount === 0) return 0;
  const premium = Math.trunc(market.premiumSum / (premiumTicks || premiumCount));
  const pull = clamp(INTEREST_PER_8H - premium, PREMIUM_CLAMP_PER_8H);
  // No hour takes more than half of the maintenance, so a liquidated position keeps the other half.
  const cap = Math.min(FUNDING_CAP_PER_HOUR, market.maintenance.lowestPpm * 500);
  return clamp(Math.trunc((premium + pull) / 8), cap) + 0;
}

/** The hour of the samples is over. */
export function forgetSamples(market: Market): void {
  market.premiumSum = 0;
  market.premiumCount = 0;
  market.premiumTicks = 0;
}

/** Adds the hour to the market's cumulative funding; positions settle when they are next changed. */
export function applyFunding(s: VenueState, market: Market, hourEndMs: number): void {
  s.focus = market.number;
  // Where no position can be liquidated, no position may lose margin either.
  const rate = s.isLive(market) ? withinBudget(s, market, fundingRate(market)) : 0;
  forgetSamples(market);
  const backstopMicros = rate === 0 ? 0 : accrue(s, market, rate);
  emit.FundingApplied(s.events, {
    market: market.number,
    rate,
    markTicks: market.mark,
    hourEndMs,
    backstopMicros,
  });
}

/** The rate, or as much of it as lets the fund's budget pay for the backstop's position. */
function withinBudget(s: VenueState, market: Market, rate: number): number {
  if (market.backstopLots * rate <= 0) return rate;
  const left = budgetLeft(s);
  const notional = market.notional(market.backstopLots);
  if (mulDivCeil(notional, Math.abs(rate), RATE_SCALE) <= left) return rate;
  return Math.sign(rate) * mulDivFloor(left, RATE_SCALE, notional) + 0;
}

/** Adds mark × rate to the cumulative funding; returns what the backstop pays of the fund for it. */
function accrue(s: VenueState, market: Market, rate: number): number {
  const size = Math.abs(rate);
  const unit = market.markUnit;
  // In two parts, because mark × rate itself may exceed the safe integers.
  const low = (unit % RATE_SCALE) * size;
  let micros = Math.floor(unit / RATE_SCALE) * size + Math.floor(low / RATE_SCALE);
  let billionths = low % RATE_SCALE;
  if (rate < 0) {
    micros = billionths > 0 ? -micros - 1 : -micros;
    billionths = billionths > 0 ? RATE_SCALE - billionths : 0;
  }
  const sum = market.cumulativeFundingBillionths + billionths;
  const carry = sum >= RATE_SCALE ? 1 : 0;
  market.setCumulativeFunding(
    assertSafe(market.cumulativeFunding + micros + carry),
    sum - carry * RATE_SCALE,
  );
  // The backstop has no margin, and settles immediately.
  const paid = fundingOf(market.backstopLots, micros, billionths);
  s.totals.fund -= paid;
  s.totals.fundingPool += paid;
  return paid;
}

function clamp(value: number, bound: number): number {
  return Math.min(Math.max(value, -bound), bound);
}
