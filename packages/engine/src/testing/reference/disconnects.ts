/**
 * "Cancel-on-disconnect": the option, the loss of a session's last connection, and the loss of all
 * of them at a start.
 */
import type { SessionDisconnected, SetSessionOption } from "../../commands.js";
import { END } from "../../reasons.js";
import { emit, settleEvents } from "./end-events.js";
import type { Refused } from "./refusal.js";
import { liveSession, ordersOf } from "./sessions.js";
import { endOrder, endOrders, isOpen } from "./settle.js";
import type { Session, State } from "./state.js";

const ORDERS_PER_COMMAND = 1_024;

export function setSessionOption(state: State, command: SetSessionOption): Refused | null {
  const session = liveSession(state, command.session);
  if ("refusal" in session) return session;
  session.cancelOnDisconnect = command.cancelOnDisconnect;
  emit(state, {
    kind: "SessionOptionSet",
    session: session.number,
    cancelOnDisconnect: command.cancelOnDisconnect ? 1 : 0,
  });
  return null;
}

export function sessionDisconnected(state: State, command: SessionDisconnected): void {
  const session = liveSession(state, command.session);
  if ("refusal" in session || !session.cancelOnDisconnect) return;
  const before = { fund: state.fund, fees: state.fees };
  const count = endOrders(state, ordersOf(state, session), END.disconnected);
  settleEvents(state, before);
  emit(state, { kind: "AllCanceled", account: session.account, count });
}

/** A start: all connections of before are gone. */
export function allDisconnected(state: State): void {
  const before = { fund: state.fund, fees: state.fees };
  state.disconnectBudget = ORDERS_PER_COMMAND;
  const sessions = [...state.sessions.values()].sort((a, b) => a.number - b.number);
  disconnect(
    state,
    sessions.filter((session) => session.cancelOnDisconnect),
  );
  settleEvents(state, before);
}

/** A tick's first phase. */
export function carriedDisconnects(state: State): void {
  state.disconnectBudget = ORDERS_PER_COMMAND;
  disconnect(state, []);
}

/** Cancels as far as the budget goes and carries over the rest. */
export function disconnect(state: State, sessions: readonly Session[]): void {
  const list = [...state.carriedDisconnects];
  for (const session of sessions) {
    list.push(...ordersOf(state, session).filter((order) => !list.includes(order)));
  }
  state.carriedDisconnects = [];
  for (const [place, order] of list.entries()) {
    if (!isOpen(state, order)) continue;
    if (state.disconnectBudget === 0) {
      state.carriedDisconnects = list.slice(place);
      return;
    }
    state.disconnectBudget -= 1;
    endOrder(state, order, END.disconnected);
  }
}
