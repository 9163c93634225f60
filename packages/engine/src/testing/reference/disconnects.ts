/** "Cancel-on-disconnect": the option, and the cancels for sessions without a connection. */
import type { SetSessionOption } from "../../commands.js";
import { END } from "../../reasons.js";
import { emit } from "./end-events.js";
import { openOrders } from "./open-orders.js";
import { lose } from "./over.js";
import type { Refused } from "./refusal.js";
import { liveSession } from "./sessions.js";
import { cancel, isOpen } from "./settle.js";
import { accountOf, rulesOf, type Session, type State } from "./state.js";
import { chargeOrders } from "./work.js";

const ORDERS_PER_COMMAND = 1_024;
const LOOKS_PER_COMMAND = 4_096;

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

/** A command or tick that cancels for lost connections may cancel and look at this many. */
export function newDisconnects(state: State): void {
  state.disconnectBudget = { cancels: ORDERS_PER_COMMAND, looks: LOOKS_PER_COMMAND };
}

/** Lists the sessions behind those that wait, then cancels as far as the budget goes. */
export function disconnect(state: State, sessions: readonly Session[]): void {
  if (rulesOf(state).endsInRounds) {
    lose(state, sessions);
    return;
  }
  const lost = [...sessions].sort((a, b) => a.account - b.account || a.number - b.number);
  for (const { account, number: session } of lost) {
    state.carriedDisconnects.push({ account, session, position: state.position });
  }
  const budget = state.disconnectBudget;
  while (state.carriedDisconnects.length > 0 && budget.cancels > 0 && budget.looks > 0) {
    if (!serveFirst(state)) return;
  }
}

/** Cancels for the first account of the list; false if it cannot do all. */
function serveFirst(state: State): boolean {
  const budget = state.disconnectBudget;
  const list = state.carriedDisconnects;
  const number = list[0]!.account;
  const other = list.findIndex(({ account }) => account !== number);
  const entries = other === -1 ? list : list.slice(0, other);
  const open = openOrders(accountOf(state, number));
  chargeOrders(state, open.length);
  budget.looks -= entries.length + open.length;
  const meant = open.filter((order) =>
    entries.some(({ session, position }) => order.session === session && order.id <= position),
  );
  for (const order of meant) {
    if (!isOpen(state, order)) continue;
    if (budget.cancels === 0) return false;
    budget.cancels -= 1;
    cancel(state, order, END.disconnected);
  }
  state.carriedDisconnects = list.slice(entries.length);
  return true;
}
