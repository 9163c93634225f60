/** What an accepted amendment does. */
import type { AmendOrder } from "../../commands.js";
import { STATUS_CANCELED, STATUS_PENDING, STATUS_RESTING } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { type Amended, pricedOf } from "./amendment-checks.js";
import { leaveBook } from "./book.js";
import { referencePrice } from "./checks.js";
import { emit, settleEvents, touch } from "./end-events.js";
import { isWaitingExit, orderGone } from "./exits.js";
import { settleFunding } from "./funding.js";
import { num } from "./integers.js";
import { unitOf } from "./margin.js";
import { acknowledge, type Outcome, takeAndRest } from "./placement.js";
import { cancel, isOpen, removeIdle, settle } from "./settle.js";
import { accountOf, type Market, positionOf, type State } from "./state.js";
import { lineUp } from "./stop-lines.js";
import { fillCap, plainExtra } from "./terms.js";

export function executeAmendment(
  state: State,
  market: Market,
  amended: Amended,
  command: AmendOrder,
): void {
  const { session, order } = amended;
  const { nonce, batch } = command;
  const before = { fund: state.fund, fees: state.fees };
  const position = positionOf(state, order.account, order.market);
  touch(state, position);
  const clientId = order.extra?.clientId ?? "";
  const outcome = change(state, market, amended, command);
  settleEvents(state, before);
  const { id: orderId, side, type } = order;
  acknowledge(state, session, position, outcome, {
    orderId,
    side,
    type,
    nonce,
    batch,
    clientId,
  });
}

function change(state: State, market: Market, amended: Amended, command: AmendOrder): Outcome {
  const { session, order } = amended;
  const none = { reason: END.none, filled: 0n, spent: 0n, fees: 0n, opened: 0n };
  const position = positionOf(state, order.account, order.market);
  if (amended.ends) {
    const { remaining } = order;
    cancel(state, order, END.requested);
    return { ...none, status: STATUS_CANCELED, reason: END.requested, remaining };
  }
  emit(state, {
    kind: "OrderAmended",
    orderId: order.id,
    account: order.account,
    market: order.market,
    session: session.number,
    nonce: command.nonce,
    priceTicks: num(amended.price),
    lots: num(amended.lots),
    remainingLots: num(amended.remaining),
    limitTicks: num(amended.limit),
    expiresAtMs: amended.expiresAt,
  });
  settleFunding(state, position);
  changeTerms(market, amended, command);
  if (order.resting && !amended.keepsPlace) return takeAgain(state, market, amended);
  apply(amended);
  if (!amended.keepsPlace) requeue(state, amended);
  if (!order.resting && (!isWaitingExit(order) || order.remaining > 0n)) lineUp(state, order);
  settle(state, order.account, order.market);
  const status = order.resting ? STATUS_RESTING : STATUS_PENDING;
  return { ...none, status, remaining: amended.remaining };
}

/** What plain orders do not have; one that is to expire or is bounded has it from now on. */
function changeTerms(market: Market, amended: Amended, { sizeLots }: AmendOrder): void {
  const { session, order, expiresAt } = amended;
  const lot = referencePrice(pricedOf(amended), market) * unitOf(market);
  const size = order.extra?.size ?? 0n;
  const cap = fillCap(session.maxOrderNotional, size, order.reduceOnly, amended.lots * lot);
  if (order.extra === null && expiresAt === 0 && cap === 0n) return;
  order.extra ??= plainExtra(!order.resting, cap, expiresAt);
  if (size === 0n) order.extra.filled = (amended.lots - amended.remaining) * lot;
  order.extra.cap = cap;
  order.extra.expiresAt = expiresAt;
  order.extra.limit = amended.limit;
  if (sizeLots > 0 && order.extra.size > 0n) order.extra.size = amended.lots;
}

function apply(amended: Amended): void {
  const { session, order } = amended;
  order.price = amended.price;
  order.lots = amended.lots;
  order.remaining = amended.remaining;
  order.cap = session.maxNotional;
}

/** Its rank is the highest now. */
function requeue(state: State, { order }: Amended): void {
  const position = positionOf(state, order.account, order.market);
  position.orders = [...position.orders.filter((other) => other !== order), order];
  order.rank = state.position;
}

/** Leaves the book, takes what it crosses, rests behind all others. */
function takeAgain(state: State, market: Market, amended: Amended): Outcome {
  const { session, order } = amended;
  const position = positionOf(state, order.account, order.market);
  // Until it rests or ends it is still an order of the account.
  state.serving = { order, taker: { filled: 0n } };
  position.orders = position.orders.filter((other) => other !== order);
  leaveBook(market, order);
  accountOf(state, order.account).wallet += order.reserve;
  order.reserve = 0n;
  order.closing = 0n;
  settle(state, order.account, order.market);
  apply(amended);
  const buying = {
    state,
    market,
    position,
    orderId: order.id,
    side: order.side,
    leverage: order.leverage,
    reduceOnly: order.reduceOnly,
    cap: order.cap,
    lots: amended.remaining,
    extra: order.extra,
  };
  let rested = false;
  const outcome = takeAndRest(buying, session, num(amended.price), false, (left) => {
    rested = true;
    order.remaining = left;
    return order;
  });
  // What settle ended has said so; what never rested has not.
  if (!rested && !isOpen(state, order)) {
    emit(state, {
      kind: "OrderEnded",
      orderId: order.id,
      account: order.account,
      market: order.market,
      reason: outcome.reason,
      remainingLots: num(outcome.remaining),
    });
    state.serving = null;
    orderGone(state, position, order.id, removeIdle);
  }
  state.serving = null;
  settle(state, order.account, order.market);
  return outcome;
}
