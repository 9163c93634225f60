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
import { DISCONNECT_CANCELS_PER_COMMAND } from "../config.js";
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
  const sessions = [...s.sessions.cancelingOnDisconnect].sort((a, b) => a.number - b.number);
  cancelWithin(s, new WorkBudget(DISCONNECT_CANCELS_PER_COMMAND), sessions);
}

/** Cancels what did not fit into the last command. */
export function cancelCarriedOver(s: VenueState, budget: WorkBudget): void {
  cancelWithin(s, budget, []);
}

/** Disconnects the sessions that expire in this tick, by (expiry, number). */
export function cancelOfExpiring(s: VenueState, budget: WorkBudget): void {
  const expiring: Session[] = [];
  for (const session of s.sessions.cancelingOnDisconnect) {
    if (session.expiresAtMs <= s.timeMs) expiring.push(session);
  }
  if (expiring.length === 0) return;
  expiring.sort((a, b) => a.expiresAtMs - b.expiresAtMs || a.number - b.number);
  cancelWithin(s, budget, expiring);
}

/** The live session that the command names, if it has the option on. */
function affectedBy(s: VenueState, { session: number }: SessionDisconnected): Session | undefined {
  const session = s.sessions.byNumber.get(number);
  if (session === undefined || s.timeMs >= session.expiresAtMs) return undefined;
  return session.cancelOnDisconnect ? session : undefined;
}

/** Cancels what was carried over, then the sessions' orders; carries over what exceeds the budget. */
function cancelWithin(s: VenueState, budget: WorkBudget, sessions: readonly Session[]): void {
  const pending = new Set(s.carriedDisconnects);
  for (const session of sessions) for (const id of orderIdsOfSession(s, session)) pending.add(id);
  if (pending.size === 0) return;
  const ids = [...pending];
  let next = 0;
  for (; next < ids.length; next++) {
    if (s.orders.index.get(ids[next]!) === NONE) continue;
    if (!budget.take()) break;
    endIfOpen(s, ids[next]!, END.disconnected);
  }
  s.carriedDisconnects = ids.slice(next);
}

/** Ids of the open orders that the session placed, ascending; its account may have others. */
export function orderIdsOfSession(s: VenueState, { account, number }: Session): number[] {
  return openOrderIds(s, account, (order) => s.orders.session(order) === number);
}
