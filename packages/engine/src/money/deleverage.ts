/**
 * Auto-deleveraging: closes lots that neither the book nor the backstop took against accounts of the
 * other side. Those that the price would bankrupt come last, at the fund's expense: the socialised loss.
 */
import { LONG, type Side } from "../commands.js";
import { DELEVERAGED_TOGETHER } from "../config.js";
import { emit } from "../events/event-log.js";
import { BACKSTOP_ACCOUNT, TRADE_ADL } from "../events/event-table.js";
import { closeCovered } from "../orders/exits.js";
import { settle } from "../orders/settle.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { UNITS_PER_MAKER } from "../work.js";
import { tradeBackstop } from "./backstop.js";
import { closeAt, closeLiquidated, closingPnl } from "./bankruptcy.js";
import { DeleveragingOrder } from "./deleveraging-order.js";
import { DeleveragingShares } from "./deleveraging-shares.js";
import { releasedMargin } from "./fill.js";
import { settleFunding } from "./owed-funding.js";

/**
 * Closes lots of the position in `row`, NONE for the backstop's, on which `side` closes; returns the lots
 * that are left. Each account considered counts as a maker of the command; what follows from it is charged
 * where it happens (work.ts).
 */
export function deleverage(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  lots: number,
  ticks: number,
): number {
  return s.rules.deleveragesInProportion
    ? inProportion(s, market, row, side, lots, ticks)
    : byRank(s, market, row, side, lots, ticks);
}

/**
 * Version 3: all winners in proportion to their unrealised profit; where none is left, the others in
 * proportion to their lots.
 */
function inProportion(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  lots: number,
  ticks: number,
): number {
  const { work } = s.scratch;
  const account = row === NONE ? BACKSTOP_ACCOUNT : market.positions.account(row);
  const shares = sharesOf(s, market, side);
  shares.begin();
  let left = lots;
  for (;;) {
    // Those that are passed over are met again.
    const most = Math.ceil(work.left / UNITS_PER_MAKER) - shares.passedOver.size;
    if (
      left === 0 ||
      most <= 0 ||
      !shares.divide(left, Math.min(DELEVERAGED_TOGETHER, most), account)
    )
      break;
    for (let i = 0; i < shares.rows.length; i++) {
      if (work.left <= UNITS_PER_MAKER * shares.passedOver.size) break;
      work.charge(UNITS_PER_MAKER);
      const other = shares.rows[i]!;
      const share = shares.lots[i]!;
      if (deleverageOne(s, market, row, side, other, share, ticks, false)) left -= share;
      else shares.passOver(other);
    }
  }
  // The backstop gives lots away at mark, where nobody who is solvent is passed over.
  if (row !== NONE) left = chargeFund(s, market, row, side, shares.passedOver, left, ticks);
  shares.end();
  return left;
}

function sharesOf(s: VenueState, market: Market, side: Side): DeleveragingShares {
  const { shares } = s.scratch;
  const at = 2 * market.number + (side === LONG ? 1 : 0);
  const found = shares[at] ?? new DeleveragingShares(s, market, side);
  shares[at] = found;
  return found;
}

/** Takes from those that cannot pay, as far as the command may meet them; returns the lots left. */
function chargeFund(
  s: VenueState,
  market: Market,
  row: number,
  side: Side,
  passedOver: Iterable<number>,
  lots: number,
  ticks: number,
): number {
  let left = lots;
  for (const other of passedOver) {
    if (left === 0 || s.scratch.work.left === 0) return left;
    s.scratch.work.charge(UNITS_PER_MAKER);
    const share = Math.min(left, Math.abs(market.positions.lots(other)));
    deleverageOne(s, market, row, side, other, share, ticks, true);
    left -= share;
  }
  return left;
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
 * Version 2: the first by profit × leverage. It looks for others only while those that it has skipped can
 * be met again: otherwise every tick would skip the same 2,000.
 */
function byRank(
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
  return chargeFund(s, market, row, side, skipped, left, ticks);
}

/** Closes `lots` of another account against the position; false if that would bankrupt it. */
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
  const takerPnlMicros =
    row === NONE
      ? tradeBackstop(s, market, side, lots, ticks)
      : closeLiquidated(s, market, row, lots, ticks);
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
    takerAccount: row === NONE ? BACKSTOP_ACCOUNT : positions.account(row),
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
