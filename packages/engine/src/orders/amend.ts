/**
 * AmendOrder: changes an open order, which keeps its id (docs/engine.md, "AmendOrder"). It keeps its
 * place in the queue if its price stays and its lots do not grow; otherwise it leaves the book, trades
 * what now crosses, and rests behind all others.
 */
import { NO_CLIENT_ID } from "@perpgate/protocol/client-order-id";
import { type AmendOrder, LIMIT_ORDER, STOP_ORDER } from "../commands.js";
import { emit } from "../events/event-log.js";
import {
  STATUS_CANCELED,
  STATUS_FILLED,
  STATUS_PENDING,
  STATUS_RESTING,
} from "../events/event-table.js";
import { takerBar } from "../money/opening.js";
import { settleFunding } from "../money/owed-funding.js";
import { END, REFUSAL } from "../reasons.js";
import { isTooLate, refuse } from "../refuse.js";
import { signingSession } from "../sessions/signing.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { mayAmend } from "./amend-checks.js";
import { barOfRest, plainExtras } from "./execute.js";
import { endExitsOf } from "./exits.js";
import { match } from "./match.js";
import {
  addStop,
  appendToLists,
  detachOrder,
  enterOrder,
  isExit,
  leaveStops,
  pendingNotional,
  releaseOrder,
  unlinkFromLists,
} from "./open-orders.js";
import { acknowledge } from "./place.js";
import { namedOrder } from "./placement-terms.js";
import { cancelOpen, reserveFor, settle, shrinkOrder } from "./settle.js";
import { TAKER_ORDER } from "./taker.js";

/** Checks and executes; returns whether it was accepted. `acknowledgeAmendment` follows. */
export function applyAmendOrder(s: VenueState, command: AmendOrder): boolean {
  const session = signingSession(s, command);
  if (session === undefined) return false;
  if (isTooLate(s, command.validUntilMs)) return refuse(s, REFUSAL.too_late, s.timeMs);
  const order = namedOrder(s, session.account, command.orderId, command.clientOrderId);
  if (order !== NONE) s.focus = s.orders.market(order);
  if (!mayAmend(s, session, order, command)) return false;
  s.scratch.session = session;
  execute(s, session, s.markets[s.focus]!, order, command);
  return true;
}

export function acknowledgeAmendment(s: VenueState, command: AmendOrder): void {
  const { orderId, side, type } = s.scratch.amendment;
  const { market, nonce, batch } = command;
  const order = { market, side, type, nonce };
  const client = s.scratch.clientId;
  acknowledge(s, batch === undefined ? order : { ...order, batch }, orderId, client);
}

function execute(
  s: VenueState,
  session: Session,
  market: Market,
  order: number,
  command: AmendOrder,
): void {
  const { orders } = s;
  const { amendment, outcome, taker } = s.scratch;
  const row = market.positions.ensure(session.account);
  orders.table.touch(order);
  amendment.orderId = orders.id(order);
  amendment.side = orders.side(order);
  const isStop = orders.isStop(order);
  // A stop that was triggered and rests is a stop to its owner.
  amendment.type = isStop || amendment.limitTicks > 0 ? STOP_ORDER : LIMIT_ORDER;
  const extras = orders.extrasRow(order);
  s.scratch.clientId = extras === NONE ? NO_CLIENT_ID : orders.extras.clientId(extras);
  taker.begin(TAKER_ORDER, amendment.side, row, session.account, amendment.orderId);
  outcome.reason = END.none;
  if (amendment.isCancel) {
    outcome.status = STATUS_CANCELED;
    outcome.reason = END.requested;
    outcome.remainingLots = orders.remaining(order);
    cancelOpen(s, market, order, END.requested);
    return;
  }
  emit.OrderAmended(s.events, {
    orderId: amendment.orderId,
    account: session.account,
    market: market.number,
    session: session.number,
    nonce: command.nonce,
    priceTicks: amendment.priceTicks,
    lots: amendment.lots,
    remainingLots: amendment.remainingLots,
    limitTicks: amendment.limitTicks,
    expiresAtMs: amendment.expiresAtMs,
  });
  settleFunding(s, market, row);
  orders.setMaxNotional(order, session.maxNotionalMicros);
  amendExtras(s, order, command);
  outcome.remainingLots = amendment.remainingLots;
  if (isStop) amendStop(s, market, order);
  else if (amendment.keepsRank) amendInPlace(s, market, order);
  else queueAgain(s, session, market, order);
}

/** The terms that plain orders do not have; one that is to expire, or has a cap now, gets them. */
function amendExtras({ orders, scratch }: VenueState, order: number, command: AmendOrder): void {
  const { extras } = orders;
  const { expiresAtMs, limitTicks, lots, orderCapMicros, filledMicros } = scratch.amendment;
  const account = orders.account(order);
  if (orders.extrasRow(order) === NONE) {
    if (expiresAtMs === 0 && orderCapMicros === 0) return;
    const terms = plainExtras(orders.isStop(order) ? STOP_ORDER : LIMIT_ORDER);
    orders.addExtras(order, extras.wordsFor(orders.id(order), terms, NO_CLIENT_ID, 0));
  }
  const row = orders.ownExtrasRow(order);
  extras.table.touch(row);
  extras.setMaxOrderNotional(row, orderCapMicros);
  if (extras.sizeLots(row) === 0) extras.setFilledMicros(row, filledMicros);
  extras.setLimitTicks(row, limitTicks);
  if (command.sizeLots > 0 && extras.sizeLots(row) > 0) extras.setSizeLots(row, lots);
  if (expiresAtMs !== extras.expiresAtMs(row)) extras.setExpiresAtMs(row, expiresAtMs, account);
}

