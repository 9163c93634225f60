/** CancelOrder, CancelAll, and the dead-man's switch. They work whatever the market's state. */
import type { CancelAfter, CancelAll, CancelOrder } from "../commands.js";
import {
  EXPIRIES_PER_TICK,
  MAX_CANCEL_AFTER_MS,
  MIN_CANCEL_AFTER_MS,
  SWITCH_CANCELS_PER_TICK,
  SWITCHES_PER_TICK,
} from "../config.js";
import { emit } from "../events/event-log.js";
import { END, REFUSAL } from "../reasons.js";
import { isTooLate, liveSession, refuse } from "../refuse.js";
import { consumeNonce, signingSession } from "../sessions/signing.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import type { Session } from "../state/sessions.js";
import type { VenueState } from "../state/venue.js";
import { forEachOpenOrder } from "./open-orders.js";
import { fireIfDue } from "./over.js";
import { namedOrder } from "./placement-terms.js";
import { cancelOpen, endIfOpen, endOrders } from "./settle.js";

export function applyCancelOrder(s: VenueState, command: CancelOrder): boolean {
  const session = cancelingSession(s, command);
  if (session === undefined) return false;
  if (isTooLate(s, command.validUntilMs ?? 0)) return refuse(s, REFUSAL.too_late, s.timeMs);
  const order = namedOrder(s, session.account, command.orderId, command.clientOrderId ?? "");
  if (order === NONE) return refuse(s, REFUSAL.order_not_cancelable);
  s.focus = s.orders.market(order);
  const { canceled } = s.scratch;
  canceled.orderId = s.orders.id(order);
  canceled.market = s.focus;
  canceled.remainingLots = s.orders.remaining(order);
  cancelOpen(s, s.markets[s.focus]!, order, END.requested);
  return true;
}

/** A cancel of its own needs no signature; one in a batch is signed with it. */
function cancelingSession(s: VenueState, { session, batch }: CancelOrder): Session | undefined {
  if (batch === undefined) return liveSession(s, session);
  return signingSession(s, { session, key: batch.key, nonce: batch.nonce, batch });
}

/** The end of an accepted CancelOrder. */
export function concludeCancel(s: VenueState, { session: number, batch }: CancelOrder): void {
  const session = s.sessions.find(number);
  if (session === undefined) return;
  if (s.rules.sealsCancels) acknowledgeCancel(s, session, batch?.nonce ?? 0);
  if (batch !== undefined) consumeNonce(s, session, batch.nonce, batch);
}

function acknowledgeCancel(s: VenueState, session: Session, nonce: number): void {
  const { orderId, market, remainingLots } = s.scratch.canceled;
  emit.CancelAcknowledged(s.events, {
    orderId,
    account: session.account,
    session: session.number,
    market,
    nonce,
    remainingLots,
    block: s.totals.block,
    ackNonce: s.seq,
  });
  s.totals.blockAcks += 1;
}

export function applyCancelAll(s: VenueState, command: CancelAll): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  if (command.market !== -1 && s.markets[command.market] === undefined) {
    return refuse(s, REFUSAL.unknown_symbol);
  }
  s.scratch.canceledOrders = cancelAll(s, session.account, command.market, END.requested);
  return true;
}

/** The last event of a CancelAll. */
export function reportCancelAll(s: VenueState, command: CancelAll): void {
  const { account } = s.sessions.find(command.session)!;
  emit.AllCanceled(s.events, { account, count: s.scratch.canceledOrders });
}

export function cancelAfter(s: VenueState, command: CancelAfter): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  const { account } = session;
  const after = command.afterMs;
  const inRange =
    Number.isSafeInteger(after) && after >= MIN_CANCEL_AFTER_MS && after <= MAX_CANCEL_AFTER_MS;
  if (after !== 0 && !inRange) return refuse(s, REFUSAL.invalid_command);
  fireIfDue(s, account);
  const cancelAtMs = after === 0 ? 0 : s.timeMs + after;
  s.setCancelAtMs(account, cancelAtMs);
  if (cancelAtMs === 0) s.switches.delete(account);
  else s.switches.set(account, cancelAtMs);
  emit.CancelAfterSet(s.events, { account, cancelAtMs });
  return true;
}

/** Under version 2: ends orders that have expired, the soonest first, as many as a tick may. */
export function expireOrders(s: VenueState): void {
  const { expiries } = s.orders.extras;
  for (let left = EXPIRIES_PER_TICK; left > 0 && expiries.nextTime() <= s.timeMs; left--) {
    const row = expiries.firstOf(expiries.nextAccount());
    endIfOpen(s, s.orders.extras.orderId(row), END.expired);
  }
}

/** Under version 2: fires dead-man's switches that are due, as many as a tick may. */
export function fireSwitches(s: VenueState): void {
  let canceled = 0;
  for (let fired = 0; fired < SWITCHES_PER_TICK; fired++) {
    if (s.switches.nextTime() > s.timeMs || canceled >= SWITCH_CANCELS_PER_TICK) return;
    const account = s.switches.pop();
    s.setCancelAtMs(account, 0);
    emit.CancelAfterFired(s.events, { account });
    canceled += cancelAll(s, account, -1, END.cancel_after);
  }
}

/** Cancels an account's open orders in one market or (−1) all; returns how many. */
function cancelAll(s: VenueState, account: number, onlyMarket: number, reason: number): number {
  const markets = onlyMarket < 0 ? s.markets : [s.markets[onlyMarket]!];
  return endOrders(s, idsIn(s, markets, account), reason);
}

/** Ids of the account's open orders that pass the filter, ascending; all of them are looked at. */
export function openOrderIds(
  s: VenueState,
  account: number,
  isMeant: (order: number) => boolean,
): number[] {
  const { work } = s.scratch;
  return idsIn(s, s.markets, account, (order) => {
    work.charge(s.rules.unitsPerMove);
    return isMeant(order);
  });
}

/** Ids of the account's open orders in these markets, ascending. */
function idsIn(
  s: VenueState,
  markets: readonly Market[],
  account: number,
  isMeant?: (order: number) => boolean,
): number[] {
  const ids: number[] = [];
  for (const market of markets) {
    const row = market.positions.rowOf(account);
    if (row === NONE) continue;
    forEachOpenOrder(s, market, row, (order) => {
      if (isMeant === undefined || isMeant(order)) ids.push(s.orders.id(order));
    });
  }
  return ids.sort((a, b) => a - b);
}
