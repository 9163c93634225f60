/**
 * Orders that are over, and how ticks end them (docs/engine.md, "Orders that are over"). An order is over
 * from the moment its reason exists: it is never filled, triggered or amended after that. The ticks only
 * remove what is over, and accounts take turns for it: an account with thousands of orders to be removed
 * holds up nobody.
 */
import { ENDS_PER_TICK, ENDS_PER_TURN, LOOKS_PER_TICK, QUEUED_PER_TICK } from "../config.js";
import { emit } from "../events/event-log.js";
import { END } from "../reasons.js";
import { LOST_WORDS } from "../state/end-queue.js";
import { NONE } from "../state/orders.js";
import { ORDER_LISTS } from "../state/positions.js";
import type { VenueState } from "../state/venue.js";
import { isExpired } from "./open-orders.js";
import { endIfOpen } from "./settle.js";

/** Why an order is over, or `END.none`. Under version 2 only an expiry ends one before its turn. */
export function overReason(s: VenueState, order: number): number {
  if (isExpired(s.orders, order, s.timeMs)) return END.expired;
  return s.rules.endsInRounds ? lostReason(s, order) : END.none;
}

/** Whether its account's switch or the end of its session has put an end to it. */
export function lostReason(s: VenueState, order: number): number {
  const { orders, ends } = s;
  const account = orders.account(order);
  if (orders.id(order) < s.firedAt(account) || switchIsDue(s, account)) return END.cancel_after;
  if (ends.lostAt.size === 0) return END.none;
  const isLost = orders.id(order) <= (ends.lostAt.get(orders.session(order)) ?? 0);
  return isLost ? END.disconnected : END.none;
}

/** Whether a tick has reached the time of the account's switch without having got to it. */
function switchIsDue(s: VenueState, account: number): boolean {
  const cancelAtMs = s.cancelAtMs(account);
  return cancelAtMs !== 0 && cancelAtMs <= s.writers.switchesDueMs(s.lastTickMs);
}

/** Fires the account's switch if it is due: before a command arms it again, and with every new order. */
export function fireIfDue(s: VenueState, account: number): void {
  if (!s.rules.endsInRounds || !switchIsDue(s, account)) return;
  fire(s, account);
  s.ends.add([account]);
}

/** The account's orders up to here are over. */
function fire(s: VenueState, account: number): void {
  s.switches.delete(account);
  s.setCancelAtMs(account, 0);
  s.setFiredAt(account, s.seq);
  emit.CancelAfterFired(s.events, { account });
}

/** First part of a tick: queues the accounts with orders that are over, then gives turns. */
export function endInRounds(s: VenueState): void {
  fireSwitches(s);
  queueExpired(s);
  giveTurns(s, ENDS_PER_TICK);
}

/** Fires switches that are due, as many as a tick may. The orders of the others are over all the same. */
function fireSwitches(s: VenueState): void {
  const fired: number[] = [];
  const dueMs = s.writers.switchesDueMs(s.lastTickMs);
  while (fired.length < QUEUED_PER_TICK && s.switches.nextTime() <= dueMs) {
    const account = s.switches.first();
    fire(s, account);
    fired.push(account);
  }
  s.ends.add(fired);
}

/** Queues accounts with orders that have expired, as many as a tick may. */
function queueExpired(s: VenueState): void {
  const { expiries } = s.orders.extras;
  const queued: number[] = [];
  while (queued.length < QUEUED_PER_TICK && expiries.nextTime() <= s.timeMs) {
    const account = expiries.nextAccount();
    // From here on it is not the next one.
    expiries.hold(account);
    queued.push(account);
  }
  s.ends.append(queued);
}

/**
 * Gives turns, alternately to an account that has had none and to one that had one in an earlier command;
 * those that had one in this command come last.
 */
export function giveTurns(s: VenueState, ends: number): void {
  if (s.ends.isEmpty) return;
  const { fresh } = s.ends;
  const earlier = s.ends.again.length;
  const again = [...s.ends.again];
  const budget: Budget = { ends, looks: LOOKS_PER_TICK };
  const done = new Set<number>();
  let freshTurns = 0;
  let againTurns = 0;
  for (let turn = 0; budget.ends > 0 && budget.looks > 0; turn++) {
    const hasFresh = freshTurns < fresh.length;
    if (!hasFresh && againTurns === again.length) break;
    const isFresh = hasFresh && (turn % 2 === 0 || againTurns >= earlier);
    const account = isFresh ? fresh[freshTurns++]! : again[againTurns++]!;
    if (giveTurn(s, account, budget)) done.add(account);
    else again.push(account);
  }
  s.ends.fresh = fresh.slice(freshTurns);
  s.ends.again = again.slice(againTurns);
  forgetLost(s, done);
}

interface Budget {
  ends: number;
  looks: number;
}

/** Ends orders of the account that are over, as many as a turn may; true if none is left. */
function giveTurn(s: VenueState, account: number, budget: Budget): boolean {
  const { extras } = s.orders;
  let left = ENDS_PER_TURN;
  for (; left > 0; left--) {
    const row = extras.expiries.firstOf(account);
    if (row === NONE || !extras.isExpired(row, s.timeMs)) break;
    endIfOpen(s, extras.orderId(row), END.expired);
  }
  const lost = lostOrders(s, account, left, budget);
  lost.sort(([a], [b]) => a - b);
  for (const [id, reason] of lost) endIfOpen(s, id, reason);
  budget.ends -= ENDS_PER_TURN - left + lost.length;
  if (lost.length === left) return false;
  s.setFiredAt(account, 0);
  s.ends.done(account);
  return true;
}

/** The first orders of the account that its switch or a lost session has put an end to. */
function lostOrders(
  s: VenueState,
  account: number,
  limit: number,
  budget: Budget,
): (readonly [id: number, reason: number])[] {
  const { orders } = s;
  const lost: (readonly [number, number])[] = [];
  budget.looks--;
  const isAny = s.ends.hasLost(account);
  if (!isAny && s.firedAt(account) === 0) return lost;
  for (const { positions } of s.markets) {
    const row = positions.rowOf(account);
    if (row === NONE) continue;
    for (const list of ORDER_LISTS) {
      for (let at = positions.head(row, list); at !== NONE; at = orders.next(at)) {
        if (lost.length === limit) return lost;
        budget.looks--;
        const reason = lostReason(s, at);
        if (reason !== END.none) lost.push([orders.id(at), reason]);
        // A switch ends all that are older than it; the lists are by age.
        else if (!isAny) break;
      }
    }
  }
  return lost;
}

/** Drops the entries of accounts that have nothing left to end. */
function forgetLost(s: VenueState, done: ReadonlySet<number>): void {
  const list = s.carriedDisconnects;
  if (list.length === 0) return;
  const kept: number[] = [];
  for (let at = 0; at < list.length; at += LOST_WORDS) {
    if (!done.has(list[at]!)) kept.push(list[at]!, list[at + 1]!, list[at + 2]!);
  }
  if (kept.length < list.length) s.carriedDisconnects = Float64Array.from(kept);
}
