/** A fill between a taker and a maker: booked on both sides, reported, and settled. */
import { LONG, SHORT, type Side } from "../commands.js";
import { emit } from "../events/event-log.js";
import { tradeBackstop } from "../money/backstop.js";
import { closeLiquidated } from "../money/bankruptcy.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { coverFill, endExitsOf } from "./exits.js";
import { changeReserve, removeOrder } from "./open-orders.js";
import { reserveFor, settle } from "./settle.js";
import { TAKER_LIQUIDATION, TAKER_ORDER, type Taker, UNBUDGETED } from "./taker.js";

/** Books the planned fill on both sides, reports it, and settles both accounts. */
export function trade(
  s: VenueState,
  market: Market,
  taker: Taker,
  maker: number,
  lots: number,
  ticks: number,
): void {
  const { orders } = s;
  const { makerPlan, takerPlan } = s.scratch;
  orders.table.touch(maker);
  const makerRow = orders.position(maker);
  const makerSide: Side = taker.side === LONG ? SHORT : LONG;
  market.positions.table.touch(makerRow);
  changeReserve(s, market, maker, 0, 0);
  makerPlan.apply(s, market, makerRow, makerSide, ticks);

  let takerPnl = 0;
  let takerFee = 0;
  if (taker.kind === TAKER_ORDER) {
    takerPlan.apply(s, market, taker.row, taker.side, ticks);
    takerPnl = takerPlan.pnlMicros;
    takerFee = takerPlan.feeMicros;
    taker.openedLots += takerPlan.openingLots;
  } else if (taker.kind === TAKER_LIQUIDATION) {
    takerPnl = closeLiquidated(s, market, taker.row, lots, ticks);
  } else {
    takerPnl = tradeBackstop(s, market, taker.side, lots, ticks);
  }
  const micros = lots * ticks * market.microsPerTickLot;
  taker.lotsLeft -= lots;
  if (taker.budgetMicros !== UNBUDGETED) taker.budgetMicros -= micros;
  taker.filledLots += lots;
  taker.filledMicros += micros;
  taker.feeMicros += takerFee;
  countTerms(s, market, taker, maker, micros, ticks);
  market.last = ticks;

  emit.Traded(s.events, {
    market: market.number,
    tradeKind: taker.kind,
    takerSide: taker.side,
    priceTicks: ticks,
    lots,
    makerOrderId: orders.id(maker),
    makerAccount: orders.account(maker),
    makerFeeMicros: makerPlan.feeMicros,
    makerPnlMicros: makerPlan.pnlMicros,
    takerOrderId: taker.orderId,
    takerAccount: taker.account,
    takerFeeMicros: takerFee,
    takerPnlMicros: takerPnl,
  });

  if (s.exits.size > 0) {
    coverFill(s, market, makerRow, orders.id(maker), makerPlan);
    if (taker.kind === TAKER_ORDER) coverFill(s, market, taker.row, taker.orderId, takerPlan);
  }
  shrinkMaker(s, market, maker, makerRow, lots);
  settle(s, market, makerRow);
  if (taker.kind === TAKER_ORDER) settle(s, market, taker.row);
}

/** Counts the fill where terms of the orders depend on their fills. */
function countTerms(
  s: VenueState,
  market: Market,
  taker: Taker,
  maker: number,
  micros: number,
  ticks: number,
): void {
  const { makerPlan, takerPlan } = s.scratch;
  const unit = ticks * market.microsPerTickLot;
  if (taker.bound.isSet) {
    const opened = takerPlan.openingLots * unit;
    taker.openedMicros += opened;
    taker.bound.spend(micros, opened);
  }
  const row = s.orders.extrasRow(maker);
  if (row === NONE || !s.orders.extras.isBounded(row)) return;
  s.orders.extras.addFill(row, micros, makerPlan.openingLots * unit);
}

/** Takes filled lots off the maker's order, and removes it once it is filled. */
function shrinkMaker(
  s: VenueState,
  market: Market,
  maker: number,
  makerRow: number,
  lots: number,
): void {
  const { orders } = s;
  const orderId = orders.id(maker);
  const remaining = orders.remaining(maker) - lots;
  orders.setRemaining(maker, remaining);
  market.ladder(orders.side(maker)).reduce(maker, lots);
  const covered = orders.closing(maker);
  if (covered > remaining) {
    orders.setClosing(maker, remaining);
    market.positions.addCovered(makerRow, remaining - covered);
  }
  // An exit that ends with the same fill may leave nothing to cover or uncover, which would move it on.
  if (covered >= remaining && market.positions.frontier(makerRow) === maker) {
    market.positions.setFrontier(makerRow, orders.next(maker));
  }
  if (remaining > 0) {
    reserveFor(s, market, maker);
    return;
  }
  emit.OrderEnded(s.events, {
    orderId,
    account: orders.account(maker),
    market: market.number,
    reason: END.none,
    remainingLots: 0,
  });
  removeOrder(s, market, maker);
  if (s.exits.size > 0) endExitsOf(s, market, orderId);
}
