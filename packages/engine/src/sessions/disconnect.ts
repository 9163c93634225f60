/**
 * Where sessions are connected, and cancel-on-disconnect, an option of a session: its open orders end
 * with its last connection. Each writer reports its first and last connection of a session
 * (`SessionConnected`, `SessionDisconnected`); the end of a writer ends its connections, and the end
 * of a session its own. Only orders that the session placed are canceled, in every market, whatever
 * the market's state.
 *
 * One session's orders end within one command, as those of a cancel-all do. The cancels of many
 * sessions together are bounded per command, and the rest is carried over by order id, so that an
 * order placed after the connection was lost is not canceled.
 */
import type { SessionConnected, SessionDisconnected, SetSessionOption } from "../commands.js";
import { DISCONNECT_CANCELS_PER_COMMAND, EXPIRED_SESSIONS_PER_TICK } from "../config.js";
import { emit } from "../events/event-log.js";
import { openOrderIds } from "../orders/cancel.js";
import { endIfOpen, endOrders } from "../orders/settle.js";
import { END, REFUSAL } from "../reasons.js";
import { liveSession, refuse } from "../refuse.js";
import { NONE } from "../state/orders.js";
import { Places } from "../state/presence.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import type { Writer } from "../state/writers.js";
import { WorkBudget } from "../work-budget.js";

export function setSessionOption(s: VenueState, command: SetSessionOption): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  s.sessions.setCancelOnDisconnect(session, command.cancelOnDisconnect);
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
  cancelCarriedOver(s, new WorkBudget(DISCONNECT_CANCELS_PER_COMMAND));
}

/** Carries over the orders of those sessions, by session number; expired ones included. */
export function carryOverLost(s: VenueState, writers: readonly Writer[]): void {
  const places = new Places();
  for (const { place } of writers) places.add(place);
  const ids = new Set(s.carriedDisconnects.slice(s.carriedFrom));
  for (const number of sessionsOnlyAt(s, places, writers).sort((a, b) => a - b)) {
    for (const id of orderIdsOfSession(s, s.sessions.get(number)!)) ids.add(id);
  }
  carryOver(s, [...ids]);
}

/** Those with the option on, in no order. Most sessions are connected nowhere. */
function sessionsOnlyAt(s: VenueState, places: Places, writers: readonly Writer[]): number[] {
  const { presence, cancelingOnDisconnect } = s.sessions;
  if (writers.every(({ place }) => presence.countAt(place) === 0)) return [];
  return cancelingOnDisconnect.all().filter((number) => presence.isOnlyAt(number, places));
}

/** Cancels what is carried over, as far as the budget goes; the list itself is not copied. */
export function cancelCarriedOver(s: VenueState, budget: WorkBudget): void {
  const ids = s.carriedDisconnects;
  for (let next = s.carriedFrom; next < ids.length; next++) {
    if (s.orders.index.get(ids[next]!) === NONE) continue;
    if (!budget.take()) {
      s.carriedFrom = next;
      return;
    }
    endIfOpen(s, ids[next]!, END.disconnected);
  }
  if (ids.length > 0) carryOver(s, []);
}

/**
 * Chooses the expired sessions that this tick closes, by (expiry, number), and cancels the orders of
 * those with the option on. The others stay for the next tick; an expired session cannot be used.
 */
export function cancelOfExpiring(s: VenueState, budget: WorkBudget): void {
  const { expiredSessions } = s.scratch;
  expiredSessions.length = 0;
  if (s.sessions.expiries.nextTime() > s.timeMs) return;
  if (s.carriedDisconnects.length - s.carriedFrom >= DISCONNECT_CANCELS_PER_COMMAND) return;
  const ids = new Set(s.carriedDisconnects.slice(s.carriedFrom));
  for (const number of s.sessions.expiries.due(s.timeMs, EXPIRED_SESSIONS_PER_TICK)) {
    if (ids.size >= DISCONNECT_CANCELS_PER_COMMAND) break;
    expiredSessions.push(number);
    const session = s.sessions.get(number)!;
    if (!session.cancelOnDisconnect) continue;
    for (const id of orderIdsOfSession(s, session)) ids.add(id);
  }
  carryOver(s, [...ids]);
  cancelCarriedOver(s, budget);
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

function carryOver(s: VenueState, ids: readonly number[]): void {
  s.carriedDisconnects = ids;
  s.carriedFrom = 0;
}

/** Ids of the open orders that the session placed, ascending; its account may have others. */
export function orderIdsOfSession(s: VenueState, { account, number }: Session): number[] {
  return openOrderIds(s, account, (order) => s.orders.session(order) === number);
}
