/** PlaceOrder: session and nonce, the checks, then market, limit or stop, and the acknowledgement. */
import { divFloor } from "@perpgate/protocol/integers";
import { enterOrder } from "../book/open-orders.js";
import { LIMIT_ORDER, LONG, type PlaceOrder, STOP_ORDER } from "../commands.js";
import { EVENT } from "../event-log.js";
import { STATUS_CANCELED, STATUS_FILLED, STATUS_PENDING, STATUS_RESTING } from "../events.js";
import { reserveFor, settle } from "../margin/settle.js";
import { END, REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import type { Session } from "../sessions/session-book.js";
import type { Market } from "../state/market.js";
import { ORDER, ORDER_WORDS } from "../state/orders.js";
import { POSITION, POSITION_WORDS } from "../state/positions.js";
import { GLOBAL, type VenueState } from "../state/venue.js";
import { match } from "./match.js";
import { mayPlace, Placement } from "./placement-checks.js";
import { TAKER_ORDER, Taker } from "./taker.js";

const placement = new Placement();
const taker = new Taker();

/** How the order stands after its execution; read by `acknowledge` within the same command. */
const outcome = { status: 0, reason: 0, remainingLots: 0 };

/**
 * Checks and executes; answers whether the order was accepted. The acknowledgement follows in
 * `acknowledge`, once the command is known to have kept every invariant.
 */
export function placeOrder(s: VenueState, session: Session, order: PlaceOrder): boolean {
  if (order.key !== session.key) return refuse(s, REFUSAL.session_key_rotated);
  const market = s.markets[order.market];
  if (market === undefined) return refuse(s, REFUSAL.unknown_symbol);
  if (!mayPlace(s, session, market, order, placement)) return false;
  s.focus = order.market;
  const row = market.positions.ensure(session.account);
  emitPlaced(s, session, order, placement.lots);
  taker.begin(TAKER_ORDER, order.side, row, session.account, s.seq);
  taker.reduceOnly = order.reduceOnly;
  taker.leverage = order.leverage;
  taker.feePpm = market.config.takerFeePpm;
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
  return true;
}

function executeLimit(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  row: number,
): void {
  taker.lotsLeft = placement.lots;
  taker.limitTicks = order.priceTicks;
  match(s, market, taker);
  outcome.remainingLots = taker.lotsLeft;
  if (outcome.remainingLots === 0) return;
  outcome.reason = taker.stopReason === END.book_empty ? END.none : taker.stopReason;
  if (outcome.reason === END.none && order.reduceOnly) {
    const lots = market.positions.table.data[row * POSITION_WORDS + POSITION.LOTS]!;
    if (lots * order.side >= 0) outcome.reason = END.reduce_only;
  }
  if (outcome.reason !== END.none) {
    outcome.status = STATUS_CANCELED;
    return;
  }
  keepOpen(s, session, market, order, row, outcome.remainingLots);
  settle(s, market, row);
  if (s.orders.index.get(s.seq) >= 0) {
    outcome.status = STATUS_RESTING;
    const w = s.events.open(EVENT.OrderRested, 2);
    s.events.words[w] = s.seq;
    s.events.words[w + 1] = outcome.remainingLots;
  } else {
    outcome.status = STATUS_CANCELED;
    outcome.reason = END.unfunded;
  }
}

function executeMarket(s: VenueState, market: Market, order: PlaceOrder): void {
  taker.lotsLeft = order.reduceOnly ? placement.lots : Number.POSITIVE_INFINITY;
  taker.budgetMicros = placement.notionalMicros;
  const { mark } = market;
  const isLong = order.side === LONG;
  taker.bandTicks = isLong ? mark + placement.bandTicks : mark - placement.bandTicks;
  if (order.priceTicks > 0) {
    taker.limitTicks = order.priceTicks;
    taker.limitReason = END.worst_price;
  }
  match(s, market, taker);
  outcome.reason = taker.stopReason;
  if (outcome.reason === END.none) {
    if (taker.filledLots > 0) return;
    // Its money buys no lot at the price it met, and nothing was filled before.
    outcome.reason = END.below_lot;
  }
  const left = divFloor(taker.budgetMicros, mark * market.microsPerTickLot);
  outcome.remainingLots = Math.min(left, taker.lotsLeft);
  if (outcome.remainingLots === 0 && taker.filledLots > 0) outcome.reason = END.none;
  else outcome.status = STATUS_CANCELED;
}

/** Writes the order's row and puts it into the book or among the stops. */
function keepOpen(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  row: number,
  lots: number,
): void {
  const slot = s.orders.allocate();
  s.orders.table.touch(slot);
  const data = s.orders.table.data;
  const at = slot * ORDER_WORDS;
  data[at + ORDER.ID] = s.seq;
  data[at + ORDER.MARKET] = order.market;
  data[at + ORDER.ACCOUNT] = session.account;
  data[at + ORDER.POSITION] = row;
  data[at + ORDER.SIDE] = order.side;
  data[at + ORDER.TYPE] = order.type;
  data[at + ORDER.PRICE] = order.priceTicks;
  data[at + ORDER.LOTS] = placement.lots;
  data[at + ORDER.REMAINING] = lots;
  data[at + ORDER.CLOSING] = 0;
  data[at + ORDER.RESERVE] = 0;
  data[at + ORDER.MARGIN] = order.marginMicros;
  data[at + ORDER.LEVERAGE] = order.leverage;
  data[at + ORDER.REDUCE_ONLY] = order.reduceOnly ? 1 : 0;
  data[at + ORDER.POST_ONLY] = order.postOnly ? 1 : 0;
  data[at + ORDER.SESSION] = session.number;
  data[at + ORDER.OPENING_NOTIONAL] = 0;
  enterOrder(s, market, slot);
  if (order.type === LIMIT_ORDER) reserveFor(s, market, slot);
}

function emitPlaced(s: VenueState, session: Session, order: PlaceOrder, lots: number): void {
  const w = s.events.open(EVENT.OrderPlaced, 13);
  const words = s.events.words;
  words[w] = s.seq;
  words[w + 1] = session.account;
  words[w + 2] = order.market;
  words[w + 3] = order.side;
  words[w + 4] = order.type;
  words[w + 5] = order.priceTicks;
  words[w + 6] = lots;
  words[w + 7] = order.marginMicros;
  words[w + 8] = order.leverage;
  words[w + 9] = order.reduceOnly ? 1 : 0;
  words[w + 10] = order.postOnly ? 1 : 0;
  words[w + 11] = order.nonce;
  words[w + 12] = session.number;
}

/** The last event of an accepted order; its nonce counts from here on. */
export function acknowledge(s: VenueState, session: Session, order: PlaceOrder): void {
  const market = s.markets[order.market]!;
  const row = market.positions.rowOf(session.account);
  const data = market.positions.table.data;
  const at = row * POSITION_WORDS;
  const lots = data[at + POSITION.LOTS]!;
  const cost = data[at + POSITION.COST]!;
  const w = s.events.open(EVENT.OrderAcknowledged, 17);
  const words = s.events.words;
  words[w] = s.seq;
  words[w + 1] = session.account;
  words[w + 2] = session.number;
  words[w + 3] = order.market;
  words[w + 4] = order.side;
  words[w + 5] = order.type;
  words[w + 6] = order.nonce;
  words[w + 7] = outcome.status;
  words[w + 8] = outcome.reason;
  words[w + 9] = taker.filledLots;
  words[w + 10] = taker.filledMicros;
  words[w + 11] = taker.feeMicros;
  words[w + 12] = outcome.remainingLots;
  words[w + 13] = lots;
  words[w + 14] = cost;
  words[w + 15] = lots * market.mark * market.microsPerTickLot - cost + 0;
  words[w + 16] = s.global(GLOBAL.BLOCK);
  s.add(GLOBAL.BLOCK_ACKS, 1);
  session.nonces.remember(order.nonce, s.seq);
}
