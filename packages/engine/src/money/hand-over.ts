/**
 * Lots that the book did not take, at the bankruptcy price: first to the backstop within its cap and,
 * where that price is worse than the mark, within the fund's budget,
 * then by auto-deleveraging to the other side of the market. Only a loss that no account can carry
 * is charged to the fund: the socialised loss.
 */
import { divCeil, divFloor, mulExact } from "@perpgate/protocol/integers";
import { LONG, SHORT, type Side } from "../commands.js";
import { BACKSTOP_KEEPS, BACKSTOP_TAKES } from "../config.js";
import { emit } from "../events/event-log.js";
import { BACKSTOP_ACCOUNT, TRADE_BACKSTOP } from "../events/event-table.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { backstopNotional, tradeBackstop } from "./backstop.js";
import { bankruptcyTicks, closeLiquidated } from "./bankruptcy.js";
import { deleverage } from "./deleverage.js";
import { budgetLeft, fundWorth } from "./fund-budget.js";

/** Hands `lots` over; returns how many the backstop took. `side` closes the position. */
export function handOver(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  lots: number,
): number {
  const ticks = bankruptcyTicks(market, row, side);
  let backstopLots = lotsForBackstop(s, market, side, lots, ticks);
  if (backstopLots > 0) toBackstop(s, market, row, side, backstopLots, ticks);
  if (backstopLots < lots) {
    const left = deleverage(s, market, row, side, lots - backstopLots, ticks);
    // No other account holds the opposite lots: the backstop does, and gives them like the others.
    // If the command may meet nobody any more, they stay with the position until the next tick.
    if (left > 0 && s.scratch.work.left > 0) {
      toBackstop(s, market, row, side, left, ticks);
      backstopLots += left;
    }
  }
  return backstopLots;
}

/** Of the lots at that price, those that the backstop takes. */
function lotsForBackstop(
  s: VenueState,
  market: Market,
  side: Side,
  lots: number,
  ticks: number,
): number {
  // The backstop takes the opposite of the closing side.
  const held = market.backstopLots;
  const reducing = held * side > 0 ? Math.min(lots, Math.abs(held)) : 0;
  const left = budgetLeft(s);
  // What a lot costs it immediately, where the price is worse than the mark.
  const loss = Math.max(0, side * (market.mark - ticks) * market.microsPerTickLot);
  const affordable = loss > 0 ? divFloor(left, loss) : Number.POSITIVE_INFINITY;
  // Lots that reduce its position always fit; lots that add to it need a fund and room.
  if (reducing === lots || s.totals.fund <= 0) return Math.min(reducing, affordable);
  const used = backstopNotional(s) - mulExact(reducing, market.markUnit);
  if (!s.rules.sheltersFund) {
    const room = divFloor(Math.max(0, s.config!.backstopCapMicros - used), market.markUnit);
    return Math.min(lots, reducing + room, affordable);
  }
  if (affordable <= reducing) return affordable;
  const cap = Math.min(s.config!.backstopCapMicros, divFloor(fundWorth(s), 2));
  const covered = BACKSTOP_TAKES * (left - reducing * loss) - used;
  const room = Math.min(
    divFloor(Math.max(0, cap - used), market.markUnit),
    divFloor(Math.max(0, covered), market.markUnit + BACKSTOP_TAKES * loss),
  );
  return Math.min(lots, reducing + room);
}

/**
 * Version 3: gives lots of the backstop to the other side, at mark, where a move of a quarter would cost
 * more than the hour's budget has left.
 */
export function shedBackstop(s: VenueState, market: Market): void {
  if (!s.rules.sheltersFund || market.backstopLots === 0) return;
  const held = backstopNotional(s);
  const half = divFloor(fundWorth(s), 2);
  const left = budgetLeft(s);
  if (held <= Math.min(half, BACKSTOP_KEEPS * left)) return;
  const excess = held - Math.min(half, BACKSTOP_TAKES * left);
  const lots = Math.min(Math.abs(market.backstopLots), divCeil(excess, market.markUnit));
  s.focus = market.number;
  s.scratch.work.enter(market.number);
  deleverage(s, market, NONE, market.backstopLots > 0 ? SHORT : LONG, lots, market.mark);
}

function toBackstop(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  lots: number,
  ticks: number,
): void {
  const makerPnlMicros = tradeBackstop(s, market, side === LONG ? SHORT : LONG, lots, ticks);
  const takerPnlMicros = closeLiquidated(s, market, row, lots, ticks);
  emit.Traded(s.events, {
    market: market.number,
    tradeKind: TRADE_BACKSTOP,
    takerSide: side,
    priceTicks: ticks,
    lots,
    makerOrderId: 0,
    makerAccount: BACKSTOP_ACCOUNT,
    makerFeeMicros: 0,
    makerPnlMicros,
    takerOrderId: 0,
    takerAccount: market.positions.account(row),
    takerFeeMicros: 0,
    takerPnlMicros,
  });
}
