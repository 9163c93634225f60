/**
 * "Attached exits": orders of their own that cover the lots which their order has opened and which are still
 * open. Nothing is kept about a pair but its orders.
 */
import {
  EXIT_KINDS,
  exitId,
  isExitId,
  parentOf,
  STOP_LOSS_EXIT,
} from "@perpgate/protocol/order-id";
import {
  CANCEL_RESTING,
  GOOD_TILL_CANCELED,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type OrderExits,
  type PlaceOrder,
  SHORT,
  STOP_ORDER,
  STOP_TRIGGER,
  TAKE_PROFIT_TRIGGER,
} from "../../commands.js";
import { PRICE_RANGE_FACTOR } from "../../config.js";
import { END } from "../../reasons.js";
import { emit } from "./end-events.js";
import { ceilDiv, floorDiv, max, min, num } from "./integers.js";
import { MILLION } from "./margin.js";
import { type Refused, refused } from "./refusal.js";
import type { Market, Order, Position, State } from "./state.js";
import { chargeOrders } from "./work.js";

/** Ends an order that has nothing to do any more. */
type Ender = (state: State, order: Order, reason: number) => void;

/** An exit that is not triggered, or was triggered and has all its lots filled. */
export function isWaitingExit(order: Order): boolean {
  return isExitId(order.id) && !order.resting;
}

/** The open exits of an order, the one that takes from the book just now included. */
function exitsOf(state: State, position: Position, orderId: number): Order[] {
  const { serving } = state;
  const own = position.orders.filter(({ id }) => isExitId(id) && parentOf(id) === orderId);
  if (serving !== null && isExitId(serving.order.id) && parentOf(serving.order.id) === orderId) {
    if (!own.includes(serving.order)) own.push(serving.order);
  }
  return own.sort((a, b) => a.id - b.id);
}

/** Whether the order can still open lots. */
export function canOpen(state: State, position: Position, orderId: number): boolean {
  if (state.serving?.order.id === orderId) return true;
  return position.orders.some(({ id }) => id === orderId);
}

/** "the most that one of its exits has". */
function lotsOf(exits: readonly Order[]): bigint {
  return exits.reduce((most, { remaining }) => max(most, remaining), 0n);
}

/** A fill of `orderId` has opened lots. */
export function opened(state: State, position: Position, orderId: number, lots: bigint): void {
  if (lots === 0n) return;
  for (const exit of exitsOf(state, position, orderId)) {
    if (!exit.resting) resize(state, position, exit, exit.remaining + lots, () => {});
  }
}

/** Lots of the position were closed, by `filler` if that is an exit, whose own lots are gone already. */
export function closed(
  state: State,
  position: Position,
  filler: Order | null,
  lots: bigint,
  end: Ender,
): void {
  if (filler !== null && isExitId(filler.id)) {
    const exits = exitsOf(state, position, parentOf(filler.id));
    const before = max(lotsOf(exits), filler.remaining + lots);
    shrink(
      state,
      position,
      exits.filter((exit) => exit !== filler),
      before - lots,
      end,
    );
    return;
  }
  let left = lots;
  while (left > 0n) {
    // "the newest pair first".
    const covering = position.orders.filter(({ id, remaining }) => isExitId(id) && remaining > 0n);
    if (covering.length === 0) return;
    const newest = covering.reduce((most, { id }) => Math.max(most, parentOf(id)), 0);
    const exits = exitsOf(state, position, newest);
    const before = lotsOf(exits);
    const share = min(left, before);
    shrink(state, position, exits, before - share, end);
    left -= share;
  }
}

function shrink(
  state: State,
  position: Position,
  exits: readonly Order[],
  most: bigint,
  end: Ender,
): void {
  for (const exit of exits) {
    if (exit.remaining > most) resize(state, position, exit, most, end);
  }
}

function resize(state: State, position: Position, exit: Order, lots: bigint, end: Ender): void {
  chargeOrders(state, 1);
  state.resizedExits.add(exit);
  if (exit.remaining === 0n) {
    exit.coversSince = state.position;
    chargeOrders(state, 2);
  }
  exit.lots += lots - exit.remaining;
  exit.remaining = lots;
  exit.closing = min(exit.closing, lots);
  if (lots > 0n) return;
  exit.line.isIn = false;
  exit.reached = false;
  if (exit.resting || !canOpen(state, position, parentOf(exit.id))) {
    end(state, exit, END.position_closed);
  } else {
    chargeOrders(state, 2);
  }
}

/** "canceled with the rest of their order only if nothing of it" is covered. */
export function orderGone(state: State, position: Position, orderId: number, end: Ender): void {
  if (isExitId(orderId)) return;
  for (const exit of exitsOf(state, position, orderId)) {
    if (!exit.resting && exit.remaining === 0n) end(state, exit, END.order_ended);
  }
}

/** Price and limit of each exit, the take profit first. */
function legs(exits: OrderExits): { kind: 1 | 2; price: bigint; limit: bigint }[] {
  return EXIT_KINDS.map((kind) => ({
    kind,
    price: BigInt(kind === STOP_LOSS_EXIT ? exits.stopLossTicks : exits.takeProfitTicks),
    limit: BigInt(kind === STOP_LOSS_EXIT ? exits.stopLossLimitTicks : exits.takeProfitLimitTicks),
  }));
}

