/** Triggers stops that the mark has reached; a triggered stop acts as a market order. */
import { mulDivFloor } from "@perpgate/protocol/integers";
import { PPM } from "../config.js";
import { emit } from "../events/event-log.js";
import { closable } from "../money/fill.js";
import { settleFunding } from "../money/owed-funding.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";
import type { WorkBudget } from "../work-budget.js";
import { match } from "./match.js";
import { removeOrder } from "./open-orders.js";
import { settle } from "./settle.js";
import { TAKER_ORDER } from "./taker.js";

export function runStops(s: VenueState, budget: WorkBudget): void {
  const queue = [...s.carriedStops];
  const carried = new Set(queue);
  for (const market of s.markets) {
    if (!s.isLive(market)) continue;
    for (const id of reachedStops(s, market)) if (!carried.has(id)) queue.push(id);
  }
  let next = 0;
  for (; next < queue.length; next++) {
    const order = s.orders.index.get(queue[next]!);
    if (order < 0) continue;
    const market = s.markets[s.orders.market(order)]!;
    if (market.halted) continue;
    if (!budget.take()) break;
    trigger(s, market, order);
  }
  s.carriedStops = next < queue.length ? queue.slice(next) : [];
}

/** Ids of the pending stops whose price the mark has reached, ascending. */
function reachedStops(s: VenueState, market: Market): number[] {
  const ids: number[] = [];
  const collect = (order: number): void => {
    ids.push(s.orders.id(order));
  };
  market.longStops.forEachOrderTo(market.mark, collect);
  market.shortStops.forEachOrderTo(market.mark, collect);
  return ids.sort((a, b) => a - b);
}

function trigger(s: VenueState, market: Market, order: number): void {
  s.focus = market.number;
  const { orders } = s;
  const { taker } = s.scratch;
  const orderId = orders.id(order);
  const account = orders.account(order);
  const row = orders.position(order);
  const side = orders.side(order);
  taker.begin(TAKER_ORDER, side, row, account, orderId);
  taker.reduceOnly = orders.isReduceOnly(order);
  taker.leverage = orders.leverage(order);
  taker.feePpm = market.config.takerFeePpm;
  taker.lotsLeft = orders.remaining(order);
  const band = mulDivFloor(market.mark, market.config.bandPpm, PPM);
  taker.bandTicks = market.mark + side * band;
  removeOrder(s, market, order);
  emit.StopTriggered(s.events, { orderId, account, market: market.number });
  settleFunding(s, market, row);
  match(s, market, taker);
  const remainingLots = taker.lotsLeft;
  let reason = remainingLots === 0 ? END.none : taker.stopReason;
  if (remainingLots > 0 && taker.reduceOnly && closable(market, row, side) === 0) {
    reason = END.reduce_only;
  }
  emit.OrderEnded(s.events, { orderId, account, market: market.number, reason, remainingLots });
  settle(s, market, row);
}
