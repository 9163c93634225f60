/** The exits of an order that is placed: the checks, and how they come to exist. */
import { NO_CLIENT_ID } from "@perpgate/protocol/client-order-id";
import {
  EXIT_KINDS,
  type ExitKind,
  exitId,
  STOP_LOSS_EXIT,
  TAKE_PROFIT_EXIT,
} from "@perpgate/protocol/order-id";
import {
  CANCEL_RESTING,
  GOOD_TILL_CANCELED,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  LONG,
  type OrderExits,
  type OrderExtras,
  type PlaceOrder,
  SHORT,
  type Side,
  STOP_ORDER,
  STOP_TRIGGER,
  TAKE_PROFIT_TRIGGER,
} from "../commands.js";
import { PRICE_RANGE_FACTOR } from "../config.js";
import { emit } from "../events/event-log.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { reportExtras } from "./execute.js";
import { enterOrder } from "./open-orders.js";
import { mayLimit } from "./placement-stops.js";

function priceOf(exits: OrderExits, kind: ExitKind): number {
  return kind === TAKE_PROFIT_EXIT ? exits.takeProfitTicks : exits.stopLossTicks;
}

function limitOf(exits: OrderExits, kind: ExitKind): number {
  return kind === TAKE_PROFIT_EXIT ? exits.takeProfitLimitTicks : exits.stopLossLimitTicks;
}

/** How many exits the order is to have. */
export function exitCount({ exits }: PlaceOrder): number {
  if (exits === undefined) return 0;
  return (exits.takeProfitTicks > 0 ? 1 : 0) + (exits.stopLossTicks > 0 ? 1 : 0);
}

/** Whether such exits can be attached to such an order. */
export function hasValidExits({ rules }: VenueState, order: PlaceOrder): boolean {
  const { exits } = order;
  if (exits === undefined) return true;
  if (!rules.hasExits || order.type === STOP_ORDER || order.reduceOnly) return false;
  return EXIT_KINDS.every((kind) => isLeg(exits, kind)) && exitCount(order) > 0;
}

function isLeg(exits: OrderExits, kind: ExitKind): boolean {
  const price = priceOf(exits, kind);
  const limit = limitOf(exits, kind);
  return isWhole(price) && isWhole(limit) && (price > 0 || limit === 0);
}

function isWhole(figure: number): boolean {
  return Number.isSafeInteger(figure) && figure >= 0;
}

/** Whether the prices of the exits fit that of the order, or the mark, for an order without one. */
export function mayExit(s: VenueState, market: Market, order: PlaceOrder): boolean {
  const { exits } = order;
  if (exits === undefined) return true;
  const { mark } = market;
  const base = order.type === LIMIT_ORDER ? order.priceTicks : mark;
  for (const kind of EXIT_KINDS) {
    const price = priceOf(exits, kind);
    if (price === 0) continue;
    if (price * PRICE_RANGE_FACTOR < mark || price > mark * PRICE_RANGE_FACTOR) {
      return refuse(s, REFUSAL.price_too_far, mark);
    }
    if (!isRightSide(order.side, kind, price, base)) {
      return refuse(s, REFUSAL.exit_price, base, kind);
    }
    if (!mayLimit(s, market, price, limitOf(exits, kind))) return false;
  }
  return true;
}

/** Whether an exit of an order of that side takes a profit, or stops a loss, against its price. */
export function isRightSide(side: Side, kind: ExitKind, price: number, base: number): boolean {
  const isAbove = (side === LONG) === (kind === TAKE_PROFIT_EXIT);
  return isAbove ? price > base : price < base;
}

/** The exits of an order come to exist once it has opened lots, or is open; they cover those lots. */
export function placeExits(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
): void {
  const { exits } = order;
  const { openedLots } = s.scratch.taker;
  if (exits === undefined) return;
  if (openedLots === 0 && s.orders.index.get(s.seq) === NONE) return;
  for (const kind of EXIT_KINDS) {
    if (priceOf(exits, kind) === 0) continue;
    placeExit(s, session, market, order, kind, priceOf(exits, kind), limitOf(exits, kind));
    s.scratch.attachedExits += kind;
  }
}

function placeExit(
  s: VenueState,
  session: Session,
  market: Market,
  order: PlaceOrder,
  kind: ExitKind,
  priceTicks: number,
  limitTicks: number,
): void {
  const { orders, exits } = s;
  const { openedLots: lots, row } = s.scratch.taker;
  const id = exitId(s.seq, kind);
  const side: Side = order.side === LONG ? SHORT : LONG;
  const { account } = session;
  emit.OrderPlaced(s.events, {
    orderId: id,
    account,
    market: market.number,
    side,
    type: STOP_ORDER,
    priceTicks,
    lots,
    marginMicros: 0,
    leverage: order.leverage,
    reduceOnly: 1,
    postOnly: 0,
    nonce: order.nonce,
    session: session.number,
  });
  const extras: OrderExtras = {
    sizeLots: 0,
    timeInForce: limitTicks > 0 ? GOOD_TILL_CANCELED : IMMEDIATE_OR_CANCEL,
    expiresAtMs: 0,
    clientOrderId: "",
    trigger: kind === STOP_LOSS_EXIT ? STOP_TRIGGER : TAKE_PROFIT_TRIGGER,
    limitTicks,
    closePosition: false,
    selfTrade: order.extras?.selfTrade ?? CANCEL_RESTING,
    validUntilMs: 0,
  };
  reportExtras(s, id, extras, NO_CLIENT_ID);
  const terms = {
    market: market.number,
    side,
    type: STOP_ORDER,
    priceTicks,
    marginMicros: 0,
    leverage: order.leverage,
    reduceOnly: true,
    postOnly: false,
    session: session.number,
  } as const;
  const exit = orders.add(id, account, row, terms, lots, lots);
  orders.addExtras(exit, orders.extras.wordsFor(id, extras, NO_CLIENT_ID, 0));
  orders.setCoversSince(exit, s.seq);
  enterOrder(s, market, exit);
  exits.list(exits.add(exit), market.positions, row);
}
