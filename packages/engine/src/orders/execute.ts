/** Executes an accepted order: a market, limit or stop order, and what is kept of it. */
import { type ClientIdWords, NO_CLIENT_ID } from "@perpgate/protocol/client-order-id";
import { divFloor } from "@perpgate/protocol/integers";
import {
  CANCEL_RESTING,
  GOOD_TILL_CANCELED,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  type OrderExtras,
  type OrderTypeCode,
  type PlaceOrder,
  STOP_ORDER,
  STOP_TRIGGER,
} from "../commands.js";
import { emit } from "../events/event-log.js";
import {
  STATUS_CANCELED,
  STATUS_FILLED,
  STATUS_PENDING,
  STATUS_RESTING,
} from "../events/event-table.js";
import { closable } from "../money/fill.js";
import { restingBar, takerBar } from "../money/opening.js";
import { settleFunding } from "../money/owed-funding.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { match } from "./match.js";
import { enterOrder } from "./open-orders.js";
import { reserveFor, settle } from "./settle.js";
import { TAKER_ORDER, UNBUDGETED } from "./taker.js";

/** Reports the order and prepares its taker. */
export function announce(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  row: number,
): void {
  const { taker, placement } = s.scratch;
  emit.OrderPlaced(s.events, {
    orderId: s.seq,
    account: session.account,
    market: order.market,
    side: order.side,
    type: order.type,
    priceTicks: order.priceTicks,
    lots: placement.lots,
    marginMicros: order.marginMicros,
    leverage: order.leverage,
    reduceOnly: order.reduceOnly ? 1 : 0,
    postOnly: order.postOnly ? 1 : 0,
    nonce: order.nonce,
    session: session.number,
  });
  const { extras } = order;
  if (extras !== undefined) reportExtras(s, s.seq, extras, s.scratch.clientId);
  settleFunding(s, market, row);
  taker.begin(TAKER_ORDER, order.side, row, session.account, s.seq);
  taker.reduceOnly = order.reduceOnly;
  taker.leverage = order.leverage;
  taker.feePpm = market.config.takerFeePpm;
  taker.bar = takerBar(s, market, session.account);
  taker.maxNotionalMicros = session.maxNotionalMicros;
  if (extras !== undefined) taker.selfTrade = extras.selfTrade;
  boundTaker(s, order);
}

export function execute(s: VenueState, session: Session, market: Market, order: PlaceOrder): void {
  const { placement, outcome } = s.scratch;
  const row = market.positions.ensure(session.account);
  announce(s, session, market, order, row);
  outcome.status = STATUS_FILLED;
  outcome.reason = END.none;
  outcome.remainingLots = 0;
  if (order.type === STOP_ORDER) {
    keepOpen(s, session, market, order, row, placement.lots);
    outcome.status = STATUS_PENDING;
    outcome.remainingLots = placement.lots;
  } else if (order.type === LIMIT_ORDER) {
    executeLimit(s, session, market, order, row);
  } else {
    executeMarket(s, market, order);
  }
}

export function reportExtras(
  s: VenueState,
  orderId: number,
  extras: OrderExtras,
  clientId: ClientIdWords,
): void {
  const [client1, client2, client3, client4, client5] = clientId;
  emit.OrderExtended(s.events, {
    orderId,
    sizeLots: extras.sizeLots,
    timeInForce: extras.timeInForce,
    expiresAtMs: extras.expiresAtMs,
    trigger: extras.trigger,
    limitTicks: extras.limitTicks,
    closePosition: extras.closePosition ? 1 : 0,
    selfTrade: extras.selfTrade,
    client1,
    client2,
    client3,
    client4,
    client5,
  });
}

function boundTaker({ scratch }: VenueState, order: PlaceOrder): void {
  const { sizeLots, orderCapMicros } = scratch.placement;
  if (sizeLots === 0 && orderCapMicros === 0) return;
  // Without a size its margin has fixed its lots or its money.
  const marginMicros = sizeLots > 0 ? order.marginMicros : 0;
  // A limit order was accepted for its lots: rounding, fill by fill, must not leave one of them out.
  const roundsEachFill = order.type !== LIMIT_ORDER;
  scratch.taker.bound.set(marginMicros, order.leverage, 0, orderCapMicros, 0, roundsEachFill);
}

