/**
 * Triggers stops that the mark has reached, in the order of stop-choice.ts. What a tick does not get to
 * stays reached and waits for the next one.
 */
import { refreshWatches } from "../money/watch.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { NONE, RANKS_PER_COMMAND } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import type { WorkBudget } from "../work-budget.js";
import { isExit, stopsOf } from "./open-orders.js";
import { overReason } from "./over.js";
import { cancelOpen } from "./settle.js";
import { closePosition, trigger } from "./trigger.js";

/** Words per entry of `VenueState.reaches`. */
const REACH_WORDS = 4;

export function runStops(s: VenueState, budget: WorkBudget): void {
  reachStops(s);
  const hasTriggered = s.markets.some(hasTriggeredStops);
  if (s.reaches.length === 0 && !hasTriggered) return;
  refreshWatches(s);
  const { stopChoice } = s.scratch;
  // Chosen before others are served, so none is tried again in the tick that triggers it.
  if (hasTriggered) stopChoice.chooseAgain(s);
  // Where nothing can be served, there is nothing to choose.
  if (s.reaches.length > 0 && budget.left > 0 && !s.scratch.work.isSpent) serveStops(s, budget);
  if (hasTriggered) closeAgain(s);
  forgetServed(s);
  s.scratch.serving = 0;
}

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
    else trigger(s, market, order);
  }
}

/** Tries again to close positions whose stops were triggered in earlier ticks. */
function closeAgain(s: VenueState): void {
  const { work } = s.scratch;
  const { again } = s.scratch.stopChoice;
  for (let i = 0; i < again.count; i++) {
    const order = s.orders.index.get(again.tie(i));
    if (order === NONE) continue;
    const market = s.markets[s.orders.market(order)]!;
    s.focus = market.number;
    work.enter(market.number);
    if (work.left > 0) closePosition(s, market, order);
  }
}

function hasTriggeredStops({ stopBooks }: Market): boolean {
  for (const { triggered } of stopBooks) if (triggered.length > 0) return true;
  return false;
}

/** Marks the stops that the mark reaches now; they stay reached, wherever the mark goes. */
function reachStops(s: VenueState): void {
  for (const market of s.markets) {
    if (!s.isLive(market)) continue;
    s.focus = market.number;
    for (let book = 0; book < market.stopBooks.length; book++) {
      if (market.stopBooks[book]!.reach(market.mark, s.seq) === 0) continue;
      s.reaches = [...s.reaches, market.number, book, s.seq, market.mark];
    }
  }
}

/** Drops the entries of ticks of whose stops none is left. */
function forgetServed(s: VenueState): void {
  const kept: number[] = [];
  for (let i = 0; i < s.reaches.length; i += REACH_WORDS) {
    const [market, book, seq] = s.reaches.slice(i, i + REACH_WORDS);
    if (s.markets[market!]!.stopBooks[book!]!.waitingSince(seq!) > 0)
      kept.push(...s.reaches.slice(i, i + REACH_WORDS));
  }
  s.reaches = kept;
}

/**
 * Seq of the tick that reached a stop which waits, or 0. A tick reaches every stop that is older and
 * whose price the mark is at or beyond; the first such tick counts. An exit is as old as the lots that it
 * covers.
 */
export function reachOf(s: VenueState, order: number): number {
  const { orders, reaches } = s;
  if (reaches.length === 0) return 0;
  const isCovering = isExit(orders, order);
  if (isCovering && orders.remaining(order) === 0) return 0;
  const market = s.markets[orders.market(order)]!;
  const book = stopsOf(s, market, order);
  const number = market.stopBooks.indexOf(book);
  for (let i = 0; i < reaches.length; i += REACH_WORDS) {
    if (reaches[i] !== market.number || reaches[i + 1] !== number) continue;
    const isOlder =
      orders.rank(order) < reaches[i + 2]! * RANKS_PER_COMMAND &&
      (!isCovering || orders.coversSince(order) < reaches[i + 2]!);
    const beyond = book.sign * (reaches[i + 3]! - orders.price(order));
    if (isOlder && beyond >= 0) return reaches[i + 2]!;
  }
  return 0;
}
