/**
 * Cancel-on-disconnect, an option of a session: its open orders go with its last connection. Whoever
 * holds the connections says when that was (`SessionDisconnected`); after a start (`Resume`) all of
 * before are gone, and a session that ends takes its connections along. Only orders that the session
 * itself placed are meant, in every market, whatever the market's state.
 *
 * One session's orders end within one command, as those of a cancel-all do. Those of many sessions
 * at once are bounded per command: the rest is carried over, by id, so that an order placed after
 * the connection was lost is never taken for one placed before.
 */
import type { SessionDisconnected, SetSessionOption } from "../commands.js";
import { DISCONNECT_CANCELS_PER_COMMAND } from "../config.js";
import { EVENT } from "../event-log.js";
import { endIfOpen, endOrders } from "../matching/cancel-all.js";
import { END } from "../reasons.js";
import { NONE } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { WorkBudget } from "../tick/work-budget.js";
import type { Session } from "./session-book.js";
import { liveSession } from "./session-commands.js";
import { orderIdsOfSession } from "./session-orders.js";

export function setSessionOption(s: VenueState, command: SetSessionOption): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  s.sessions.setCancelOnDisconnect(session, command.cancelOnDisconnect);
  s.events.emit(EVENT.SessionOptionSet, session.number, command.cancelOnDisconnect ? 1 : 0);
  return true;
}

/** Never refused: it races with the end of the session and with the option. */
export function disconnectSession(s: VenueState, command: SessionDisconnected): boolean {
  const session = meantBy(s, command);
  if (session === undefined) return true;
  canceled = endOrders(s, orderIdsOfSession(s, session), END.disconnected);
  return true;
}

/** How many the command under way has canceled. */
let canceled = 0;

/** The last event of a SessionDisconnected that concerned its session. */
export function reportDisconnected(s: VenueState, command: SessionDisconnected): void {
  const session = meantBy(s, command);
  if (session !== undefined) s.events.emit(EVENT.AllCanceled, session.account, canceled);
}

/** After a start: whoever had the option on is disconnected, by session number. */
export function disconnectAll(s: VenueState): void {
  const sessions = [...s.sessions.cancelingOnDisconnect].sort((a, b) => a.number - b.number);
  cancelWithin(s, new WorkBudget(DISCONNECT_CANCELS_PER_COMMAND), sessions);
}

/** What did not fit into the last command. */
export function cancelCarriedOver(s: VenueState, budget: WorkBudget): void {
  cancelWithin(s, budget, []);
}

/** Sessions that expire in this tick, by (expiry, number), are disconnected by it. */
export function cancelOfExpiring(s: VenueState, budget: WorkBudget): void {
  const expiring: Session[] = [];
  for (const session of s.sessions.cancelingOnDisconnect) {
    if (session.expiresAtMs <= s.timeMs) expiring.push(session);
  }
  if (expiring.length === 0) return;
  expiring.sort((a, b) => a.expiresAtMs - b.expiresAtMs || a.number - b.number);
  cancelWithin(s, budget, expiring);
}

/** The live session with the option on that the command names. */
function meantBy(s: VenueState, { session: number }: SessionDisconnected): Session | undefined {
  const session = s.sessions.byNumber.get(number);
  if (session === undefined || s.timeMs >= session.expiresAtMs) return undefined;
  return session.cancelOnDisconnect ? session : undefined;
}

/** Cancels what was carried over, then the sessions' orders; carries over what the budget leaves. */
function cancelWithin(s: VenueState, budget: WorkBudget, sessions: readonly Session[]): void {
  const meant = new Set(s.carriedDisconnects);
  for (const session of sessions) for (const id of orderIdsOfSession(s, session)) meant.add(id);
  if (meant.size === 0) return;
  const ids = [...meant];
  let next = 0;
  for (; next < ids.length; next++) {
    if (s.orders.index.get(ids[next]!) === NONE) continue;
    if (!budget.take()) break;
    endIfOpen(s, ids[next]!, END.disconnected);
  }
  s.carriedDisconnects = ids.slice(next);
}
