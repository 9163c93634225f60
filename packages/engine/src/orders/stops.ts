/**
 * Triggers stops that the mark has reached, in the order of stop-choice.ts. What a tick does not get to
 * stays reached and waits for the next one.
 */
import { refreshWatches } from "../money/watch.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { NONE, type OrderStore, RANKS_PER_COMMAND } from "../state/orders.js";
import { LATER_LINES, STOP_LINES } from "../state/stop-lines.js";
import type { VenueState } from "../state/venue.js";
import type { WorkBudget } from "../work-budget.js";
import { enterLine, enterMoved, isExit, isOutside, stopsOf } from "./open-orders.js";
import { overReason } from "./over.js";
import { serveLines } from "./serve-lines.js";
import { cancelOpen } from "./settle.js";
import { closePosition, trigger } from "./trigger.js";

export function runStops(s: VenueState, budget: WorkBudget): void {
  const { stopChoice, stopsLooked, stopsServed } = s.scratch;
  stopsLooked.length = 0;
  stopsServed.length = 0;
  stopChoice.again.begin(0);
  reachStops(s);
  const hasTriggered = s.markets.some(hasTriggeredStops);
  if (s.reaches.size === 0 && !hasTriggered) return;
  refreshWatches(s);
  // Chosen before others are served, so none is tried again in the tick that triggers it.
  if (hasTriggered) stopChoice.chooseAgain(s);
  // Where nothing can be served, there is nothing to choose.
  if (s.reaches.size > 0 && !s.scratch.work.isSpent) {
    if (s.rules.stopLines) serveMarkets(s, false);
    else if (budget.left > 0) serveStops(s, budget);
  }
  if (hasTriggered) closeAgain(s, s.rules.unitsPerFirstTurn);
  forgetServed(s);
  s.scratch.serving = 0;
}

/** Version 3: the end of a tick's service. What other phases have left of the units is for more turns. */
export function endStops(s: VenueState): void {
  serveMarkets(s, true);
  closeAgain(s, s.rules.unitsPerTurn);
  forgetServed(s);
  s.scratch.serving = 0;
}

/**
 * From version 3 on: each market serves its own. Before the end a part of its units is for stops that have
 * had a turn, and a part for those that were triggered and have not closed their position.
 */
function serveMarkets(s: VenueState, isEnd: boolean): void {
  const { work } = s.scratch;
  for (const market of s.markets) {
    if (!s.isLive(market)) continue;
    work.enter(market.number);
    const part = isEnd ? work.left : Math.ceil(work.left / 4);
    const until = work.spent + 3 * part;
    const outer = work.narrow(2 * part);
    serveLines(s, market, 0, LATER_LINES);
    work.widen(outer);
    work.narrow(until - work.spent);
    serveLines(s, market, LATER_LINES, STOP_LINES);
    work.widen(outer);
  }
}

/** Version 2. */
function serveStops(s: VenueState, budget: WorkBudget): void {
  const { stopChoice, work } = s.scratch;
  stopChoice.choose(s, budget.left);
  for (let i = 0; i < stopChoice.count; i++) {
    // An earlier trigger may have ended it.
    const order = s.orders.index.get(stopChoice.ids[i]!);
    if (order === NONE) continue;
    const market = s.markets[s.orders.market(order)]!;
    work.enter(market.number);
    // One that could meet nobody waits: it would end without having had its turn.
    if (work.left === 0) continue;
    budget.take();
    const over = overReason(s, order);
    if (over !== END.none) cancelOpen(s, market, order, over);
    else trigger(s, market, order, s.rules.unitsPerFirstTurn);
  }
}

/** Tries again to close positions whose stops were triggered in earlier ticks; a turn for each. */
function closeAgain(s: VenueState, units: number): void {
  const { work } = s.scratch;
  const { again } = s.scratch.stopChoice;
  for (let i = 0; i < again.count; i++) {
    const order = s.orders.index.get(again.tie(i));
    if (order === NONE) continue;
    const market = s.markets[s.orders.market(order)]!;
    s.focus = market.number;
    work.enter(market.number);
    if (work.left > 0) closePosition(s, market, order, units);
  }
}

