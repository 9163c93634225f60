/**
 * "PlaceOrder", accepted: what a stop, a limit and a market order do, and the acknowledgement.
 */
import { clientIdWords } from "@perpgate/protocol/client-order-id";
import {
  type BatchPlace,
  LIMIT_ORDER,
  type PlaceOrder,
  type Side,
  STOP_ORDER,
} from "../../commands.js";
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
import { attachExits } from "./exits.js";
import { settleFunding } from "./funding.js";
import { abs, num } from "./integers.js";
import { closable, unitOf, unrealised } from "./margin.js";
import { match } from "./matching.js";
import { budgetOf, checkOpening, freeCapacity, reasonOf } from "./opening.js";
import { fireIfDue } from "./over.js";
import type { Refused } from "./refusal.js";
import { recall, save } from "./savepoint.js";
import { consume } from "./sessions.js";
import { isOpen, settle } from "./settle.js";
import {
  marketOf,
  type Order,
  type Position,
  positionOf,
  type Session,
  type State,
} from "./state.js";
import { lineUp } from "./stop-lines.js";
import { type Buying, LimitTaker, MarketTaker, SizedTaker } from "./takers.js";
import { extraOf, isFillOrKill, isImmediate } from "./terms.js";
import { chargeUndone, halveUnits } from "./work.js";

export interface Outcome {
  readonly status: number;
  readonly reason: number;
  readonly filled: bigint;
  readonly spent: bigint;
  readonly fees: bigint;
  readonly remaining: bigint;
  /** Lots that it opened in this command. */
  readonly opened: bigint;
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
  state.block.executed = true;
  const { session } = checked;
  let accepted = checked;
  const { spent, limit } = state.work;
  const saved = isFillOrKill(command) ? save(state) : null;
  if (saved !== null) halveUnits(state);
  announce(state, command, accepted);
  let outcome = execute(state, command, accepted);
  state.work.limit = limit;
  if (saved !== null && outcome.remaining > 0n) {
    // "if a lot is left, everything is undone".
    recall(state, saved);
    chargeUndone(state, spent);
    const { account } = session;
    const market = marketOf(state, command.market);
    accepted = { ...checked, market, position: positionOf(state, account, command.market) };
    announce(state, command, accepted);
    outcome = killed(outcome, accepted.lots);
  }
  const exits = attachExits(state, accepted.position, command, outcome.opened);
  settleEvents(state, before);
  fireIfDue(state, session.account);
  acknowledge(state, session, accepted.position, outcome, {
    orderId: state.position,
    side: command.side,
    type: command.type + 4 * exits,
    nonce: command.nonce,
    batch: command.batch,
    clientId: command.extras?.clientOrderId ?? "",
  });
  return null;
}

/** "reason `not_filled` where no other reason applies"; that the book has too little is none. */
function killed({ reason }: Outcome, lots: bigint): Outcome {
  const none = { filled: 0n, spent: 0n, fees: 0n, opened: 0n, remaining: lots };
  const isPlain = reason === END.none || reason === END.book_empty;
  return { ...none, status: STATUS_CANCELED, reason: isPlain ? END.not_filled : reason };
}

function announce(state: State, command: PlaceOrder, { position, market, lots }: Accepted): void {
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
  const { extras } = command;
  if (extras !== undefined) {
    emit(state, {
      kind: "OrderExtended",
      orderId: state.position,
      sizeLots: extras.sizeLots,
      timeInForce: extras.timeInForce,
      expiresAtMs: extras.expiresAtMs,
      trigger: extras.trigger,
      limitTicks: extras.limitTicks,
      closePosition: extras.closePosition ? 1 : 0,
      selfTrade: extras.selfTrade,
      ...clientIdFields(extras.clientOrderId),
    });
  }
  touch(state, position);
  settleFunding(state, position);
}

function clientIdFields(id: string): Record<`client${1 | 2 | 3 | 4 | 5}`, number> {
  const words = clientIdWords(id);
  if (words === undefined) throw new Error(`${id} is no client order id`);
  const [client1, client2, client3, client4, client5] = words;
  return { client1, client2, client3, client4, client5 };
}

