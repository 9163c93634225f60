/**
 * Where sessions are connected, and cancel-on-disconnect, an option of a session: its open orders end
 * with its last connection. Each writer reports its first and last connection of a session
 * (`SessionConnected`, `SessionDisconnected`); the end of a writer ends its connections, and the end
 * of a session its own. Only orders that the session placed are canceled, in every market, whatever
 * the market's state.
 *
 * One session's orders end within one command, as those of a cancel-all do. Where many sessions are
 * lost together, the command lists them, and their orders end account by account, a bounded part in
 * each command. An entry of the list says up to which position the session's orders are meant, so that
 * one placed after the connection was lost is not canceled.
 */
import type { SessionConnected, SessionDisconnected, SetSessionOption } from "../commands.js";
import {
  DISCONNECT_CANCELS_PER_COMMAND,
  DISCONNECT_LOOKS_PER_COMMAND,
  ENDS_PER_COMMAND,
  EXPIRED_SESSIONS_PER_TICK,
} from "../config.js";
import { emit } from "../events/event-log.js";
import { openOrderIds } from "../orders/cancel.js";
import { giveTurns } from "../orders/over.js";
import { endIfOpen, endOrders } from "../orders/settle.js";
import { END, REFUSAL } from "../reasons.js";
import { liveSession, refuse } from "../refuse.js";
import { LOST_WORDS } from "../state/end-queue.js";
import { float64 } from "../state/memory.js";
import { NONE } from "../state/orders.js";
import { Places } from "../state/presence.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import type { Writer } from "../state/writers.js";

/** What is left of a command's or tick's work for the list. */
export class DisconnectBudget {
  cancels = DISCONNECT_CANCELS_PER_COMMAND;
  looks = DISCONNECT_LOOKS_PER_COMMAND;

  get isSpent(): boolean {
    return this.cancels === 0 || this.looks <= 0;
  }
}

export function setSessionOption(s: VenueState, command: SetSessionOption): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  session.cancelOnDisconnect = command.cancelOnDisconnect;
  const cancelOnDisconnect = command.cancelOnDisconnect ? 1 : 0;
  emit.SessionOptionSet(s.events, { session: session.number, cancelOnDisconnect });
  return true;
}

export function connectSession(s: VenueState, command: SessionConnected): boolean {
  if (s.writers.writing === undefined) return refuse(s, REFUSAL.writer_not_live);
  return liveSession(s, command.session) !== undefined;
}

/** The last step of a SessionConnected. */
export function concludeConnect(s: VenueState, command: SessionConnected): void {
  s.sessions.presence.connect(command.session, s.writers.writing!.place);
}

/** Never refused: it races with the end of the session, of the writer, and with the option. */
export function disconnectSession(s: VenueState, command: SessionDisconnected): boolean {
  const session = affectedBy(s, command);
  if (session === undefined) return true;
  s.scratch.canceledOrders = endOrders(s, orderIdsOfSession(s, session), END.disconnected);
  return true;
}

/** The last event of a SessionDisconnected, if orders end with the connection. */
export function reportDisconnected(s: VenueState, command: SessionDisconnected): void {
  const session = affectedBy(s, command);
  if (session !== undefined) {
    emit.AllCanceled(s.events, { account: session.account, count: s.scratch.canceledOrders });
  }
  const { writing } = s.writers;
  if (writing !== undefined) s.sessions.presence.disconnect(command.session, writing.place);
}

/** Before the end of writers: cancels for the sessions that are connected nowhere else. */
export function loseConnections(s: VenueState, writers: readonly Writer[]): void {
  carryOverLost(s, writers);
  if (s.rules.endsInRounds) giveTurns(s, ENDS_PER_COMMAND);
  else cancelCarriedOver(s, new DisconnectBudget());
}

/** Lists those sessions, by account and number; expired ones included. */
export function carryOverLost(s: VenueState, writers: readonly Pick<Writer, "place">[]): void {
  const places = new Places();
  let most = 0;
  for (const { place } of writers) {
    places.add(place);
    most += s.sessions.presence.countAt(place);
  }
  if (most > 0) carryOver(s, s.sessions.losing(places, most));
}

