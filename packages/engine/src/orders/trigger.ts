/**
 * What a triggered stop does: it acts as a market order for its lots, as a limit order if it has a
 * limit, or closes the whole position (docs/engine.md, "Stops").
 */
import { divCeil, mulDivCeil } from "@perpgate/protocol/integers";
import { IMMEDIATE_OR_CANCEL } from "../commands.js";
import { PPM } from "../config.js";
import { emit } from "../events/event-log.js";
import { closable } from "../money/fill.js";
import { restingBar, takerBar } from "../money/opening.js";
import { settleFunding } from "../money/owed-funding.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { canOpen } from "./exits.js";
import { match } from "./match.js";
import {
  closesPosition,
  detachOrder,
  enterBehind,
  enterOrder,
  enterTriggered,
  isExit,
  limitOf,
  releaseOrder,
  removeStop,
  triggerOf,
} from "./open-orders.js";
import { endOrder, reserveFor, settle } from "./settle.js";
import { bandLimit, TAKER_ORDER } from "./taker.js";

/** `units`: of its turn. From version 3 on a stop that reaches it waits behind the others for the next one. */
export function trigger(s: VenueState, market: Market, order: number, units: number): void {
  s.focus = market.number;
  // A turn, also if it meets nobody.
  s.scratch.work.charge(s.rules.unitsPerService);
  const { orders } = s;
  const orderId = orders.id(order);
  const account = orders.account(order);
  const row = orders.position(order);
  if (closesPosition(orders, order)) {
    removeStop(s, market, order);
    orders.extras.setTriggered(orders.extrasRow(order));
    enterTriggered(s, market, order);
    market.positions.table.touch(row);
    emit.StopTriggered(s.events, { orderId, account, market: market.number });
    if (s.rules.fixesTriggeredLots) fixLots(s, market, order);
    if (orders.index.get(orderId) !== NONE) closePosition(s, market, order, units);
    return;
  }
  const line = orders.line(order);
  detachOrder(s, market, order);
  emit.StopTriggered(s.events, { orderId, account, market: market.number });
  take(s, market, order, units);
  const { taker } = s.scratch;
  const reason = reasonToEnd(s, market, order);
  if (reason === END.fill_limit && s.rules.takesTurns) {
    waitBehind(s, market, order, line);
    return;
  }
  if (taker.lotsLeft > 0 && reason === END.none) rest(s, market, order);
  else if (taker.lotsLeft === 0 && isExit(orders, order) && canOpen(s, order)) {
    waitAgain(s, market, order);
  } else end(s, market, order, taker.lotsLeft, reason);
}

/** A stop that has reached the limit of its turn keeps what is left of its terms. */
function waitBehind(s: VenueState, market: Market, order: number, line: number): void {
  const { orders } = s;
  keepFills(s, order);
  orders.setRemaining(order, s.scratch.taker.lotsLeft);
  orders.setRank(order, s.nextRank(market));
  enterBehind(s, market, order, line);
  settle(s, market, orders.position(order));
}

/** Counts the fills of this turn where the terms of the order depend on them. */
function keepFills({ orders, scratch }: VenueState, order: number): void {
  const { filledMicros, openedMicros } = scratch.taker;
  const extras = orders.extrasRow(order);
  if (extras === NONE || !orders.extras.isBounded(extras)) return;
  orders.extras.addFill(orders.ownExtrasRow(order), filledMicros, openedMicros);
}

/** An exit whose order may open more lots waits for them. */
function waitAgain(s: VenueState, market: Market, order: number): void {
  s.orders.setRank(order, s.nextRank(market));
  enterOrder(s, market, order);
  settle(s, market, s.orders.position(order));
}

/** Takes from the book what the stop may take. */
function take(s: VenueState, market: Market, order: number, units: number): void {
  const { orders, scratch } = s;
  const { taker } = scratch;
  const account = orders.account(order);
  const row = orders.position(order);
  const side = orders.side(order);
  const extras = orders.extrasRow(order);
  settleFunding(s, market, row);
  taker.begin(TAKER_ORDER, side, row, account, orders.id(order));
  taker.reduceOnly = orders.isReduceOnly(order);
  taker.leverage = orders.leverage(order);
  taker.feePpm = market.config.takerFeePpm;
  taker.bar = takerBar(s, market, account);
  taker.maxNotionalMicros = orders.maxNotional(order);
  taker.lotsLeft = orders.remaining(order);
  taker.bandTicks = bandLimit(market, side);
  if (extras !== NONE) {
    const limitTicks = orders.extras.limitTicks(extras);
    taker.selfTrade = orders.extras.selfTrade(extras);
    taker.bound.setOf(orders, order, extras, limitTicks === 0);
    if (limitTicks > 0) taker.limitTicks = limitTicks;
  }
  serve(s, market, orders.id(order), units);
}

/** Lets the taker of a stop meet makers for that many units. */
function serve(s: VenueState, market: Market, orderId: number, units: number): void {
  const { scratch } = s;
  const outer = scratch.work.narrow(units);
  scratch.serving = orderId;
  match(s, market, scratch.taker);
  scratch.serving = 0;
  scratch.work.widen(outer);
}

