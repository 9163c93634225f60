/**
 * Cancel-on-disconnect, an option of a session: its open orders end with its last connection. The
 * gateway reports that with `SessionDisconnected`; a restart (`Resume`) ends all connections, and the
 * end of a session ends its own. Only orders that the session placed are canceled, in every market,
 * whatever the market's state.
 *
 * One session's orders end within one command, as those of a cancel-all do. The cancels of many
 * sessions together are bounded per command, and the rest is carried over by order id, so that an
 * order placed after the connection was lost is not canceled.
 */
import type { SessionDisconnected, SetSessionOption } from "../commands.js";
import { DISCONNECT_CANCELS_PER_COMMAND, EXPIRED_SESSIONS_PER_TICK } from "../config.js";
import { emit } from "../events/event-log.js";
import { endIfOpen, endOrders, openOrderIds } from "../orders/cancel.js";
import { END } from "../reasons.js";
import { liveSession } from "../refuse.js";
import { NONE } from "../state/orders.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { WorkBudget } from "../work-budget.js";

export function setSessionOption(s: VenueState, command: SetSessionOption): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  s.sessions.setCancelOnDisconnect(session, command.cancelOnDisconnect);
  const cancelOnDisconnect = command.cancelOnDisconnect ? 1 : 0;
  emit.SessionOptionSet(s.events, { session: session.number, cancelOnDisconnect });
  return true;
}

/** Never refused: it races with the end of the session and with the option. */
export function disconnectSession(s: VenueState, command: SessionDisconnected): boolean {
  const session = affectedBy(s, command);
  if (session === undefined) return true;
  s.scratch.canceledOrders = endOrders(s, orderIdsOfSession(s, session), END.disconnected);
  return true;
}

/** The last event of a SessionDisconnected, if the session has the option on. */
export function reportDisconnected(s: VenueState, command: SessionDisconnected): void {
  const session = affectedBy(s, command);
  if (session === undefined) return;
  emit.AllCanceled(s.events, { account: session.account, count: s.scratch.canceledOrders });
}

/** After a start: disconnects all sessions with the option on, by session number. */
export function disconnectAll(s: VenueState): void {
  const numbers = s.sessions.cancelingOnDisconnect.all().sort((a, b) => a - b);
  const sessions = numbers.map((number) => s.sessions.get(number)!);
  const ids = new Set(s.carriedDisconnects.slice(s.carriedFrom));
  for (const session of sessions) for (const id of orderIdsOfSession(s, session)) ids.add(id);
  carryOver(s, [...ids]);
  cancelCarriedOver(s, new WorkBudget(DISCONNECT_CANCELS_PER_COMMAND));
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

/** The live session that the command names, if it has the option on. */
function affectedBy(s: VenueState, { session: number }: SessionDisconnected): Session | undefined {
  const session = s.sessions.get(number);
  if (session === undefined || s.timeMs >= session.expiresAtMs) return undefined;
  return session.cancelOnDisconnect ? session : undefined;
}

function carryOver(s: VenueState, ids: readonly number[]): void {
  s.carriedDisconnects = ids;
  s.carriedFrom = 0;
}

/** Ids of the open orders that the session placed, ascending; its account may have others. */
export function orderIdsOfSession(s: VenueState, { account, number }: Session): number[] {
  return openOrderIds(s, account, (order) => s.orders.session(order) === number);
}
