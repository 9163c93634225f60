/**
 * "Tick", step 5: stops that trigger.
 */
import { LONG } from "../../commands.js";
import { END } from "../../reasons.js";
import { emit, touch } from "./end-events.js";
import { settleFunding } from "./funding.js";
import { num } from "./integers.js";
import { closable, isLive, lotAtMark } from "./margin.js";
import { match } from "./matching.js";
import { endOrder, isOpen, settle } from "./settle.js";
import { type Market, marketOf, type Order, positionOf, type State } from "./state.js";
import { StopTaker } from "./takers.js";
import { isExpired } from "./terms.js";

/** Of all stops that were reached in markets with a fresh index, those whose turn it is. */
export function stops(state: State): void {
  const waiting: Waiting[] = [];
  for (const market of state.markets) {
    if (!isLive(state, market)) continue;
    for (const account of state.accounts) {
      const position = positionOf(state, account.number, market.number);
      for (const order of position.orders) {
        if (order.resting) continue;
        if (isBeyond(market, order)) order.reached = true;
        if (!order.reached) continue;
        const isClosing = order.reduceOnly || order.remaining <= closable(position, order.side);
        waiting.push({ order, isClosing, notional: order.remaining * lotAtMark(market), turn: 0 });
      }
    }
  }
  waiting.sort(largestFirst);
  const turns = new Map<string, number>();
  for (const each of waiting) {
    const key = `${each.isClosing} ${each.order.account}`;
    each.turn = turns.get(key) ?? 0;
    turns.set(key, each.turn + 1);
  }
  waiting.sort(
    (a, b) => Number(b.isClosing) - Number(a.isClosing) || a.turn - b.turn || largestFirst(a, b),
  );
  for (const { order } of waiting.slice(0, state.budget)) {
    if (!isOpen(state, order)) continue;
    if (state.makersLeft === 0) return;
    state.budget -= 1;
    if (isExpired(state, order)) endOrder(state, order, END.expired);
    else trigger(state, order);
  }
}

interface Waiting {
  readonly order: Order;
  readonly isClosing: boolean;
  readonly notional: bigint;
  turn: number;
}

function largestFirst(a: Waiting, b: Waiting): number {
  if (a.notional !== b.notional) return a.notional > b.notional ? -1 : 1;
  return a.order.id - b.order.id;
}

function isBeyond(market: Market, order: Order): boolean {
  return order.side === LONG ? market.mark >= order.price : market.mark <= order.price;
}

function trigger(state: State, order: Order): void {
  const market = marketOf(state, order.market);
  const position = positionOf(state, order.account, order.market);
  position.orders = position.orders.filter((other) => other !== order);
  touch(state, position);
  emit(state, {
    kind: "StopTriggered",
    orderId: order.id,
    account: order.account,
    market: order.market,
  });
  settleFunding(state, position);
  const taker = new StopTaker({
    state,
    market,
    position,
    orderId: order.id,
    side: order.side,
    leverage: order.leverage,
    reduceOnly: order.reduceOnly,
    cap: order.cap,
    lots: order.remaining,
    extra: order.extra,
  });
  const reason = match(state, market, taker);
  emit(state, {
    kind: "OrderEnded",
    orderId: order.id,
    account: order.account,
    market: order.market,
    reason: taker.left === 0n ? END.none : reason,
    remainingLots: num(taker.left),
  });
  settle(state, order.account, order.market);
}
