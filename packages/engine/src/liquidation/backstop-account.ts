/**
 * The backstop: the fund's own position in each market. It has no margin; what it wins or loses is
 * the fund's.
 */
import { mulExact } from "@perpgate/protocol/integers";
import type { Side } from "../commands.js";
import { removedCost } from "../margin/fill.js";
import { MARKET, type Market } from "../state/market.js";
import { GLOBAL, type VenueState } from "../state/venue.js";

/** Trades lots on the backstop's account; answers its realised PnL, booked to the fund. */
export function shiftBackstop(
  s: VenueState,
  market: Market,
  side: Side,
  lots: number,
  ticks: number,
): number {
  const held = market.get(MARKET.BACKSTOP_LOTS);
  const cost = market.get(MARKET.BACKSTOP_COST);
  const unit = ticks * market.microsPerTickLot;
  const closing = held * side < 0 ? Math.min(lots, Math.abs(held)) : 0;
  let costChange = 0;
  let pnl = 0;
  if (closing > 0) {
    const removed = removedCost(held, cost, closing);
    const value = mulExact(closing, unit);
    pnl = held > 0 ? value - removed : removed - value;
    costChange = side * removed;
  }
  costChange += side * mulExact(lots - closing, unit);
  market.set(MARKET.BACKSTOP_LOTS, held + side * lots);
  market.set(MARKET.BACKSTOP_COST, cost + costChange);
  market.set(MARKET.SUM_LOTS, market.get(MARKET.SUM_LOTS) + side * lots);
  s.add(GLOBAL.COST, costChange);
  s.add(GLOBAL.FUND, pnl);
  return pnl;
}

/** Σ over all markets of its |lots| at mark, in micros. */
export function backstopNotional(s: VenueState): number {
  let sum = 0;
  for (const market of s.markets) {
    const lots = Math.abs(market.get(MARKET.BACKSTOP_LOTS));
    if (lots > 0) sum += mulExact(lots, market.mark * market.microsPerTickLot);
  }
  return sum;
}