/** The last event of an accepted order or amendment; the nonce is remembered only now. */
export function acknowledge(
  state: State,
  session: Session,
  position: Position,
  outcome: Outcome,
  order: {
    orderId: number;
    side: Side;
    /** With the exits that are attached (acknowledgement-leaf.ts). */
    type: number;
    nonce: number;
    batch: BatchPlace | undefined;
    clientId: string;
  },
): void {
  const market = marketOf(state, position.market);
  emit(state, {
    kind: "OrderAcknowledged",
    orderId: order.orderId,
    account: position.account,
    session: session.number,
    market: market.number,
    side: order.side,
    type: order.type,
    nonce: order.nonce,
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
    ...clientIdFields(order.clientId),
  });
  state.block.acks += 1;
  consume(state, session, order.nonce, order.batch);
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
    extra: extraOf(command, accepted.orderCap),
  };
  if (command.type === STOP_ORDER) {
    const stop = openOrder(command, order, lots);
    lineUp(order.state, stop);
    position.orders.push(stop);
    const none = { filled: 0n, spent: 0n, fees: 0n, opened: 0n };
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
    reduceOnly: order.reduceOnly && order.extra?.closePosition !== true,
    resting: command.type === LIMIT_ORDER,
    reached: false,
    triggered: false,
    coversSince: 0,
    rank: order.orderId,
    line: {
      closes: false,
      turn: 0,
      size: 0,
      movedAt: 0,
      isStale: false,
      isBehind: false,
      place: 0,
      isIn: false,
    },
    cap: order.cap,
    postOnly: command.postOnly,
    lots: order.lots,
    session: command.session,
    extra: order.extra,
    remaining,
    closing: 0n,
    reserve: 0n,
  };
}

function limit(command: PlaceOrder, order: Buying, session: Session): Outcome {
  const rests = (left: bigint): Order => openOrder(command, order, left);
  return takeAndRest(order, session, command.priceTicks, isImmediate(command), rests);
}

/** Takes what it crosses; `rests` makes the open order of what is left, if that may rest. */
export function takeAndRest(
  order: Buying,
  session: Session,
  priceTicks: number,
  isImmediate: boolean,
  rests: (left: bigint) => Order,
): Outcome {
  const { state, market, position } = order;
  const closed = closable(position, order.side) > 0n;
  const taker = new LimitTaker(order, BigInt(priceTicks));
  const reason = match(state, market, taker);
  const { filled, spent, fees, left, opened } = taker;
  const so = { filled, spent, fees, opened, remaining: left };
  if (left === 0n) return { status: STATUS_FILLED, reason: END.none, ...so };
  if (reason !== END.none) return { status: STATUS_CANCELED, reason, ...so };
  if (isImmediate) {
    const why = filled === 0n ? END.not_filled : END.none;
    return { status: STATUS_CANCELED, reason: why, ...so };
  }

  if (closed && !order.reduceOnly) {
    const capacity = closable(position, order.side);
    const free = freeCapacity(position, order.side, capacity);
    const opening = capacity === 0n ? left : left - free;
    const resulting = capacity === 0n ? abs(position.lots) + left : opening;
    const added = opening * BigInt(priceTicks) * unitOf(market);
    const leverage = Number(order.leverage);
    const faulty =
      opening > 0n ? checkOpening(state, session, market, { leverage }, resulting, added) : null;
    if (faulty !== null) return { status: STATUS_CANCELED, reason: reasonOf(faulty), ...so };
  }
  const resting = rests(left);
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
  if (order.extra !== null && order.extra.size > 0n) return sizedOrder(command, order);
  const taker = new MarketTaker(order, budgetOf(command), BigInt(command.priceTicks));
  const reason = match(state, market, taker);
  const { filled, spent, fees, opened } = taker;
  const so = { filled, spent, fees, opened };
  const done = { status: STATUS_FILLED, reason: END.none, ...so, remaining: 0n };
  if (reason === END.none && filled > 0n) return done;
  const remaining = taker.affordable(market.mark);
  if (remaining === 0n && filled > 0n) return done;
  const why = reason === END.none ? END.below_lot : reason;
  return { ...done, status: STATUS_CANCELED, reason: why, remaining };
}

function sizedOrder(command: PlaceOrder, order: Buying): Outcome {
  const taker = new SizedTaker(order, BigInt(command.priceTicks));
  const reason = match(order.state, order.market, taker);
  const { filled, spent, fees, left, opened } = taker;
  const status = left === 0n ? STATUS_FILLED : STATUS_CANCELED;
  const so = { filled, spent, fees, opened, remaining: left };
  return { status, reason: left === 0n ? END.none : reason, ...so };
}
