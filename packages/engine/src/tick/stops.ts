/** Triggers stops that the mark has reached; a triggered stop acts as a market order. */

import { mulDivFloor } from "@perpgate/protocol/integers";
import { removeOrder } from "../book/open-orders.js";
import { LONG, SHORT, type Side } from "../commands.js";
import { PPM } from "../config.js";
import { EVENT } from "../event-log.js";
import { closable } from "../margin/fill.js";
import { settle } from "../margin/settle.js";
import { match } from "../matching/match.js";
import { TAKER_ORDER, Taker } from "../matching/taker.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { ORDER, ORDER_WORDS } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import type { WorkBudget } from "./work-budget.js";

const taker = new Taker();

export function runStops(s: VenueState, budget: WorkBudget): void {
  const queue = [...s.carriedStops];
  const carried = new Set(queue);
  for (const market of s.markets) {
    if (market.halted || s.indexIsStale(market)) continue;
    for (const id of reachedStops(s, market)) if (!carried.has(id)) queue.push(id);
  }
  let next = 0;
  for (; next < queue.length; next++) {
    const order = s.orders.index.get(queue[next]!);
    if (order < 0) continue;
    const market = s.markets[s.orders.table.data[order * ORDER_WORDS + ORDER.MARKET]!]!;
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
    ids.push(s.orders.table.data[order * ORDER_WORDS + ORDER.ID]!);
  };
  market.longStops.forEachOrderTo(market.mark, collect);
  market.shortStops.forEachOrderTo(market.mark, collect);
  return ids.sort((a, b) => a - b);
}

function trigger(s: VenueState, market: Market, order: number): void {
  s.focus = market.number;
  const data = s.orders.table.data;
  const at = order * ORDER_WORDS;
  const id = data[at + ORDER.ID]!;
  const account = data[at + ORDER.ACCOUNT]!;
  const row = data[at + ORDER.POSITION]!;
  const side: Side = data[at + ORDER.SIDE]! > 0 ? LONG : SHORT;
  taker.begin(TAKER_ORDER, side, row, account, id);
  taker.reduceOnly = data[at + ORDER.REDUCE_ONLY] !== 0;
  taker.leverage = data[at + ORDER.LEVERAGE]!;
  taker.feePpm = market.config.takerFeePpm;
  taker.lotsLeft = data[at + ORDER.REMAINING]!;
  const band = mulDivFloor(market.mark, market.config.bandPpm, PPM);
  taker.bandTicks = market.mark + side * band;
  removeOrder(s, market, order);
  s.events.emit(EVENT.StopTriggered, id, account, market.number);
  match(s, market, taker);
  let reason = taker.lotsLeft === 0 ? END.none : taker.stopReason;
  if (taker.lotsLeft > 0 && taker.reduceOnly && closable(market, row, side) === 0) {
    reason = END.reduce_only;
  }
  s.events.emit(EVENT.OrderEnded, id, account, market.number, reason, taker.lotsLeft);
  settle(s, market, row);
}