/** Why what is left of a triggered stop does not rest; none if it does, or if nothing is left. */
function reasonToEnd(s: VenueState, market: Market, order: number): number {
  const { orders } = s;
  const { taker } = s.scratch;
  if (taker.lotsLeft === 0) return END.none;
  if (taker.reduceOnly && closable(market, taker.row, taker.side) === 0) return END.reduce_only;
  const extras = orders.extrasRow(order);
  const limitTicks = limitOf(orders, order);
  if (limitTicks === 0) return taker.stopReason;
  // Nobody is left who sells at its price: what a limit order rests for.
  if (taker.stopReason !== END.none && taker.stopReason !== END.book_empty) return taker.stopReason;
  if (orders.extras.timeInForce(extras) === IMMEDIATE_OR_CANCEL) return END.not_filled;
  const band = Math.abs(bandLimit(market, taker.side) - market.mark);
  return Math.abs(limitTicks - market.mark) > band ? END.band : END.none;
}

function end(
  s: VenueState,
  market: Market,
  order: number,
  remainingLots: number,
  reason: number,
): void {
  const { orders } = s;
  const orderId = orders.id(order);
  const account = orders.account(order);
  const row = orders.position(order);
  releaseOrder(s, market, order);
  emit.OrderEnded(s.events, { orderId, account, market: market.number, reason, remainingLots });
  settle(s, market, row);
}

/** Queues what is left behind all others, as a limit order; lots that may not open are canceled. */
function rest(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  const { taker } = s.scratch;
  const extras = orders.extrasRow(order);
  const ticks = orders.extras.limitTicks(extras);
  const { lots: opening, reason } = mayRest(s, market, order, ticks);
  const remainingLots = taker.lotsLeft - opening;
  if (remainingLots === 0) {
    end(s, market, order, taker.lotsLeft, reason);
    return;
  }
  const orderId = orders.id(order);
  if (reason !== END.none) {
    const account = orders.account(order);
    emit.OrderReduced(s.events, { orderId, account, market: market.number, reason, remainingLots });
    orders.setLots(order, orders.lots(order) - opening);
  }
  keepFills(s, order);
  orders.setLimitType(order);
  orders.setPrice(order, ticks);
  orders.setRemaining(order, remainingLots);
  orders.setRank(order, s.nextRank(market));
  enterOrder(s, market, order);
  reserveFor(s, market, order);
  settle(s, market, orders.position(order));
  if (orders.index.get(orderId) !== NONE) emit.OrderRested(s.events, { orderId, remainingLots });
}

interface Barred {
  /** Lots that may not rest. */
  readonly lots: number;
  readonly reason: number;
}

/** Of what is left, the lots that would open and may not, or cannot be paid for. */
function mayRest(s: VenueState, market: Market, order: number, ticks: number): Barred {
  const { orders } = s;
  const { positions } = market;
  const { row, side, account, lotsLeft, reduceOnly } = s.scratch.taker;
  const closes = closable(market, row, side);
  const free = closes === 0 ? 0 : closes - positions.covered(row);
  const opening = reduceOnly ? 0 : Math.max(0, lotsLeft - free);
  if (opening === 0) return { lots: 0, reason: END.none };
  const held = closes === 0 ? Math.abs(positions.lots(row)) : 0;
  const leverage = orders.leverage(order);
  const unit = ticks * market.microsPerTickLot;
  const cap = orders.maxNotional(order);
  const bar = restingBar(s, market, account, leverage, held, opening, opening * unit, cap);
  if (bar !== END.none) return { lots: opening, reason: bar };
  const { makerFeePpm } = market.config;
  const wallet = s.wallet(account);
  const isPaid = (lots: number): boolean =>
    divCeil(lots * unit, leverage) + mulDivCeil(lots * unit, makerFeePpm, PPM) <= wallet;
  if (isPaid(opening)) return { lots: 0, reason: END.none };
  let low = 0;
  let high = opening;
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (isPaid(middle)) low = middle;
    else high = middle;
  }
  return { lots: opening - low, reason: END.unfunded };
}

/** A triggered stop that closes its position has the lots of this moment; it ends if there are none. */
export function fixLots(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  const row = orders.position(order);
  const lots = closable(market, row, orders.side(order));
  if (lots === 0) {
    endOrder(s, market, order, END.position_closed);
    return;
  }
  orders.table.touch(order);
  orders.setLots(order, lots);
  orders.setRemaining(order, lots);
  market.positions.setTriggeredStop(row, triggerOf(orders, order), order);
}

/**
 * Closes what the book takes of the position. What it does not take is tried again in later ticks; the
 * order ends in `settle`, once there is nothing that it could have to close, or with the last of its lots.
 */
export function closePosition(s: VenueState, market: Market, order: number, units: number): void {
  const { orders, scratch } = s;
  const { taker } = scratch;
  const orderId = orders.id(order);
  const row = orders.position(order);
  const side = orders.side(order);
  const isFixed = s.rules.fixesTriggeredLots;
  const lots = isFixed ? orders.remaining(order) : closable(market, row, side);
  if (lots === 0) return;
  settleFunding(s, market, row);
  taker.begin(TAKER_ORDER, side, row, orders.account(order), orderId);
  taker.reduceOnly = true;
  taker.feePpm = market.config.takerFeePpm;
  taker.selfTrade = orders.extras.selfTrade(orders.extrasRow(order));
  taker.lotsLeft = lots;
  taker.bandTicks = bandLimit(market, side);
  serve(s, market, orderId, units);
  // `settle` has ended it if it has closed the position.
  if (!isFixed || orders.index.get(orderId) === NONE) return;
  // What was opened since it was triggered is not its own to close.
  const left = Math.min(orders.remaining(order), lots - taker.filledLots);
  orders.table.touch(order);
  orders.setRemaining(order, left);
  if (left === 0) endOrder(s, market, order, END.none);
}