function amendStop(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  const { positions } = market;
  const row = orders.position(order);
  const waits = !isExit(orders, order) || orders.remaining(order) > 0;
  leaveStops(s, market, order);
  positions.addPendingNotional(row, -pendingNotional(s, market, order));
  if (!s.scratch.amendment.keepsRank) {
    unlinkFromLists(orders, positions, order);
    orders.setRank(order, s.nextRank(market));
    appendToLists(orders, positions, order);
  }
  applyTerms(s, order);
  positions.addPendingNotional(row, pendingNotional(s, market, order));
  if (waits) addStop(s, market, order);
  s.scratch.outcome.status = STATUS_PENDING;
}

function amendInPlace(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  const { amendment, outcome } = s.scratch;
  const surplus = orders.remaining(order) - amendment.remainingLots;
  if (surplus > 0) {
    shrinkOrder(s, market, order, surplus);
    settle(s, market, orders.position(order));
  }
  outcome.status = STATUS_RESTING;
}

/** Takes the order out of the book, lets it take what it crosses, and queues what is left. */
function queueAgain(s: VenueState, session: Session, market: Market, order: number): void {
  const { orders } = s;
  const { amendment, taker, outcome } = s.scratch;
  const row = orders.position(order);
  taker.reduceOnly = orders.isReduceOnly(order);
  s.scratch.serving = amendment.orderId;
  detachOrder(s, market, order);
  orders.setClosing(order, 0);
  settle(s, market, row);
  applyTerms(s, order);
  taker.leverage = orders.leverage(order);
  taker.feePpm = market.config.takerFeePpm;
  taker.bar = takerBar(s, market, session.account);
  taker.maxNotionalMicros = session.maxNotionalMicros;
  const extras = orders.extrasRow(order);
  if (extras !== NONE) {
    taker.selfTrade = orders.extras.selfTrade(extras);
    taker.bound.setOf(orders, order, extras, false);
  }
  taker.lotsLeft = amendment.remainingLots;
  taker.limitTicks = amendment.priceTicks;
  match(s, market, taker);
  s.scratch.serving = 0;
  outcome.remainingLots = taker.lotsLeft;
  outcome.reason = reasonToEnd(s, session, market, row);
  if (taker.lotsLeft === 0 || outcome.reason !== END.none) {
    outcome.status = taker.lotsLeft === 0 ? STATUS_FILLED : STATUS_CANCELED;
    endDetached(s, market, order);
    return;
  }
  if (extras !== NONE && orders.extras.isBounded(extras)) {
    orders.extras.addFill(extras, taker.filledMicros, taker.openedMicros);
  }
  orders.setRemaining(order, taker.lotsLeft);
  orders.setRank(order, s.nextRank(market));
  enterOrder(s, market, order);
  reserveFor(s, market, order);
  settle(s, market, row);
  const { orderId } = amendment;
  if (orders.index.get(orderId) !== NONE) {
    outcome.status = STATUS_RESTING;
    emit.OrderRested(s.events, { orderId, remainingLots: outcome.remainingLots });
  } else {
    outcome.status = STATUS_CANCELED;
    // In a reduce-only market no order reserves, so none is unfunded.
    outcome.reason = market.mayOpen ? END.unfunded : END.market_reduce_only;
  }
}

/** Why what its fills have left does not rest; none if it rests, or if nothing is left. */
function reasonToEnd(s: VenueState, session: Session, market: Market, row: number): number {
  const { amendment, placement, taker } = s.scratch;
  if (taker.lotsLeft === 0) return END.none;
  if (taker.stopReason !== END.none && taker.stopReason !== END.book_empty) return taker.stopReason;
  if (taker.reduceOnly) {
    return market.positions.lots(row) * taker.side >= 0 ? END.reduce_only : END.none;
  }
  if (placement.closableLots === 0) return END.none;
  const { side, priceTicks } = amendment;
  return barOfRest(s, session, market, { side, leverage: taker.leverage, priceTicks }, row);
}

/** Ends an order that is in no structure any more. */
function endDetached(s: VenueState, market: Market, order: number): void {
  const { outcome } = s.scratch;
  emit.OrderEnded(s.events, {
    orderId: s.orders.id(order),
    account: s.orders.account(order),
    market: market.number,
    reason: outcome.reason,
    remainingLots: outcome.remainingLots,
  });
  const row = s.orders.position(order);
  const orderId = s.orders.id(order);
  releaseOrder(s, market, order);
  if (s.exits.size > 0) endExitsOf(s, market, orderId);
  settle(s, market, row);
}

function applyTerms({ orders, scratch: { amendment } }: VenueState, order: number): void {
  orders.setPrice(order, amendment.priceTicks);
  orders.setLots(order, amendment.lots);
  orders.setRemaining(order, amendment.remainingLots);
}