function executeLimit(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  row: number,
): void {
  const { taker, placement, outcome } = s.scratch;
  taker.lotsLeft = placement.lots;
  taker.limitTicks = order.priceTicks;
  match(s, market, taker);
  outcome.remainingLots = taker.lotsLeft;
  if (outcome.remainingLots === 0) return;
  outcome.reason = taker.stopReason === END.book_empty ? END.none : taker.stopReason;
  if (outcome.reason === END.none && order.reduceOnly) {
    if (market.positions.lots(row) * order.side >= 0) outcome.reason = END.reduce_only;
  }
  if (placement.isImmediate) {
    outcome.status = STATUS_CANCELED;
    if (outcome.reason === END.none && taker.filledLots === 0) outcome.reason = END.not_filled;
    return;
  }
  if (outcome.reason === END.none && !order.reduceOnly && placement.closableLots > 0) {
    outcome.reason = barOfRest(s, session, market, order, row);
  }
  if (outcome.reason !== END.none) {
    outcome.status = STATUS_CANCELED;
    return;
  }
  keepOpen(s, session, market, order, row, outcome.remainingLots);
  settle(s, market, row);
  if (s.orders.index.get(s.seq) !== NONE) {
    outcome.status = STATUS_RESTING;
    emit.OrderRested(s.events, { orderId: s.seq, remainingLots: outcome.remainingLots });
  } else {
    outcome.status = STATUS_CANCELED;
    // In a reduce-only market no order reserves, so none is unfunded.
    outcome.reason = market.mayOpen ? END.unfunded : END.market_reduce_only;
  }
}

/**
 * Why what its fills have left of an order with a closing part may not rest. Its placement was judged
 * by the lots that the book showed; makers may have filled fewer.
 */
export function barOfRest(
  s: VenueState,
  session: Session,
  market: Market,
  order: Pick<PlaceOrder, "side" | "leverage" | "priceTicks">,
  row: number,
): number {
  const { positions } = market;
  const closes = closable(market, row, order.side);
  const lots = s.scratch.taker.lotsLeft;
  const opening = closes === 0 ? lots : lots - (closes - positions.covered(row));
  if (opening <= 0) return END.none;
  const held = closes === 0 ? Math.abs(positions.lots(row)) : 0;
  const micros = opening * order.priceTicks * market.microsPerTickLot;
  const { account, maxNotionalMicros } = session;
  return restingBar(s, market, account, order.leverage, held, opening, micros, maxNotionalMicros);
}

function executeMarket(s: VenueState, market: Market, order: PlaceOrder): void {
  const { taker, placement, outcome } = s.scratch;
  const isSized = placement.sizeLots > 0;
  taker.lotsLeft = order.reduceOnly || isSized ? placement.lots : Number.POSITIVE_INFINITY;
  taker.budgetMicros = isSized ? UNBUDGETED : placement.notionalMicros;
  taker.bandTicks = market.mark + order.side * placement.bandTicks;
  if (order.priceTicks > 0) {
    taker.limitTicks = order.priceTicks;
    taker.limitReason = END.worst_price;
  }
  match(s, market, taker);
  outcome.reason = taker.stopReason;
  if (isSized) {
    outcome.remainingLots = taker.lotsLeft;
    if (taker.lotsLeft === 0) return;
    outcome.status = STATUS_CANCELED;
    if (outcome.reason === END.none) outcome.reason = END.reduce_only;
    return;
  }
  if (outcome.reason === END.none) {
    if (taker.filledLots > 0) return;
    // Nothing was filled, and its money buys no lot at the best price.
    outcome.reason = END.below_lot;
  }
  const left = divFloor(taker.budgetMicros, market.markUnit);
  outcome.remainingLots = Math.min(left, taker.lotsLeft);
  if (outcome.remainingLots === 0 && taker.filledLots > 0) outcome.reason = END.none;
  else outcome.status = STATUS_CANCELED;
}

/** Adds the order to the book or to the stops. */
function keepOpen(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  row: number,
  remainingLots: number,
): void {
  const { lots, orderCapMicros } = s.scratch.placement;
  // One that closes the position goes by a rule of its own.
  const terms = order.extras?.closePosition === true ? { ...order, reduceOnly: false } : order;
  const slot = s.orders.add(s.seq, session.account, row, terms, lots, remainingLots);
  s.orders.setMaxNotional(slot, session.maxNotionalMicros);
  if (order.extras !== undefined) keepExtras(s, order.extras, s.scratch.clientId, slot);
  else if (orderCapMicros > 0) keepExtras(s, plainExtras(order.type), NO_CLIENT_ID, slot);
  enterOrder(s, market, slot);
  if (order.type === LIMIT_ORDER) reserveFor(s, market, slot);
}

function keepExtras(
  s: VenueState,
  terms: OrderExtras,
  clientId: ClientIdWords,
  slot: number,
): void {
  const { orders, scratch } = s;
  const { filledMicros, openedMicros } = scratch.taker;
  const { extras } = orders;
  const words = extras.wordsFor(s.seq, terms, clientId, scratch.placement.orderCapMicros);
  const row = orders.addExtras(slot, words);
  orders.clientIds.add(slot);
  if (filledMicros > 0 && extras.isBounded(row)) extras.addFill(row, filledMicros, openedMicros);
}

/** The terms of an open order that was sent without any. */
export function plainExtras(type: OrderTypeCode): OrderExtras {
  return {
    sizeLots: 0,
    timeInForce: type === STOP_ORDER ? IMMEDIATE_OR_CANCEL : GOOD_TILL_CANCELED,
    expiresAtMs: 0,
    clientOrderId: "",
    trigger: STOP_TRIGGER,
    limitTicks: 0,
    closePosition: false,
    selfTrade: CANCEL_RESTING,
    validUntilMs: 0,
  };
}
