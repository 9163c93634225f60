/**
 * The matching loop (docs/engine.md, "Matching loop"): best price first, oldest order first, until
 * the taker has what it wants or must stop. Makers and takers fill what they can pay for; every
 * fill settles both accounts before the next maker is considered.
 */
import { divFloor } from "@perpgate/protocol/integers";
import { LONG, SHORT, type Side } from "../commands.js";
import { emit } from "../events/event-log.js";
import { tradeBackstop } from "../money/backstop.js";
import { bankruptcyTicks, closeLiquidated } from "../money/bankruptcy.js";
import { closable, type FillPlan } from "../money/fill.js";
import { makerBar, openInterestLots } from "../money/opening.js";
import { settleFunding } from "../money/owed-funding.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";
import { changeReserve, removeOrder } from "./open-orders.js";
import { endOrder, reserveFor, settle } from "./settle.js";
import { TAKER_LIQUIDATION, TAKER_ORDER, type Taker, UNBUDGETED } from "./taker.js";

export function match(s: VenueState, market: Market, taker: Taker): void {
  const ladder = market.opposite(taker.side);
  while (wantsMore(market, taker)) {
    if (ladder.count === 0) {
      taker.stopReason = END.book_empty;
      return;
    }
    const ticks = ladder.bestTicks();
    if (taker.kind === TAKER_LIQUIDATION) {
      taker.limitTicks = bankruptcyTicks(market, taker.row, taker.side);
    }
    if (taker.isWorse(ticks, taker.limitTicks)) {
      taker.stopReason = taker.limitReason;
      return;
    }
    if (taker.isWorse(ticks, taker.bandTicks)) {
      taker.stopReason = END.band;
      return;
    }
    if (s.scratch.makersLeft === 0) {
      taker.stopReason = END.fill_limit;
      return;
    }
    s.scratch.makersLeft--;
    if (!meet(s, market, taker, ladder.bestOrder(), ticks)) return;
  }
}

/** Whether the taker wants lots at all, at any price. */
function wantsMore(market: Market, taker: Taker): boolean {
  if (taker.lotsLeft === 0 || taker.budgetMicros === 0) return false;
  return !taker.reduceOnly || closable(market, taker.row, taker.side) > 0;
}

/** Matches the taker with one maker; returns false when the taker is done. */
function meet(s: VenueState, market: Market, taker: Taker, maker: number, ticks: number): boolean {
  const { makerPlan, takerPlan } = s.scratch;
  if (taker.kind === TAKER_ORDER && s.orders.account(maker) === taker.account) {
    endOrder(s, market, maker, END.self_trade);
    return true;
  }
  const wanted = wantedAt(market, taker, ticks);
  if (wanted === 0) return false;
  const makerId = s.orders.id(maker);
  let asked = Math.min(wanted, offeredBy(s, market, maker));
  if (taker.kind === TAKER_ORDER) {
    asked = Math.min(asked, interestRoom(s, market, taker, maker, asked));
    if (asked === 0) {
      taker.stopReason = END.open_interest_limit;
      return false;
    }
  }
  settleFunding(s, market, s.orders.position(maker));
  const offered = planMaker(s, market, makerPlan, maker, asked, ticks);
  if (offered === 0) {
    endOrder(s, market, maker, makerPlan.reason);
    return true;
  }
  const makerShort = offered < asked ? makerPlan.reason : END.none;
  let filled = offered;
  let takerShort: number = END.none;
  if (taker.kind === TAKER_ORDER) {
    filled = planTaker(s, market, takerPlan, taker, offered, ticks);
    if (filled < offered) {
      takerShort = takerPlan.reason;
      if (filled === 0) {
        taker.stopReason = takerShort;
        return false;
      }
      // Fewer lots round differently: the maker must be able to fill exactly these.
      if (planMaker(s, market, makerPlan, maker, filled, ticks) < filled) {
        endOrder(s, market, maker, makerPlan.reason);
        return true;
      }
    }
  }
  trade(s, market, taker, maker, filled, ticks);
  if (filled === offered && makerShort !== END.none) {
    // Settling may have ended it already, and its row may belong to another order.
    if (s.orders.index.get(makerId) === maker) endOrder(s, market, maker, makerShort);
  }
  if (takerShort === END.none) return true;
  taker.stopReason = takerShort;
  return false;
}

/** Lots that the taker wants at that price. */
function wantedAt(market: Market, taker: Taker, ticks: number): number {
  let wanted = taker.lotsLeft;
  if (taker.budgetMicros !== UNBUDGETED) {
    wanted = Math.min(wanted, divFloor(taker.budgetMicros, ticks * market.microsPerTickLot));
  }
  if (taker.reduceOnly) wanted = Math.min(wanted, closable(market, taker.row, taker.side));
  return wanted;
}

/** Lots that a resting order offers, its account's funds aside. */
function offeredBy({ orders }: VenueState, market: Market, maker: number): number {
  const remaining = orders.remaining(maker);
  if (!orders.isReduceOnly(maker)) return remaining;
  return Math.min(remaining, closable(market, orders.position(maker), orders.side(maker)));
}

/**
 * Lots that open interest has room for. Lots that close for one side do not raise it; lots that open
 * on both sides must leave it within its bound.
 */
function interestRoom(
  s: VenueState,
  market: Market,
  taker: Taker,
  maker: number,
  asked: number,
): number {
  const bound = divFloor(market.config.maxOpenInterestMicros, market.markUnit);
  const interest = openInterestLots(market);
  if (interest + asked <= bound) return asked;
  const taken = closable(market, taker.row, taker.side);
  const given = closable(market, s.orders.position(maker), s.orders.side(maker));
  // Lots that close on both sides lower it first.
  const room = bound - interest + Math.min(taken, given);
  return Math.max(taken, given) + Math.max(0, room);
}

function planTaker(
  s: VenueState,
  market: Market,
  plan: FillPlan,
  taker: Taker,
  lots: number,
  ticks: number,
): number {
  return plan.plan(
    s,
    market,
    taker.row,
    taker.side,
    lots,
    ticks,
    taker.feePpm,
    taker.leverage,
    0,
    taker.bar,
    taker.maxNotionalMicros,
  );
}

function planMaker(
  s: VenueState,
  market: Market,
  plan: FillPlan,
  maker: number,
  lots: number,
  ticks: number,
): number {
  const { orders } = s;
  return plan.plan(
    s,
    market,
    orders.position(maker),
    orders.side(maker),
    lots,
    ticks,
    market.config.makerFeePpm,
    orders.leverage(maker),
    orders.reserve(maker),
    makerBar(s, market, orders.account(maker)),
    orders.maxNotional(maker),
  );
}

/** Books the planned fill on both sides, reports it, and settles both accounts. */
function trade(
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

  shrinkMaker(s, market, maker, makerRow, lots);
  settle(s, market, makerRow);
  if (taker.kind === TAKER_ORDER) settle(s, market, taker.row);
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
  const remaining = orders.remaining(maker) - lots;
  orders.setRemaining(maker, remaining);
  market.ladder(orders.side(maker)).reduce(maker, lots);
  const covered = orders.closing(maker);
  if (covered > remaining) {
    orders.setClosing(maker, remaining);
    market.positions.addCovered(makerRow, remaining - covered);
  }
  if (remaining > 0) {
    reserveFor(s, market, maker);
    return;
  }
  emit.OrderEnded(s.events, {
    orderId: orders.id(maker),
    account: orders.account(maker),
    market: market.number,
    reason: END.none,
    remainingLots: 0,
  });
  removeOrder(s, market, maker);
}
