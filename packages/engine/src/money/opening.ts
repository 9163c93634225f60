/**
 * Which lots may open, money aside: stale index, cohort, position limit, tier leverage, the caps of
 * the session. What would rest is judged when it is placed, what fills when it fills, for taker and
 * maker alike (docs/engine.md, "What may open"). Reasons are end reasons; a refusal has the same name.
 */
import { divFloor } from "@perpgate/protocol/integers";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueTables } from "../state/venue-tables.js";
import { isAboveLimit } from "./leverage-limit.js";

/** Why the account's resting orders may not open now; none if they may. */
export function makerBar(s: VenueTables, market: Market, account: number): number {
  if (!market.mayOpen) return END.market_reduce_only;
  if (s.deposits.hasReorg(account)) return END.deposit_reorged;
  return s.admits(account) ? END.none : END.not_in_cohort;
}

/** Why an order that arrives or triggers may not open now; none if it may. */
export function takerBar(s: VenueTables, market: Market, account: number): number {
  return s.indexIsStale(market) ? END.stale_index : makerBar(s, market, account);
}

/** Lots that a position may have in the market under a session's cap on all positions. */
export function lotsWithinCap(
  s: VenueTables,
  market: Market,
  account: number,
  maxNotionalMicros: number,
): number {
  let others = 0;
  for (const { number, positions, markUnit } of s.markets) {
    if (number === market.number) continue;
    const row = positions.rowOf(account);
    if (row !== NONE) others += Math.abs(positions.lots(row)) * markUnit;
  }
  return divFloor(Math.max(0, maxNotionalMicros - others), market.markUnit);
}

/** Lots of which a position of this market can consist at most. */
export function positionLimitLots(market: Market): number {
  return divFloor(market.maintenance.topMicros, market.markUnit);
}

/**
 * Why `opening` lots, worth `addedMicros` at their own price, may not wait in the book or as a stop;
 * none if they may. `held` are the lots that the position would have without them.
 */
export function restingBar(
  s: VenueTables,
  market: Market,
  account: number,
  leverage: number,
  held: number,
  opening: number,
  addedMicros: number,
  maxNotionalMicros: number,
): number {
  const bar = takerBar(s, market, account);
  if (bar !== END.none) return bar;
  const lots = held + opening;
  if (lots > positionLimitLots(market)) return END.position_limit;
  const tier = market.maintenance.tierOf(lots * market.markUnit);
  if (leverage > tier.maxLeverage) return END.leverage_above_tier;
  if (isAboveLimit(s, market, leverage)) return END.leverage_limited;
  if (maxNotionalMicros > 0 && exposure(s, account) + addedMicros > maxNotionalMicros) {
    return END.session_notional_cap_exceeded;
  }
  return END.none;
}

/** |positions| at mark plus what open orders could add, over all markets, in micros. */
export function exposure(s: VenueTables, account: number): number {
  let sum = 0;
  for (const { positions, markUnit } of s.markets) {
    const row = positions.rowOf(account);
    if (row === NONE) continue;
    sum +=
      Math.abs(positions.lots(row)) * markUnit +
      positions.restingNotional(row) +
      positions.pendingNotional(row);
  }
  return sum;
}
