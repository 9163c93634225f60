/**
 * "PlaceOrder", accepted: what a stop, a limit and a market order do, and the acknowledgement.
 */
import { LIMIT_ORDER, type PlaceOrder, STOP_ORDER } from "../../commands.js";
import {
  STATUS_CANCELED,
  STATUS_FILLED,
  STATUS_PENDING,
  STATUS_RESTING,
} from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { enterBook } from "./book.js";
import { type Accepted, check } from "./checks.js";
import { emit, settleEvents, touch } from "./end-events.js";
import { settleFunding } from "./funding.js";
import { abs, num } from "./integers.js";
import { closable, unitOf, unrealised } from "./margin.js";
import { match } from "./matching.js";
import { budgetOf, checkOpening, freeCapacity, reasonOf } from "./opening.js";
import type { Refused } from "./refusal.js";
import { remember } from "./sessions.js";
import { isOpen, settle } from "./settle.js";
import type { Order, Session, State } from "./state.js";
import { type Buying, LimitTaker, MarketTaker } from "./takers.js";

interface Outcome {
  readonly status: number;
  readonly reason: number;
  readonly filled: bigint;
  readonly spent: bigint;
  readonly fees: bigint;
  readonly remaining: bigint;
}

/** Null if the order was executed or replayed; `state.block.executed` tells which. */
export function placeOrder(state: State, command: PlaceOrder): Refused | null {
  const before = { fund: state.fund, fees: state.fees };
  const checked = check(state, command);
  if ("refusal" in checked) return checked;
  if ("replayed" in checked) {
    emit(state, {
      kind: "OrderReplayed",
      session: command.session,
      nonce: command.nonce,
      orderId: checked.replayed,
    });
    return null;
  }
  const { session, market, position, lots } = checked;
  state.block.executed = true;
  emit(state, {
    kind: "OrderPlaced",
    orderId: state.position,
    account: position.account,
    market: market.number,
    side: command.side,
    type: command.type,
    priceTicks: command.priceTicks,
    lots: num(lots),
    marginMicros: command.marginMicros,
    leverage: command.leverage,
    reduceOnly: command.reduceOnly ? 1 : 0,
    postOnly: command.postOnly ? 1 : 0,
    nonce: command.nonce,
    session: command.session,
  });
  touch(state, position);
  settleFunding(state, position);
  const outcome = execute(state, command, checked);
  settleEvents(state, before);
  emit(state, {
    kind: "OrderAcknowledged",
    orderId: state.position,
    account: position.account,
    session: command.session,
    market: market.number,
    side: command.side,
    type: command.type,
    nonce: command.nonce,
    status: outcome.status,
    reason: outcome.reason,
    filledLots: num(outcome.filled),
    filledMicros: num(outcome.spent),
    feeMicros: num(outcome.fees),
    remainingLots: num(outcome.remaining),
    positionLots: num(position.lots),
    positionCostMicros: num(position.cost),
    unrealizedMicros: num(unrealised(market, position)),
    block: state.block.number,
    ackNonce: state.position,
    client1: 0,
    client2: 0,
    client3: 0,
    client4: 0,
    client5: 0,
  });
  state.block.acks += 1;
  remember(session, command.nonce, state.position);
  return null;
}

function execute(state: State, command: PlaceOrder, accepted: Accepted): Outcome {
  const { market, position, lots } = accepted;
  const order: Buying = {
    state,
    market,
    position,
    orderId: state.position,
    side: command.side,
    leverage: BigInt(command.leverage),
    reduceOnly: command.reduceOnly,
    cap: accepted.session.maxNotional,
    lots,
  };
  if (command.type === STOP_ORDER) {
    position.orders.push(openOrder(command, order, lots));
    const none = { filled: 0n, spent: 0n, fees: 0n };
    return { status: STATUS_PENDING, reason: END.none, ...none, remaining: lots };
  }
  return command.type === LIMIT_ORDER
    ? limit(command, order, accepted.session)
    : marketOrder(command, order);
}

function openOrder(command: PlaceOrder, order: Buying, remaining: bigint): Order {
  return {
    id: order.orderId,
    account: order.position.account,
    market: order.market.number,
    side: order.side,
    type: command.type,
    price: BigInt(command.priceTicks),
    leverage: order.leverage,
    reduceOnly: order.reduceOnly,
    resting: command.type === LIMIT_ORDER,
    reached: false,
    cap: order.cap,
    session: command.session,
    remaining,
    closing: 0n,
    reserve: 0n,
  };
}

function limit(command: PlaceOrder, order: Buying, session: Session): Outcome {
  const { state, market, position } = order;
  const closed = closable(position, order.side) > 0n;
  const taker = new LimitTaker(order, BigInt(command.priceTicks));
  const reason = match(state, market, taker);
  const { filled, spent, fees, left } = taker;
  const so = { filled, spent, fees, remaining: left };
  if (left === 0n) return { status: STATUS_FILLED, reason: END.none, ...so };
  if (reason !== END.none) return { status: STATUS_CANCELED, reason, ...so };

  if (closed && !order.reduceOnly) {
    const capacity = closable(position, order.side);
    const free = freeCapacity(position, order.side, capacity);
    const opening = capacity === 0n ? left : left - free;
    const resulting = capacity === 0n ? abs(position.lots) + left : opening;
    const added = opening * BigInt(command.priceTicks) * unitOf(market);
    const faulty =
      opening > 0n ? checkOpening(state, session, market, command, resulting, added) : null;
    if (faulty !== null) return { status: STATUS_CANCELED, reason: reasonOf(faulty), ...so };
  }
  const resting = openOrder(command, order, left);
  enterBook(market, resting);
  position.orders.push(resting);
  const from = state.events.length;
  settle(state, position.account, market.number);
  if (isOpen(state, resting)) {
    emit(state, { kind: "OrderRested", orderId: resting.id, remainingLots: num(left) });
    return { status: STATUS_RESTING, reason: END.none, ...so };
  }
  const ended = state.events
    .slice(from)
    .find((event) => event.kind === "OrderEnded" && event.orderId === resting.id);
  if (ended?.kind !== "OrderEnded") throw new Error("an order that left the book has ended");
  return { status: STATUS_CANCELED, reason: ended.reason, ...so };
}

function marketOrder(command: PlaceOrder, order: Buying): Outcome {
  const { state, market } = order;
  const taker = new MarketTaker(order, budgetOf(command), BigInt(command.priceTicks));
  const reason = match(state, market, taker);
  const { filled, spent, fees } = taker;
  const done = { status: STATUS_FILLED, reason: END.none, filled, spent, fees, remaining: 0n };
  if (reason === END.none && filled > 0n) return done;
  const remaining = taker.affordable(market.mark);
  if (remaining === 0n && filled > 0n) return done;
  const why = reason === END.none ? END.below_lot : reason;
  return { ...done, status: STATUS_CANCELED, reason: why, remaining };
}
