/**
 * A position taken from its owner: it closes no worse than its bankruptcy price, the price at which
 * nothing of its margin would be left. Such fills release nothing; their PnL moves the margin.
 */
import { divCeil, divFloor, mulExact } from "@perpgate/protocol/integers";
import type { Side } from "../commands.js";
import { removedCost, shiftLots } from "../margin/fill.js";
import type { Market } from "../state/market.js";
import { POSITION, POSITION_WORDS } from "../state/positions.js";
import { GLOBAL, type VenueState } from "../state/venue.js";

/** Bankruptcy price in ticks, on the owner's side of the tick; `side` is the closing side. */
export function bankruptcyTicks(market: Market, row: number, side: Side): number {
  const data = market.positions.table.data;
  const at = row * POSITION_WORDS;
  const lots = data[at + POSITION.LOTS]!;
  const unit = mulExact(Math.abs(lots), market.microsPerTickLot);
  if (lots === 0) return side > 0 ? 0 : Number.POSITIVE_INFINITY;
  const cost = data[at + POSITION.COST]!;
  const margin = data[at + POSITION.MARGIN]!;
  if (lots > 0) return Math.max(1, divCeil(Math.max(0, cost - margin), unit));
  return divFloor(Math.max(0, margin - cost), unit);
}

/** Closes lots of the position at a price; answers the PnL, which stays in its margin. */
export function takeFromLiquidated(
  s: VenueState,
  market: Market,
  row: number,
  lots: number,
  ticks: number,
): number {
  market.positions.table.touch(row);
  const data = market.positions.table.data;
  const at = row * POSITION_WORDS;
  const held = data[at + POSITION.LOTS]!;
  const removed = removedCost(held, data[at + POSITION.COST]!, lots);
  const value = mulExact(lots, ticks * market.microsPerTickLot);
  const pnl = held > 0 ? value - removed : removed - value;
  const cost = held > 0 ? -removed : removed;
  data[at + POSITION.COST] = data[at + POSITION.COST]! + cost;
  data[at + POSITION.REALIZED] = data[at + POSITION.REALIZED]! + pnl;
  s.add(GLOBAL.COST, cost);
  s.addMargin(market, row, pnl);
  shiftLots(market, row, held > 0 ? -lots : lots);
  return pnl;
}
