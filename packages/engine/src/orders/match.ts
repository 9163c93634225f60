/**
 * The matching loop (docs/engine.md, "Matching loop"): best price first, oldest order first, until
 * the taker has what it wants or must stop. Makers and takers fill what they can pay for; every
 * fill settles both accounts before the next maker is considered.
 */
import { divFloor } from "@perpgate/protocol/integers";
import { CANCEL_RESTING, CANCEL_TAKER } from "../commands.js";
import { bankruptcyTicks } from "../money/bankruptcy.js";
import { closable, type FillPlan } from "../money/fill.js";
import { makerBar } from "../money/opening.js";
import { settleFunding } from "../money/owed-funding.js";
import { END } from "../reasons.js";
import type { Ladder } from "../state/ladder.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { UNITS_PER_MAKER } from "../work.js";
import { overReason } from "./over.js";
import { endOrder } from "./settle.js";
import { TAKER_LIQUIDATION, TAKER_ORDER, type Taker, UNBUDGETED } from "./taker.js";
import { trade } from "./trade.js";

export function match(s: VenueState, market: Market, taker: Taker): void {
  const { work, trial } = s.scratch;
  const ladder = market.opposite(taker.side);
  let met = 0;
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
    if (work.left === 0) {
      taker.stopReason = END.fill_limit;
      return;
    }
    const before = work.spent;
    work.charge(UNITS_PER_MAKER);
    if (++met % WARMED === 0) warmMakers(s, market, ladder);
    const { endedBySettle } = s.scratch;
    const maker = ladder.bestOrder();
    if (trial.isOn) trial.notePosition(market, s.orders.position(maker));
    const over = overReason(s, maker);
    const goesOn = over !== END.none || meet(s, market, taker, maker, ticks);
    if (over !== END.none) endOrder(s, market, maker, over);
    s.scratch.countMet(endedBySettle, s.rules.endsPerMaker);
    if (over !== END.none) work.setAside(before);
    if (!goesOn) return;
  }
}

/** Makers whose rows are read ahead together. */
const WARMED = 16;

/**
 * Reads the rows of the next makers of a taker that has met many. One after the other, each would wait
 * for memory a dozen times; here the processor waits for all of them together.
 */
function warmMakers(s: VenueState, { positions }: Market, ladder: Ladder): void {
  const { orders, accounts } = s;
  let sum = 0;
  let left = WARMED;
  for (let level = 0; level < ladder.count && left > 0; level++) {
    for (let order = ladder.firstOrderAt(level); order !== NONE && left > 0; left--) {
      const row = orders.position(order);
      sum += orders.table.warm(order) + orders.index.get(orders.id(order));
      sum += positions.table.warm(row) + positions.warm(row) + accounts.warm(orders.account(order));
      order = orders.nextAtLevel(order);
    }
  }
  s.scratch.warmed = sum;
}

/** Whether the taker wants lots at all, at any price. */
function wantsMore(market: Market, taker: Taker): boolean {
  if (taker.lotsLeft === 0 || taker.budgetMicros === 0) return false;
  return !taker.reduceOnly || closable(market, taker.row, taker.side) > 0;
}

/** Matches the taker with one maker; returns false when the taker is done. */
function meet(s: VenueState, market: Market, taker: Taker, maker: number, ticks: number): boolean {
  const { makerPlan, takerPlan } = s.scratch;
  const extras = s.orders.extrasRow(maker);
  if (taker.kind === TAKER_ORDER && s.orders.account(maker) === taker.account) {
    return meetOwn(s, market, taker, maker);
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
  let makerShort: number = END.none;
  if (extras !== NONE) {
    asked = boundMaker(s, market, maker, extras, asked, ticks);
    makerShort = s.scratch.makerBound.reason;
    if (asked === 0) {
      endOrder(s, market, maker, makerShort);
      return true;
    }
  }
  const offered = planMaker(s, market, makerPlan, maker, asked, ticks);
  if (offered === 0) {
    endOrder(s, market, maker, makerPlan.reason);
    return true;
  }
  if (offered < asked) makerShort = makerPlan.reason;
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

/** The taker meets an order of its own account: one of them ends, or both. */
function meetOwn(s: VenueState, market: Market, taker: Taker, maker: number): boolean {
  const { selfTrade } = taker;
  if (selfTrade !== CANCEL_TAKER) endOrder(s, market, maker, END.self_trade);
  if (selfTrade === CANCEL_RESTING) return true;
  taker.stopReason = END.self_trade;
  return false;
}

/** Of the lots asked of a maker, those that its terms leave. */
function boundMaker(
  { orders, scratch }: VenueState,
  market: Market,
  maker: number,
  extras: number,
  asked: number,
  ticks: number,
): number {
  const { makerBound } = scratch;
  makerBound.reason = END.none;
  makerBound.setOf(orders, maker, extras, false);
  if (!makerBound.isSet) return asked;
  const closes = closable(market, orders.position(maker), orders.side(maker));
  return makerBound.lots(asked, closes, ticks * market.microsPerTickLot);
}

/** Lots that the taker wants at that price; 0 with a reason if its terms leave none. */
function wantedAt(market: Market, taker: Taker, ticks: number): number {
  let wanted = taker.lotsLeft;
  if (taker.budgetMicros !== UNBUDGETED) {
    wanted = Math.min(wanted, divFloor(taker.budgetMicros, ticks * market.microsPerTickLot));
  }
  if (taker.reduceOnly) wanted = Math.min(wanted, closable(market, taker.row, taker.side));
  if (!taker.bound.isSet) return wanted;
  const closes = closable(market, taker.row, taker.side);
  wanted = taker.bound.lots(wanted, closes, ticks * market.microsPerTickLot);
  if (wanted === 0) taker.stopReason = taker.bound.reason;
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
  const interest = market.openInterestLots;
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
