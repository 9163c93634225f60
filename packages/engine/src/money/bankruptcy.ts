/**
 * Closing a liquidated position: no worse than its bankruptcy price, the price at which nothing of
 * its margin would be left. Such fills release no margin; their PnL changes it.
 */
import { divCeil, divFloor, mulExact } from "@perpgate/protocol/integers";
import type { Side } from "../commands.js";
import type { Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";
import { removedCost } from "./fill.js";

/**
 * Bankruptcy price in ticks, rounded in the owner's favour; `side` is the closing side. The
 * position's funding is settled.
 */
export function bankruptcyTicks(market: Market, row: number, side: Side): number {
  const { positions } = market;
  const lots = positions.lots(row);
  const unit = mulExact(Math.abs(lots), market.microsPerTickLot);
  if (lots === 0) return side > 0 ? 0 : Number.POSITIVE_INFINITY;
  const cost = positions.cost(row);
  const margin = positions.margin(row);
  if (lots > 0) return Math.max(1, divCeil(Math.max(0, cost - margin), unit));
  return divFloor(Math.max(0, margin - cost), unit);
}

/** Closes lots of the position at a price; returns the PnL, which stays in its margin. */
export function closeLiquidated(
  s: VenueState,
  market: Market,
  row: number,
  lots: number,
  ticks: number,
): number {
  const pnl = closeAt(s, market, row, lots, ticks);
  s.addMargin(market, row, pnl);
  return pnl;
}

/** Removes lots with their cost from a position; returns the PnL, booked as realized. */
export function closeAt(
  s: VenueState,
  market: Market,
  row: number,
  lots: number,
  ticks: number,
): number {
  const { positions } = market;
  positions.table.touch(row);
  const pnl = closingPnl(market, row, lots, ticks);
  const held = positions.lots(row);
  const removed = removedCost(held, positions.cost(row), lots);
  s.addCost(market, row, held > 0 ? -removed : removed);
  positions.addRealized(row, pnl);
  market.moveLots(row, held > 0 ? -lots : lots);
  return pnl;
}

/** PnL of closing lots of the position at a price. */
export function closingPnl(market: Market, row: number, lots: number, ticks: number): number {
  const { positions } = market;
  const held = positions.lots(row);
  const removed = removedCost(held, positions.cost(row), lots);
  const value = mulExact(lots, ticks * market.microsPerTickLot);
  return held > 0 ? value - removed : removed - value;
}
