/**
 * The largest leverage at which lots may open now. High leverage leaves losses beyond the margin to the
 * fund and to the other side when the price jumps, so there is less of it where the fund is small for
 * what is open, and where open interest is near its bound.
 */
import { mulDivFloor, mulExact } from "@perpgate/protocol/integers";
import { CROWDED_LEVERAGE, CROWDED_PPM, PPM, STEEP_FUNDS, STEEP_LEVERAGE } from "../config.js";
import type { Market } from "../state/market.js";
import type { VenueTables } from "../state/venue-tables.js";
import { fundWorth } from "./fund-budget.js";

/** Infinite where the tiers alone decide. */
export function leverageLimit(s: VenueTables, market: Market): number {
  if (!s.rules.limitsLeverage) return Number.POSITIVE_INFINITY;
  if (isCrowded(market)) return CROWDED_LEVERAGE;
  return isSteep(s) ? STEEP_LEVERAGE : Number.POSITIVE_INFINITY;
}

/** Whether lots at that leverage may not open now. Cheap for the leverages that are never limited. */
export function isAboveLimit(s: VenueTables, market: Market, leverage: number): boolean {
  if (leverage <= CROWDED_LEVERAGE || !s.rules.limitsLeverage) return false;
  return isCrowded(market) || (leverage > STEEP_LEVERAGE && isSteep(s));
}

function isCrowded(market: Market): boolean {
  const bound = mulDivFloor(market.config.maxOpenInterestMicros, CROWDED_PPM, PPM);
  return market.openInterestLots * market.markUnit > bound;
}

/** Whether open interest above ten exceeds what the fund is worth twenty times, over all markets. */
function isSteep(s: VenueTables): boolean {
  let sum = 0;
  for (const market of s.markets) {
    sum += Math.max(market.steepLongLots, market.steepShortLots) * market.markUnit;
  }
  return sum > mulExact(STEEP_FUNDS, fundWorth(s));
}
