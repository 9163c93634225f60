/**
 * "Orders that are over": which ones are, and the turns in which ticks end them. Version 3.
 */
import { END } from "../../reasons.js";
import { emit } from "./end-events.js";
import { openOrders } from "./open-orders.js";
import { cancel, isOpen } from "./settle.js";
import {
  type Account,
  accountOf,
  isReturning,
  type Order,
  rulesOf,
  type Session,
  type State,
} from "./state.js";
import { isExpired } from "./terms.js";

const PER_TURN = 20;
const ENDS_PER_TICK = 2_048;
const ENDS_PER_COMMAND = 1_024;
const LOOKS_PER_TICK = 16_384;
const QUEUED_PER_TICK = 4_096;

/** Why an order is over, or none. */
export function overReason(state: State, order: Order): number {
  if (isExpired(state, order)) return END.expired;
  return rulesOf(state).endsInRounds ? lostReason(state, order) : END.none;
}

function lostReason(state: State, order: Order): number {
  const account = accountOf(state, order.account);
  if (order.id < account.firedAt || isDue(state, account)) return END.cancel_after;
  const isLost = state.carriedDisconnects.some(
    ({ session, position }) => session === order.session && order.id <= position,
  );
  return isLost ? END.disconnected : END.none;
}

/** A switch whose time a tick has reached. */
function isDue(state: State, { cancelAt }: Account): boolean {
  return cancelAt !== 0 && cancelAt <= (isReturning(state) ? state.switchesHeld : state.lastTick);
}

function queue(state: State, number: number): void {
  if (state.fresh.includes(number) || state.again.includes(number)) return;
  state.fresh.push(number);
}

/** A command that arms the switch, or places an order, while it is due. */
export function fireIfDue(state: State, number: number): void {
  const account = accountOf(state, number);
  if (!rulesOf(state).endsInRounds || !isDue(state, account)) return;
  fire(state, account);
}

function fire(state: State, account: Account): void {
  account.cancelAt = 0;
  account.firedAt = state.position;
  emit(state, { kind: "CancelAfterFired", account: account.number });
  queue(state, account.number);
}

/** The end of writers outside of a tick. */
export function loseNow(state: State, sessions: readonly Session[]): void {
  lose(state, sessions);
  giveTurns(state, ENDS_PER_COMMAND);
}

/** Sessions whose orders up to here are over. */
export function lose(state: State, sessions: readonly Session[]): void {
  const lost = [...sessions].sort((a, b) => a.account - b.account || a.number - b.number);
  for (const { account, number: session } of lost) {
    state.carriedDisconnects.push({ account, session, position: state.position });
    queue(state, account);
  }
}

export function endInRounds(state: State): void {
  const due = state.accounts
    .filter((account) => isDue(state, account))
    .sort((a, b) => a.cancelAt - b.cancelAt || a.number - b.number);
  for (const account of due.slice(0, QUEUED_PER_TICK)) fire(state, account);
  for (const number of withExpired(state).slice(0, QUEUED_PER_TICK)) queue(state, number);
  giveTurns(state, ENDS_PER_TICK);
}

/** Accounts that do not wait yet, by (expiresAt, id) of their first order that has expired. */
function withExpired(state: State): number[] {
  return state.accounts
    .filter(({ number }) => !state.fresh.includes(number) && !state.again.includes(number))
    .flatMap((account) => expiredOf(state, account).slice(0, 1))
    .sort(bySoonest)
    .map(({ account }) => account);
}

function expiredOf(state: State, account: Account): Order[] {
  return openOrders(account)
    .filter((order) => isExpired(state, order))
    .sort(bySoonest);
}

function bySoonest(a: Order, b: Order): number {
  return (a.extra?.expiresAt ?? 0) - (b.extra?.expiresAt ?? 0) || a.id - b.id;
}

function giveTurns(state: State, ends: number): void {
  let earlier = state.again.length;
  const budget = { ends, looks: LOOKS_PER_TICK };
  for (let turn = 0; budget.ends > 0 && budget.looks > 0; turn++) {
    const takesFresh = state.fresh.length > 0 && (turn % 2 === 0 || earlier === 0);
    if (!takesFresh && earlier > 0) earlier -= 1;
    const number = takesFresh ? state.fresh.shift() : state.again.shift();
    if (number === undefined) return;
    if (giveTurn(state, accountOf(state, number), budget)) continue;
    state.again.push(number);
  }
}

/** Whether the account has nothing left that is over. */
function giveTurn(
  state: State,
  account: Account,
  budget: { ends: number; looks: number },
): boolean {
  let left = PER_TURN;
  for (; left > 0; left--) {
    const [expired] = expiredOf(state, account);
    if (expired === undefined) break;
    cancel(state, expired, END.expired);
  }
  const lost = lostOrders(state, account, left, budget);
  lost.sort((a, b) => a.order.id - b.order.id);
  for (const { order, reason } of lost) if (isOpen(state, order)) cancel(state, order, reason);
  budget.ends -= PER_TURN - left + lost.length;
  if (lost.length === left) return false;
  account.firedAt = 0;
  state.carriedDisconnects = state.carriedDisconnects.filter(
    (entry) => entry.account !== account.number,
  );
  return true;
}

/** By market; in each longs, shorts and stops, by rank. One that is not over ends its list, unless sessions were lost. */
function lostOrders(
  state: State,
  account: Account,
  limit: number,
  budget: { looks: number },
): { order: Order; reason: number }[] {
  budget.looks -= 1;
  const lost: { order: Order; reason: number }[] = [];
  const isAny = state.carriedDisconnects.some((entry) => entry.account === account.number);
  if (!isAny && account.firedAt === 0) return lost;
  for (const { orders } of account.positions) {
    const lists = [
      orders.filter((order) => order.resting && order.side > 0),
      orders.filter((order) => order.resting && order.side < 0),
      orders.filter((order) => !order.resting),
    ];
    for (const list of lists) {
      for (const order of list) {
        if (lost.length === limit) return lost;
        budget.looks -= 1;
        const reason = lostReason(state, order);
        if (reason !== END.none) lost.push({ order, reason });
        else if (!isAny) break;
      }
    }
  }
  return lost;
}
