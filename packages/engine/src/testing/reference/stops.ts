/**
 * "Tick", step 5: stops that trigger.
 */
import { LONG } from "../../commands.js";
import { END } from "../../reasons.js";
import { emit, touch } from "./end-events.js";
import { settleFunding } from "./funding.js";
import { num } from "./integers.js";
import { isFresh } from "./margin.js";
import { match } from "./matching.js";
import { isOpen, settle } from "./settle.js";
import { type Market, marketOf, type Order, positionOf, type State } from "./state.js";
import { StopTaker } from "./takers.js";

export function stops(state: State): void {
  const list = [...state.carriedStops];
  const listed = new Set(list);
  for (const market of state.markets) {
    if (isFresh(state, market)) list.push(...due(state, market).filter((o) => !listed.has(o)));
  }
  state.carriedStops = [];
  for (const [place, order] of list.entries()) {
    if (state.budget === 0) {
      state.carriedStops = list.slice(place);
      return;
    }
    if (!isOpen(state, order)) continue;
    state.budget -= 1;
    trigger(state, order);
  }
}

/** Pending stops of a market whose condition holds, ascending id. */
function due(state: State, market: Market): Order[] {
  return state.accounts
    .flatMap((account) => positionOf(state, account.number, market.number).orders)
    .filter((order) => !order.resting)
    .filter((order) =>
      order.side === LONG ? market.mark >= order.price : market.mark <= order.price,
    )
    .sort((a, b) => a.id - b.id);
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
    lots: order.remaining,
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
