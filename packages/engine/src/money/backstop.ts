/**
 * The backstop: the fund's position in each market. It has no margin; its gains and losses are the
 * fund's. Per tick and market it makes one small reduction near the mark.
 */
import { divCeil, divFloor, mulDivFloor, mulExact } from "@perpgate/protocol/integers";
import { LONG, type Side } from "../commands.js";
import { BACKSTOP_SLICE_PPM, PPM } from "../config.js";
import type { Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";
import { removedCost } from "./fill.js";

/** Trades lots on the backstop's account; returns its realised PnL, booked to the fund. */
export function tradeBackstop(
  s: VenueState,
  market: Market,
  side: Side,
  lots: number,
  ticks: number,
): number {
  const held = market.backstopLots;
  const cost = market.backstopCost;
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
  market.backstopLots = held + side * lots;
  market.backstopCost = cost + costChange;
  market.sumLots += side * lots;
  s.totals.cost += costChange;
  s.totals.fund += pnl;
  return pnl;
}

/** Σ over all markets of its |lots| at mark, in micros. */
export function backstopNotional(s: VenueState): number {
  let sum = 0;
  for (const market of s.markets) {
    if (market.backstopLots !== 0) sum += market.notional(market.backstopLots);
  }
  return sum;
}

/** Lots of the tick's reduction at most. */
export function reductionLots(market: Market): number {
  const slice = divFloor(market.config.impactNotionalMicros, market.markUnit);
  return Math.min(Math.abs(market.backstopLots), slice);
}

/**
 * Worst price of the tick's reduction: near the mark, and no worse than the index, in version 2 unless
 * that still makes no loss. Without the second bound a trader who moves the mark to its clamp could sell
 * to the fund above the price at which the fund took over their position; with the exception, one whose
 * position it took over below the index could buy it back there.
 */
export function worstReductionTicks(s: VenueState, market: Market, side: Side): number {
  const { mark, index } = market;
  const unit = mulExact(Math.abs(market.backstopLots), market.microsPerTickLot);
  const cost = Math.abs(market.backstopCost);
  const reach = mulDivFloor(mark, BACKSTOP_SLICE_PPM, PPM);
  if (s.rules.sheltersFund) {
    return side === LONG ? Math.min(mark + reach, index) : Math.max(mark - reach, index);
  }
  return side === LONG
    ? Math.min(mark + reach, Math.max(index, divFloor(cost, unit)))
    : Math.max(mark - reach, Math.min(index, divCeil(cost, unit)));
}
