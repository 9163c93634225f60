/**
 * Triggers stops that the mark has reached, in the order of stop-choice.ts; a triggered stop acts as a
 * market order. What a tick does not get to stays reached and waits for the next one.
 */
import { mulDivFloor } from "@perpgate/protocol/integers";
import { LONG, SHORT } from "../commands.js";
import { PPM } from "../config.js";
import { emit } from "../events/event-log.js";
import { closable } from "../money/fill.js";
import { takerBar } from "../money/opening.js";
import { settleFunding } from "../money/owed-funding.js";
import { refreshWatches } from "../money/watch.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { NONE, RANKS_PER_COMMAND } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import type { WorkBudget } from "../work-budget.js";
import { match } from "./match.js";
import { removeOrder } from "./open-orders.js";
import { endOrder, settle } from "./settle.js";
import { TAKER_ORDER } from "./taker.js";

/** Words per entry of `VenueState.reaches`. */
export const REACH_WORDS = 4;

export function runStops(s: VenueState, budget: WorkBudget): void {
  reachStops(s);
  if (s.reaches.length === 0) return;
  // Where nothing can be served, there is nothing to choose.
  if (budget.left > 0 && s.scratch.makersLeft > 0) serveStops(s, budget);
  forgetServed(s);
}

function serveStops(s: VenueState, budget: WorkBudget): void {
  refreshWatches(s);
  const { stopChoice } = s.scratch;
  stopChoice.choose(s, budget.left);
  for (let i = 0; i < stopChoice.count; i++) {
    // An earlier trigger may have ended it.
    const order = s.orders.index.get(stopChoice.ids[i]!);
    if (order === NONE) continue;
    // One that could meet nobody waits: it would end without having had its turn.
    if (s.scratch.makersLeft === 0) break;
    budget.take();
    const market = s.markets[s.orders.market(order)]!;
    if (isExpired(s, order)) endOrder(s, market, order, END.expired);
    else trigger(s, market, order);
  }
}

/** Whether it waits for a tick that has room for its expiry. */
function isExpired({ orders, timeMs }: VenueState, order: number): boolean {
  const extras = orders.extrasRow(order);
  return extras !== NONE && orders.extras.isExpired(extras, timeMs);
}

/** Marks the stops that the mark reaches now; they stay reached, wherever the mark goes. */
function reachStops(s: VenueState): void {
  for (const market of s.markets) {
    if (!s.isLive(market)) continue;
    s.focus = market.number;
    for (const side of [LONG, SHORT] as const) {
      if (market.stops(side).reach(market.mark, s.seq) === 0) continue;
      s.reaches = [...s.reaches, market.number, side, s.seq, market.mark];
    }
  }
}

/** Drops the entries of ticks of whose stops none is left. */
function forgetServed(s: VenueState): void {
  const kept: number[] = [];
  for (let i = 0; i < s.reaches.length; i += REACH_WORDS) {
    const [market, side, seq] = s.reaches.slice(i, i + REACH_WORDS);
    const book = s.markets[market!]!.stops(side === LONG ? LONG : SHORT);
    if (book.waitingSince(seq!) > 0) kept.push(...s.reaches.slice(i, i + REACH_WORDS));
  }
  s.reaches = kept;
}

/**
 * Seq of the tick that reached a stop which waits, or 0. A tick reaches every stop that is older and
 * whose price the mark is at or beyond; the first such tick counts.
 */
export function reachOf({ orders, reaches }: VenueState, order: number): number {
  const side = orders.side(order);
  for (let i = 0; i < reaches.length; i += REACH_WORDS) {
    if (reaches[i] !== orders.market(order) || reaches[i + 1] !== side) continue;
    const isOlder = orders.rank(order) < reaches[i + 2]! * RANKS_PER_COMMAND;
    if (isOlder && side * (reaches[i + 3]! - orders.price(order)) >= 0) return reaches[i + 2]!;
  }
  return 0;
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
  taker.bar = takerBar(s, market, account);
  taker.maxNotionalMicros = orders.maxNotional(order);
  taker.lotsLeft = orders.remaining(order);
  const extras = orders.extrasRow(order);
  if (extras !== NONE) {
    taker.selfTrade = orders.extras.selfTrade(extras);
    taker.bound.setOf(orders, order, extras, true);
  }
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
