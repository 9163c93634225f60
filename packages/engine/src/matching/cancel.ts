/** CancelOrder, CancelAll, and the dead-man's switch. They work whatever the market's state. */
import type { CancelAfter, CancelAll, CancelOrder } from "../commands.js";
import { MAX_CANCEL_AFTER_MS, MIN_CANCEL_AFTER_MS } from "../config.js";
import { EVENT } from "../event-log.js";
import { endOrder } from "../margin/settle.js";
import { END, REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import { liveSession } from "../sessions/session-commands.js";
import { NONE, ORDER, ORDER_WORDS } from "../state/orders.js";
import { ACCOUNT, ACCOUNT_WORDS, type VenueState } from "../state/venue.js";
import { cancelAll } from "./cancel-all.js";

export function cancelOrder(s: VenueState, command: CancelOrder): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  const order = s.orders.index.get(command.orderId);
  if (order === NONE) return refuse(s, REFUSAL.order_not_cancelable);
  const data = s.orders.table.data;
  const at = order * ORDER_WORDS;
  if (data[at + ORDER.ACCOUNT] !== session.account) return refuse(s, REFUSAL.order_not_cancelable);
  s.focus = data[at + ORDER.MARKET]!;
  endOrder(s, s.markets[s.focus]!, order, END.requested);
  return true;
}

export function cancelAllOrders(s: VenueState, command: CancelAll): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  if (command.market !== -1 && s.markets[command.market] === undefined) {
    return refuse(s, REFUSAL.unknown_symbol);
  }
  canceled = cancelAll(s, session.account, command.market, END.requested);
  return true;
}

/** How many the command under way has canceled. */
let canceled = 0;

/** The last event of a CancelAll. */
export function reportCancelAll(s: VenueState, command: CancelAll): void {
  const session = s.sessions.byNumber.get(command.session)!;
  s.events.emit(EVENT.AllCanceled, session.account, canceled);
}

export function cancelAfter(s: VenueState, command: CancelAfter): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  const after = command.afterMs;
  const inRange =
    Number.isSafeInteger(after) && after >= MIN_CANCEL_AFTER_MS && after <= MAX_CANCEL_AFTER_MS;
  if (after !== 0 && !inRange) return refuse(s, REFUSAL.invalid_command);
  const cancelAt = after === 0 ? 0 : s.timeMs + after;
  s.accounts.touch(session.account);
  s.accounts.data[session.account * ACCOUNT_WORDS + ACCOUNT.CANCEL_AT] = cancelAt;
  if (cancelAt !== 0) s.switches.push(cancelAt, session.account);
  s.events.emit(EVENT.CancelAfterSet, session.account, cancelAt);
  return true;
}
