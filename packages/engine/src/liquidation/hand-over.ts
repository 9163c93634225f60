/**
 * Lots that the book would not take, at the bankruptcy price: first to the backstop within its cap,
 * then by auto-deleveraging to the other side of the market. Only what nobody can carry is charged
 * to the fund: the socialised loss.
 */
import { divFloor, mulExact } from "@perpgate/protocol/integers";
import type { Side } from "../commands.js";
import { EVENT } from "../event-log.js";
import { TRADE_ADL, TRADE_BACKSTOP } from "../events.js";
import { releasedMargin, removedCost, shiftLots } from "../margin/fill.js";
import { settle } from "../margin/settle.js";
import { MARKET, type Market } from "../state/market.js";
import { POSITION, POSITION_WORDS } from "../state/positions.js";
import { GLOBAL, type VenueState } from "../state/venue.js";
import { backstopNotional, shiftBackstop } from "./backstop-account.js";
import { bankruptcyTicks, takeFromLiquidated } from "./bankruptcy.js";
import { deleveragingOrder } from "./deleveraging-order.js";

/** Hands `lots` over; answers how many the backstop took. `side` closes the position. */
export function handOver(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  lots: number,
): number {
  const ticks = bankruptcyTicks(market, row, side);
  const backstopLots = Math.min(lots, backstopRoom(s, market, side, lots));
  if (backstopLots > 0) toBackstop(s, market, row, side, backstopLots, ticks);
  if (backstopLots < lots) deleverage(s, market, row, side, lots - backstopLots, ticks);
  const at = row * POSITION_WORDS;
  const { data } = market.positions.table;
  if (data[at + POSITION.LOTS] === 0) {
    const dust = data[at + POSITION.MARGIN]!;
    s.addMargin(market, row, -dust);
    s.add(GLOBAL.FUND, dust);
  }
  return backstopLots;
}

/** Lots that reduce its position always fit; lots that add to it need a fund and room in the cap. */
function backstopRoom(s: VenueState, market: Market, side: Side, lots: number): number {
  const held = market.get(MARKET.BACKSTOP_LOTS);
  // The closing side sells to the backstop: its own side is the opposite one.
  const reducing = held * side > 0 ? Math.min(lots, Math.abs(held)) : 0;
  if (reducing === lots || s.global(GLOBAL.FUND) <= 0) return reducing;
  const unit = market.mark * market.microsPerTickLot;
  const used = backstopNotional(s) - mulExact(reducing, unit);
  return reducing + divFloor(Math.max(0, s.config!.backstopCapMicros - used), unit);
}

function toBackstop(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  lots: number,
  ticks: number,
): void {
  const makerPnl = shiftBackstop(s, market, side > 0 ? -1 : 1, lots, ticks);
  const takerPnl = takeFromLiquidated(s, market, row, lots, ticks);
  const account = market.positions.table.data[row * POSITION_WORDS]!;
  s.events.emit(
    EVENT.Traded,
    ...[market.number, TRADE_BACKSTOP, side, ticks, lots],
    ...[0, 0, 0, makerPnl],
    ...[0, account, 0, takerPnl],
  );
}

function deleverage(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  lots: number,
  ticks: number,
): void {
  const { data } = market.positions.table;
  const queue = deleveragingOrder(market, side);
  const passedOver: number[] = [];
  let left = lots;
  for (const other of queue) {
    if (left === 0) return;
    const share = Math.min(left, Math.abs(data[other * POSITION_WORDS + POSITION.LOTS]!));
    if (deleverageOne(s, market, row, side, other, share, ticks, false)) left -= share;
    else passedOver.push(other);
  }
  for (const other of passedOver) {
    if (left === 0) return;
    const share = Math.min(left, Math.abs(data[other * POSITION_WORDS + POSITION.LOTS]!));
    deleverageOne(s, market, row, side, other, share, ticks, true);
    left -= share;
  }
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
  const { table } = market.positions;
  const { data } = table;
  const at = other * POSITION_WORDS;
  const held = data[at + POSITION.LOTS]!;
  const released = releasedMargin(held, data[at + POSITION.MARGIN]!, lots);
  const removed = removedCost(held, data[at + POSITION.COST]!, lots);
  const value = mulExact(lots, ticks * market.microsPerTickLot);
  const pnl = held > 0 ? value - removed : removed - value;
  const left = released + pnl;
  if (left < 0 && !chargeFund) return false;

  table.touch(other);
  const cost = held > 0 ? -removed : removed;
  data[at + POSITION.COST] = data[at + POSITION.COST]! + cost;
  data[at + POSITION.REALIZED] = data[at + POSITION.REALIZED]! + pnl;
  s.add(GLOBAL.COST, cost);
  s.addMargin(market, other, -released);
  shiftLots(market, other, side > 0 ? -lots : lots);
  const account = data[at + POSITION.ACCOUNT]!;
  if (left >= 0) s.addWallet(account, left);
  else s.add(GLOBAL.FUND, left);
  const takerPnl = takeFromLiquidated(s, market, row, lots, ticks);
  s.events.emit(
    EVENT.Traded,
    ...[market.number, TRADE_ADL, side, ticks, lots],
    ...[0, account, 0, pnl],
    ...[0, data[row * POSITION_WORDS]!, 0, takerPnl],
  );
  if (left < 0) s.events.emit(EVENT.LossSocialised, account, market.number, -left);
  settle(s, market, other);
  return true;
}
