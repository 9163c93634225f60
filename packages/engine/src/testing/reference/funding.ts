/**
 * "Tick", step 2: funding of one market for one hour; and what a position pays or receives of it.
 */
import {
  FUNDING_CAP_PER_HOUR,
  INTEREST_PER_8H,
  PREMIUM_CLAMP_PER_8H,
  RATE_SCALE,
} from "../../config.js";
import { emit, touch } from "./end-events.js";
import { budgetLeft } from "./fund-budget.js";
import { abs, ceilDiv, clamp, floorDiv, max, min, num, truncDiv } from "./integers.js";
import { isLive, lotAtMark, owedFunding, unitOf } from "./margin.js";
import { type Market, marketOf, type Position, rulesOf, type State } from "./state.js";

const SCALE = BigInt(RATE_SCALE);

function fundingRate(state: State, market: Market): bigint {
  if (market.premiumCount === 0n) return 0n;
  const ticks = rulesOf(state).thinTicksCount ? market.liveTicks : market.premiumCount;
  const premium = truncDiv(market.premiumSum, ticks);
  const bound = BigInt(PREMIUM_CLAMP_PER_8H);
  const pull = clamp(BigInt(INTEREST_PER_8H) - premium, -bound, bound);
  // Half of the lowest maintenance, in billionths.
  const lowest = BigInt(market.config.tiers[0]?.maintenancePpm ?? 0);
  const cap = min(BigInt(FUNDING_CAP_PER_HOUR), lowest * 500n);
  return clamp(truncDiv(premium + pull, 8n), -cap, cap);
}

export function applyFunding(state: State, market: Market, hourEnd: number): void {
  let rate = isLive(state, market) ? fundingRate(state, market) : 0n;
  // The backstop pays no more than what is left of the fund's budget: nobody's rate is higher.
  const paid = market.backstop.lots * lotAtMark(market) * rate;
  const left = budgetLeft(state);
  if (ceilDiv(paid, SCALE) > left) {
    const sign = rate > 0n ? 1n : -1n;
    rate = sign * floorDiv(left * SCALE, abs(market.backstop.lots) * lotAtMark(market));
  }
  const perLot = lotAtMark(market) * rate;
  market.cumulativeFunding += perLot;
  // The backstop has no margin: it pays and receives immediately, from and into the fund.
  const backstop = ceilDiv(market.backstop.lots * perLot, SCALE);
  state.fund -= backstop;
  state.fundingPool += backstop;
  emit(state, {
    kind: "FundingApplied",
    market: market.number,
    rate: num(rate),
    markTicks: num(market.mark),
    hourEndMs: hourEnd,
    backstopMicros: num(backstop),
  });
}

/** "settleFunding": before a command changes lots, cost or margin of a position. */
export function settleFunding(state: State, position: Position): void {
  const market = marketOf(state, position.market);
  if (position.settledFunding === market.cumulativeFunding) return;
  const owed = owedFunding(market, position);
  touch(state, position);
  position.settledFunding = market.cumulativeFunding;
  if (owed === 0n) return;
  // Margin first; what it cannot cover raises the cost, so that equity falls by what is owed.
  const fromMargin = owed > 0n ? min(owed, max(0n, position.margin)) : owed;
  let fromCost = owed - fromMargin;
  if (position.lots < 0n) {
    fromCost = min(fromCost, max(0n, position.lots * unitOf(market) - position.cost));
  }
  const shortfall = owed - fromMargin - fromCost;
  position.margin -= fromMargin;
  position.cost += fromCost;
  position.funding += owed - shortfall;
  state.fundingPool += owed;
  state.fund -= shortfall;
  emit(state, {
    kind: "FundingSettled",
    account: position.account,
    market: position.market,
    amountMicros: num(owed - shortfall),
    marginMicros: num(-fromMargin),
  });
  if (shortfall > 0n) {
    emit(state, {
      kind: "LossSocialised",
      account: position.account,
      market: position.market,
      amountMicros: num(shortfall),
    });
  }
}
