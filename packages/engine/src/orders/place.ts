/** PlaceOrder: session and nonce, the checks, then market, limit or stop, and the acknowledgement. */
import { divFloor } from "@perpgate/protocol/integers";
import { LIMIT_ORDER, type PlaceOrder, STOP_ORDER } from "../commands.js";
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
import { END, REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import { signingSession } from "../sessions/signing.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { match } from "./match.js";
import { enterOrder } from "./open-orders.js";
import { mayPlace } from "./placement-checks.js";
import { reserveFor, settle } from "./settle.js";
import { TAKER_ORDER } from "./taker.js";

/**
 * Checks and executes; returns whether the order was accepted. The acknowledgement follows in
 * `acknowledge`, after the checks of the invariants.
 */
export function placeOrder(s: VenueState, order: PlaceOrder): boolean {
  const session = signingSession(s, order);
  if (session === undefined) return false;
  const market = s.markets[order.market];
  if (market === undefined) return refuse(s, REFUSAL.unknown_symbol);
  if (!mayPlace(s, session, market, order)) return false;
  s.focus = order.market;
  s.scratch.session = session;
  execute(s, session, market, order);
  return true;
}

function execute(s: VenueState, session: Session, market: Market, order: PlaceOrder): void {
  const { taker, placement, outcome } = s.scratch;
  const row = market.positions.ensure(session.account);
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
  settleFunding(s, market, row);
  taker.begin(TAKER_ORDER, order.side, row, session.account, s.seq);
  taker.reduceOnly = order.reduceOnly;
  taker.leverage = order.leverage;
  taker.feePpm = market.config.takerFeePpm;
  taker.bar = takerBar(s, market, session.account);
  taker.maxNotionalMicros = session.maxNotionalMicros;
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
function barOfRest(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
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
  taker.lotsLeft = order.reduceOnly ? placement.lots : Number.POSITIVE_INFINITY;
  taker.budgetMicros = placement.notionalMicros;
  taker.bandTicks = market.mark + order.side * placement.bandTicks;
  if (order.priceTicks > 0) {
    taker.limitTicks = order.priceTicks;
    taker.limitReason = END.worst_price;
  }
  match(s, market, taker);
  outcome.reason = taker.stopReason;
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
  const { lots } = s.scratch.placement;
  const slot = s.orders.add(s.seq, session.account, row, order, lots, remainingLots);
  s.orders.setMaxNotional(slot, session.maxNotionalMicros);
  enterOrder(s, market, slot);
  if (order.type === LIMIT_ORDER) reserveFor(s, market, slot);
}

/** The last event of an accepted order; its nonce counts as used from here on. */
export function acknowledge(s: VenueState, order: PlaceOrder): void {
  const { taker, outcome } = s.scratch;
  const { session } = s.scratch;
  if (session === null) throw new Error("no order to acknowledge");
  const market = s.markets[order.market]!;
  const lots = market.positions.lots(taker.row);
  const cost = market.positions.cost(taker.row);
  emit.OrderAcknowledged(s.events, {
    orderId: s.seq,
    account: session.account,
    session: session.number,
    market: order.market,
    side: order.side,
    type: order.type,
    nonce: order.nonce,
    status: outcome.status,
    reason: outcome.reason,
    filledLots: taker.filledLots,
    filledMicros: taker.filledMicros,
    feeMicros: taker.feeMicros,
    remainingLots: outcome.remainingLots,
    positionLots: lots,
    positionCostMicros: cost,
    unrealizedMicros: lots * market.markUnit - cost,
    block: s.totals.block,
    ackNonce: s.seq,
    client1: 0,
    client2: 0,
    client3: 0,
    client4: 0,
    client5: 0,
  });
  s.totals.blockAcks += 1;
  session.nonces.remember(order.nonce, s.seq);
}