/** Cancels for the sessions of the list, account by account, as far as the budget goes. */
export function cancelCarriedOver(s: VenueState, budget: DisconnectBudget): void {
  const list = s.carriedDisconnects;
  let next = 0;
  while (next < list.length && !budget.isSpent) {
    const end = endOfAccount(list, next);
    if (!cancelOfAccount(s, list.subarray(next, end), budget)) break;
    next = end;
  }
  if (next > 0) s.carriedDisconnects = list.subarray(next);
}

/** Where the entries of one account in a row, which begin here, end. */
function endOfAccount(list: Float64Array, from: number): number {
  let end = from + LOST_WORDS;
  while (end < list.length && list[end] === list[from]) end += LOST_WORDS;
  return end;
}

/** Looks at the account's orders once, for all the entries; false if some that are meant are left. */
function cancelOfAccount(s: VenueState, entries: Float64Array, budget: DisconnectBudget): boolean {
  const lastOf = new Map<number, number>();
  for (let at = 0; at < entries.length; at += LOST_WORDS) {
    lastOf.set(entries[at + 1]!, entries[at + 2]!);
    budget.looks--;
  }
  const ids = openOrderIds(s, entries[0]!, (order) => {
    budget.looks--;
    return s.orders.id(order) <= (lastOf.get(s.orders.session(order)) ?? 0);
  });
  for (const id of ids) {
    if (s.orders.index.get(id) === NONE) continue;
    if (budget.cancels === 0) return false;
    budget.cancels--;
    endIfOpen(s, id, END.disconnected);
  }
  return true;
}

export function cancelOfExpiring(s: VenueState, budget: DisconnectBudget): void {
  listExpiring(s);
  if (s.scratch.expiredSessions.length > 0) cancelCarriedOver(s, budget);
}

/**
 * Chooses the expired sessions that this tick closes, by (expiry, number), and lists those with the
 * option on. The others stay for the next tick; an expired session cannot be used.
 */
export function listExpiring(s: VenueState): void {
  const { expiredSessions } = s.scratch;
  expiredSessions.length = 0;
  if (s.sessions.expiries.nextTime() > s.timeMs) return;
  const lost: Session[] = [];
  for (const number of s.sessions.expiries.due(s.timeMs, EXPIRED_SESSIONS_PER_TICK)) {
    expiredSessions.push(number);
    const session = s.sessions.get(number)!;
    if (session.cancelOnDisconnect) lost.push(session);
  }
  lost.sort((a, b) => a.account - b.account || a.number - b.number);
  carryOver(s, Float64Array.from(lost.flatMap(({ account, number }) => [account, number])));
}

/** The live session that the command leaves without a connection, if it has the option on. */
function affectedBy(s: VenueState, { session: number }: SessionDisconnected): Session | undefined {
  const session = s.sessions.get(number);
  const { writing } = s.writers;
  if (session === undefined || writing === undefined) return undefined;
  if (s.timeMs >= session.expiresAtMs || !session.cancelOnDisconnect) return undefined;
  const places = new Places();
  places.add(writing.place);
  return s.sessions.presence.isOnlyAt(number, places) ? session : undefined;
}

/** Appends sessions, given as account and number each, with all orders that they have placed. */
function carryOver(s: VenueState, lost: Float64Array): void {
  if (lost.length === 0) return;
  const waiting = s.carriedDisconnects;
  const list = float64(waiting.length + (lost.length / 2) * LOST_WORDS);
  list.set(waiting);
  for (let from = 0, to = waiting.length; from < lost.length; from += 2, to += LOST_WORDS) {
    list[to] = lost[from]!;
    list[to + 1] = lost[from + 1]!;
    list[to + 2] = s.seq;
  }
  s.carriedDisconnects = list;
  if (!s.rules.endsInRounds) return;
  s.ends.noteLost(list.subarray(waiting.length));
  s.ends.add(accountsOf(list.subarray(waiting.length)));
}

/** The accounts of entries of the list, in their order. */
export function accountsOf(entries: Float64Array): number[] {
  return Array.from(entries.filter((_, at) => at % LOST_WORDS === 0));
}

/** Ids of the open orders that the session placed, ascending; its account may have others. */
export function orderIdsOfSession(s: VenueState, { account, number }: Session): number[] {
  return openOrderIds(s, account, (order) => s.orders.session(order) === number);
}