function hasTriggeredStops({ stopBooks, stopLines }: Market): boolean {
  if (stopLines.isAnyTriggered) return true;
  for (const { triggered } of stopBooks) if (triggered.length > 0) return true;
  return false;
}

/** Marks the stops that the mark reaches now; they stay reached, wherever the mark goes. */
function reachStops(s: VenueState): void {
  for (const market of s.markets) {
    if (!s.isLive(market)) continue;
    s.focus = market.number;
    for (let set = 0; set < market.stopBooks.length; set++) {
      const { number, mark: markTicks } = market;
      const reach = { market: number, set, seq: s.seq, markTicks, lines: 0 };
      const isAny = s.rules.stopLines
        ? market.stopLines.reach(reach)
        : market.stopBooks[set]!.reach(markTicks, s.seq) > 0;
      if (isAny) s.reaches.add(reach);
    }
  }
}

/** Drops the ticks of whose stops none waits any more. */
function forgetServed(s: VenueState): void {
  if (s.rules.stopLines) {
    for (const { stopLines } of s.markets) {
      for (const reach of stopLines.served) if (reach.lines === 0) s.reaches.drop(reach);
      stopLines.served.length = 0;
    }
    return;
  }
  for (const reach of s.reaches) {
    const book = s.markets[reach.market]!.stopBooks[reach.set]!;
    if (book.waitingSince(reach.seq) === 0) s.reaches.drop(reach);
  }
}

/** Whether a tick has reached a stop that was not triggered. */
export function isReached(s: VenueState, order: number): boolean {
  if (!s.rules.stopLines) return reachOf(s, order) !== 0;
  if (isOutside(s.orders, order)) return false;
  return s.markets[s.orders.market(order)]!.stopLines.waits(order);
}

/** Puts stops where the ticks that reached some of them have put them. */
export function replayReaches(s: VenueState, all: readonly number[]): void {
  const { orders } = s;
  const stops = [...all].sort((a, b) => ageOf(orders, a) - ageOf(orders, b));
  const reaches = [...s.reaches];
  for (const reach of reaches) reach.lines = 0;
  const moved: number[] = [];
  let next = 0;
  const reachUntil = (rank: number): void => {
    for (; next < reaches.length && reaches[next]!.seq * RANKS_PER_COMMAND <= rank; next++) {
      const reach = reaches[next]!;
      const { stopLines } = s.markets[reach.market]!;
      if (!stopLines.reach(reach)) stopLines.served.push(reach);
    }
  };
  for (const order of stops) {
    if (isOutside(orders, order)) continue;
    reachUntil(ageOf(orders, order));
    if (orders.movedAt(order) > 0) moved.push(order);
    else enterLine(s, s.markets[orders.market(order)]!, order);
  }
  reachUntil(Number.POSITIVE_INFINITY);
  for (const order of moved) enterMoved(s, s.markets[orders.market(order)]!, order);
}

/** By rank; an exit came after everything that had happened in the command since which it covers lots. */
function ageOf(orders: OrderStore, order: number): number {
  const rank = orders.rank(order);
  if (!isExit(orders, order)) return rank;
  return Math.max(rank, (orders.coversSince(order) + 1) * RANKS_PER_COMMAND - 1);
}

/**
 * Seq of the tick that reached a stop which waits, or 0. A tick reaches every stop that is older and
 * whose price the mark is at or beyond; the first such tick counts. An exit is as old as the lots that it
 * covers.
 */
export function reachOf(s: VenueState, order: number): number {
  const { orders, reaches } = s;
  // It has a later rank if it has had a turn.
  if (s.rules.stopLines && orders.movedAt(order) > 0) return orders.movedAt(order);
  const isCovering = isExit(orders, order);
  if (isCovering && orders.remaining(order) === 0) return 0;
  const market = s.markets[orders.market(order)]!;
  const book = stopsOf(s, market, order);
  const number = market.stopBooks.indexOf(book);
  for (const { market: reached, set, seq, markTicks } of reaches) {
    if (reached !== market.number || set !== number) continue;
    const isOlder =
      orders.rank(order) < seq * RANKS_PER_COMMAND &&
      (!isCovering || orders.coversSince(order) < seq);
    const beyond = book.sign * (markTicks - orders.price(order));
    if (isOlder && beyond >= 0) return seq;
  }
  return 0;
}