export function exitCount({ exits }: PlaceOrder): number {
  return exits === undefined ? 0 : legs(exits).filter(({ price }) => price > 0n).length;
}

/** Whether such exits cannot be attached to such an order. */
export function areMisshapen(order: PlaceOrder, exits: OrderExits): boolean {
  const figures = Object.values(exits);
  if (figures.some((figure) => !Number.isSafeInteger(figure) || figure < 0)) return true;
  if (exitCount(order) === 0 || order.reduceOnly) return true;
  if (order.type !== MARKET_ORDER && order.type !== LIMIT_ORDER) return true;
  return legs(exits).some(({ price, limit }) => price === 0n && limit > 0n);
}

export function checkExits(order: PlaceOrder, market: Market): Refused | null {
  if (order.exits === undefined) return null;
  const base = order.type === LIMIT_ORDER ? BigInt(order.priceTicks) : market.mark;
  for (const { kind, price, limit } of legs(order.exits)) {
    if (price === 0n) continue;
    const factor = BigInt(PRICE_RANGE_FACTOR);
    if (price < ceilDiv(market.mark, factor) || price > market.mark * factor) {
      return refused("price_too_far", num(market.mark));
    }
    if (!isRightSide(order.side, kind, price, base)) return refused("exit_price", num(base), kind);
    const reach = floorDiv(price * BigInt(market.config.bandPpm), MILLION);
    if (limit > 0n && (limit < price - reach || limit > price + reach)) {
      return refused("limit_price_outside_band", num(price - reach), num(price + reach));
    }
  }
  return null;
}

/** A profit is above the price of a long order and below that of a short one. */
export function isRightSide(side: number, kind: number, price: bigint, base: bigint): boolean {
  const above = (side === LONG) === (kind !== STOP_LOSS_EXIT);
  return above ? price > base : price < base;
}

/** Of an amendment: an order and its exits stay on the right sides of each other. */
export function checkSides(
  state: State,
  position: Position,
  order: Order,
  price: bigint,
): Refused | null {
  const kindOf = (id: number): number => (id - parentOf(id)) * 4;
  if (isExitId(order.id)) {
    const parent = position.orders.find(({ id }) => id === parentOf(order.id));
    if (parent === undefined) return null;
    const kind = kindOf(order.id);
    const isRight = isRightSide(parent.side, kind, price, parent.price);
    return isRight ? null : refused("exit_price", num(parent.price), kind);
  }
  for (const exit of exitsOf(state, position, order.id)) {
    if (exit.resting) continue;
    const kind = kindOf(exit.id);
    if (!isRightSide(order.side, kind, exit.price, price)) {
      return refused("exit_price", num(price), kind);
    }
  }
  return null;
}

/** The exits come to exist: the order is open, or has opened lots. Returns which. */
export function attachExits(
  state: State,
  position: Position,
  order: PlaceOrder,
  lots: bigint,
): number {
  if (order.exits === undefined) return 0;
  if (lots === 0n && !canOpen(state, position, state.position)) return 0;
  let attached = 0;
  for (const { kind, price, limit } of legs(order.exits)) {
    if (price === 0n) continue;
    attached += kind;
    const id = exitId(state.position, kind);
    const side = order.side === LONG ? SHORT : LONG;
    const timeInForce = limit > 0n ? GOOD_TILL_CANCELED : IMMEDIATE_OR_CANCEL;
    const trigger = kind === STOP_LOSS_EXIT ? STOP_TRIGGER : TAKE_PROFIT_TRIGGER;
    const selfTrade = order.extras?.selfTrade ?? CANCEL_RESTING;
    emit(state, {
      kind: "OrderPlaced",
      orderId: id,
      account: position.account,
      market: position.market,
      side,
      type: STOP_ORDER,
      priceTicks: num(price),
      lots: num(lots),
      marginMicros: 0,
      leverage: order.leverage,
      reduceOnly: 1,
      postOnly: 0,
      nonce: order.nonce,
      session: order.session,
    });
    emit(state, {
      kind: "OrderExtended",
      orderId: id,
      sizeLots: 0,
      timeInForce,
      expiresAtMs: 0,
      trigger,
      limitTicks: num(limit),
      closePosition: 0,
      selfTrade,
      client1: 0,
      client2: 0,
      client3: 0,
      client4: 0,
      client5: 0,
    });
    position.orders.push({
      id,
      account: position.account,
      session: order.session,
      market: position.market,
      side,
      type: STOP_ORDER,
      price,
      leverage: BigInt(order.leverage),
      reduceOnly: true,
      resting: false,
      reached: false,
      triggered: false,
      coversSince: state.position,
      rank: id,
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
      cap: 0n,
      postOnly: false,
      lots,
      remaining: lots,
      closing: 0n,
      reserve: 0n,
      extra: {
        size: 0n,
        margin: 0n,
        expiresAt: 0,
        timeInForce,
        trigger,
        limit,
        closePosition: false,
        selfTrade,
        clientId: "",
        cap: 0n,
        filled: 0n,
        opened: 0n,
      },
    });
  }
  return attached;
}
