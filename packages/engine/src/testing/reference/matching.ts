/**
 * "Matching loop". The taker says what it wants and when it stops; the loop is the same for orders,
 * triggered stops, liquidations and the backstop.
 */
import { isExitId } from "@perpgate/protocol/order-id";
import { CANCEL_RESTING, CANCEL_TAKER, type Side } from "../../commands.js";
import { TRADE_ORDER } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { bestAgainst } from "./book.js";
import { emit } from "./end-events.js";
import { closed, opened } from "./exits.js";
import { applyFill, type Booked, type Fillable, fillable, type Terms } from "./fills.js";
import { settleFunding } from "./funding.js";
import { floorDiv, max, min, num } from "./integers.js";
import { openInterest } from "./limits.js";
import { closable, lotAtMark, unitOf } from "./margin.js";
import { overReason } from "./over.js";
import { endOrder, isOpen, removeIdle, settle } from "./settle.js";
import {
  accountOf,
  type Market,
  type Order,
  type Position,
  positionOf,
  type State,
} from "./state.js";
import { countFill, within } from "./terms.js";
import { mayMeet, meet, passOver } from "./work.js";

export interface Taker {
  readonly side: Side;
  readonly kind: number;
  /** 0: the backstop. */
  readonly account: number;
  readonly orderId: number;
  /** What ends when it meets an order of its own account; missing: the resting one. */
  readonly selfTrade?: number;
  /** The reason for wanting nothing at a price, if it has one. */
  readonly unwanted?: number;
  /**
   * Asked before each maker with the best opposite price (null: no level left). A reason ends the
   * loop: END.none when the taker wants nothing more or leaves the rest for its caller to judge.
   */
  stop(price: bigint | null): number | null;
  /** Lots still wanted at this price, a reduce-only taker's closable included. */
  want(price: bigint): bigint;
  fillable(lots: bigint, price: bigint): Fillable;
  /** Books the taker's part of the fill and its progress. */
  fill(lots: bigint, price: bigint): Booked;
  settle(): void;
}

/** Step 3: lots that may trade without raising open interest above its bound. */
function interestRoom(
  state: State,
  market: Market,
  taker: Taker,
  maker: Position,
  lots: bigint,
): bigint {
  const bound = floorDiv(BigInt(market.config.maxOpenInterestMicros), lotAtMark(market));
  const interest = openInterest(state, market);
  if (interest + lots <= bound) return lots;
  const a = closable(positionOf(state, taker.account, market.number), taker.side);
  const b = closable(maker, taker.side > 0 ? -1 : 1);
  return max(a, b) + max(0n, bound - interest + min(a, b));
}

/** Runs until the taker stops; returns why. */
export function match(state: State, market: Market, taker: Taker): number {
  for (;;) {
    const maker = bestAgainst(market, taker.side);
    const stop = taker.stop(maker === undefined ? null : maker.price);
    if (stop !== null) return stop;
    if (maker === undefined) throw new Error("a taker must stop when no level is left");
    if (!mayMeet(state)) return END.fill_limit;
    const over = overReason(state, maker);
    if (over !== END.none) {
      passOver(state, () => endOrder(state, maker, over));
      continue;
    }
    const stopped = meet(state, () => turn(state, market, taker, maker));
    if (stopped !== null) return stopped;
  }
}

/** One turn of the loop; returns why the taker stops, or null. */
function turn(state: State, market: Market, taker: Taker, maker: Order): number | null {
  // 1.
  if (maker.account === taker.account) {
    const { selfTrade = CANCEL_RESTING } = taker;
    if (selfTrade !== CANCEL_TAKER) endOrder(state, maker, END.self_trade);
    if (selfTrade !== CANCEL_RESTING) return END.self_trade;
    return null;
  }
  // 2.
  const price = maker.price;
  const want = taker.want(price);
  if (want <= 0n) return taker.unwanted ?? END.none;
  // 3.
  const account = accountOf(state, maker.account);
  const position = positionOf(state, maker.account, maker.market);
  let q = min(want, maker.remaining);
  if (maker.reduceOnly) q = min(q, closable(position, maker.side));
  if (taker.kind === TRADE_ORDER) {
    q = min(q, interestRoom(state, market, taker, position, q));
    if (q === 0n) return END.open_interest_limit;
  }
  // 4.
  settleFunding(state, position);
  const terms: Terms = {
    side: maker.side,
    price,
    feePpm: BigInt(market.config.makerFeePpm),
    leverage: maker.leverage,
    cap: maker.cap,
    taker: false,
  };
  const lotPrice = price * unitOf(market);
  const closing = closable(position, maker.side);
  const left = within(maker.extra, maker.leverage, lotPrice, closing, q);
  const can =
    left.lots === 0n
      ? left
      : fillable(state, account, market, position, terms, left.lots, maker.reserve);
  const makerCan = { lots: can.lots, reason: can.lots < left.lots ? can.reason : left.reason };
  if (makerCan.lots === 0n) {
    endOrder(state, maker, makerCan.reason);
    return null;
  }
  // 5.
  const takerCan = taker.fillable(makerCan.lots, price);
  if (takerCan.lots === 0n) return takerCan.reason;
  if (takerCan.lots < makerCan.lots) {
    const again = fillable(state, account, market, position, terms, takerCan.lots, maker.reserve);
    if (again.lots < takerCan.lots) {
      endOrder(state, maker, again.reason);
      return null;
    }
  }
  // 6.
  const lots = takerCan.lots;
  account.wallet += maker.reserve;
  maker.reserve = 0n;
  const openedMicros = (lots - min(lots, closing)) * lotPrice;
  countFill(maker.extra, maker.leverage, lots * lotPrice, openedMicros, false);
  const makerBooked = applyFill(state, market, position, terms, lots);
  const takerCloses =
    taker.kind === TRADE_ORDER
      ? min(lots, closable(positionOf(state, taker.account, market.number), taker.side))
      : 0n;
  const takerBooked = taker.fill(lots, price);
  maker.remaining -= lots;
  market.last = price;
  emit(state, {
    kind: "Traded",
    market: market.number,
    tradeKind: taker.kind,
    takerSide: taker.side,
    priceTicks: num(price),
    lots: num(lots),
    makerOrderId: maker.id,
    makerAccount: maker.account,
    makerFeeMicros: num(makerBooked.fee),
    makerPnlMicros: num(makerBooked.pnl),
    takerOrderId: taker.orderId,
    takerAccount: taker.account,
    takerFeeMicros: num(takerBooked.fee),
    takerPnlMicros: num(takerBooked.pnl),
  });
  const closes = min(lots, closing);
  closed(state, position, maker, closes, removeIdle);
  opened(state, position, maker.id, lots - closes);
  if (taker.kind === TRADE_ORDER) {
    const own = positionOf(state, taker.account, market.number);
    const order = state.serving?.order ?? null;
    if (order !== null && order.id === taker.orderId && isExitId(order.id)) order.remaining -= lots;
    closed(state, own, order?.id === taker.orderId ? order : null, takerCloses, removeIdle);
    opened(state, own, taker.orderId, lots - takerCloses);
  }
  // 7. and 8.
  if (maker.remaining === 0n) endOrder(state, maker, END.none);
  else settle(state, maker.account, maker.market);
  taker.settle();
  // 9.
  if (lots === makerCan.lots && makerCan.lots < q && isOpen(state, maker)) {
    endOrder(state, maker, makerCan.reason);
  }
  // 10.
  return lots < makerCan.lots ? takerCan.reason : null;
}
