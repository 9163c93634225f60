/**
 * Lots that the book did not take, at the bankruptcy price: first to the backstop within its cap and,
 * where that price is worse than the mark, within the fund's budget,
 * then by auto-deleveraging to the other side of the market. Only a loss that no account can carry
 * is charged to the fund: the socialised loss.
 */
import { divFloor, mulExact } from "@perpgate/protocol/integers";
import { LONG, SHORT, type Side } from "../commands.js";
import { emit } from "../events/event-log.js";
import { BACKSTOP_ACCOUNT, TRADE_ADL, TRADE_BACKSTOP } from "../events/event-table.js";
import { closeCovered } from "../orders/exits.js";
import { settle } from "../orders/settle.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { UNITS_PER_MAKER } from "../work.js";
import { backstopNotional, tradeBackstop } from "./backstop.js";
import { bankruptcyTicks, closeAt, closeLiquidated, closingPnl } from "./bankruptcy.js";
import { DeleveragingOrder } from "./deleveraging-order.js";
import { releasedMargin } from "./fill.js";
import { budgetLeft } from "./fund-budget.js";
import { settleFunding } from "./owed-funding.js";

/** Hands `lots` over; returns how many the backstop took. `side` closes the position. */
export function handOver(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  lots: number,
): number {
  const ticks = bankruptcyTicks(market, row, side);
  let backstopLots = Math.min(
    lots,
    backstopRoom(s, market, side, lots),
    affordableLots(s, market, side, ticks),
  );
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

/** Lots that reduce its position always fit; lots that add to it need a fund and room in the cap. */
function backstopRoom(s: VenueState, market: Market, side: Side, lots: number): number {
  const held = market.backstopLots;
  // The backstop takes the opposite of the closing side.
  const reducing = held * side > 0 ? Math.min(lots, Math.abs(held)) : 0;
  if (reducing === lots || s.totals.fund <= 0) return reducing;
  const unit = market.markUnit;
  const used = backstopNotional(s) - mulExact(reducing, unit);
  return reducing + divFloor(Math.max(0, s.config!.backstopCapMicros - used), unit);
}

/** Where the price is worse than the mark: the lots that the fund's budget can pay for. */
function affordableLots(s: VenueState, market: Market, side: Side, ticks: number): number {
  const loss = side * (market.mark - ticks) * market.microsPerTickLot;
  return loss > 0 ? divFloor(budgetLeft(s), loss) : Number.POSITIVE_INFINITY;
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

/** The order of the market and side, which liquidations of a tick share. */
function deleveragingOrder(s: VenueState, market: Market, side: Side): DeleveragingOrder {
  const { deleveraging } = s.scratch;
  const at = 2 * market.number + (side === LONG ? 1 : 0);
  const order = deleveraging[at] ?? new DeleveragingOrder(s, market, side);
  deleveraging[at] = order;
  return order;
}

/**
 * Closes the lots against other accounts, those that this would bankrupt last; each one met counts as
 * a maker of the command, and four of its orders that end with its position as another. It looks for
 * others only while those that it has skipped can be met again: otherwise every tick would skip the same
 * 2,000. Returns the lots that are left.
 */
function deleverage(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  lots: number,
  ticks: number,
): number {
  const { work } = s.scratch;
  const skipped: number[] = [];
  let left = lots;
  const order = deleveragingOrder(s, market, side);
  order.begin();
  for (let place = 0; left > 0 && work.left > UNITS_PER_MAKER * skipped.length; place++) {
    const other = order.at(place);
    if (other === NONE) break;
    work.charge(UNITS_PER_MAKER);
    const share = Math.min(left, Math.abs(market.positions.lots(other)));
    if (deleverageOne(s, market, row, side, other, share, ticks, false)) left -= share;
    else skipped.push(other);
  }
  for (const other of skipped) {
    if (left === 0 || work.left === 0) return left;
    work.charge(UNITS_PER_MAKER);
    const share = Math.min(left, Math.abs(market.positions.lots(other)));
    deleverageOne(s, market, row, side, other, share, ticks, true);
    left -= share;
  }
  return left;
}

/** Closes `lots` of another account against the liquidated; false if that would bankrupt it. */
function deleverageOne(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  other: number,
  lots: number,
  ticks: number,
  chargeFund: boolean,
): boolean {
  const { positions } = market;
  settleFunding(s, market, other);
  const released = releasedMargin(positions.lots(other), positions.margin(other), lots);
  const left = released + closingPnl(market, other, lots, ticks);
  if (left < 0 && !chargeFund) return false;

  const account = positions.account(other);
  const makerPnlMicros = closeAt(s, market, other, lots, ticks);
  s.addMargin(market, other, -released);
  if (left >= 0) s.addWallet(account, left);
  else s.totals.fund += left;
  const takerPnlMicros = closeLiquidated(s, market, row, lots, ticks);
  emit.Traded(s.events, {
    market: market.number,
    tradeKind: TRADE_ADL,
    takerSide: side,
    priceTicks: ticks,
    lots,
    makerOrderId: 0,
    makerAccount: account,
    makerFeeMicros: 0,
    makerPnlMicros,
    takerOrderId: 0,
    takerAccount: positions.account(row),
    takerFeeMicros: 0,
    takerPnlMicros,
  });
  if (s.exits.size > 0) closeCovered(s, market, other, 0, lots);
  if (left < 0) {
    emit.LossSocialised(s.events, { account, market: market.number, amountMicros: -left });
  }
  const { endedBySettle } = s.scratch;
  settle(s, market, other);
  s.scratch.countMet(endedBySettle, s.rules.endsPerMaker);
  return true;
}
