/** "Cancel-on-disconnect": the option, and the cancels for sessions without a connection. */
import type { SetSessionOption } from "../../commands.js";
import { END } from "../../reasons.js";
import { emit } from "./end-events.js";
import type { Refused } from "./refusal.js";
import { liveSession, ordersOf } from "./sessions.js";
import { endOrder, isOpen } from "./settle.js";
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

/** A command or tick that cancels for lost connections may cancel this many. */
export function newDisconnects(state: State): void {
  state.disconnectBudget = ORDERS_PER_COMMAND;
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
