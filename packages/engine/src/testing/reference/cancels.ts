/**
 * "Cancel": one order, all orders, and the dead-man's switch.
 */
import type { CancelAfter, CancelAll, CancelOrder } from "../../commands.js";
import { END } from "../../reasons.js";
import { checkSigned } from "./checks.js";
import { emit, settleEvents } from "./end-events.js";
import { num } from "./integers.js";
import { namedOrder, openOrders } from "./open-orders.js";
import { fireIfDue } from "./over.js";
import { type Refused, refused } from "./refusal.js";
import { consume, liveSession } from "./sessions.js";
import { cancel, endOrders } from "./settle.js";
import { accountOf, rulesOf, type State } from "./state.js";

export function cancelOrder(state: State, command: CancelOrder): Refused | null {
  const { batch } = command;
  const session =
    batch === undefined
      ? liveSession(state, command.session)
      : checkSigned(state, { ...batch, session: command.session, batch });
  if ("refusal" in session) return session;
  if ("replayed" in session) {
    const { session: number } = command;
    const { nonce } = batch ?? { nonce: 0 };
    emit(state, { kind: "OrderReplayed", session: number, nonce, orderId: session.replayed });
    return null;
  }
  const until = command.validUntilMs ?? 0;
  if (until !== 0 && state.time > until) return refused("too_late", state.time);
  const own = openOrders(accountOf(state, session.account));
  const order = namedOrder(own, command.orderId, command.clientOrderId ?? "");
  if (order === undefined) return refused("order_not_cancelable");
  const before = { fund: state.fund, fees: state.fees };
  state.block.executed = true;
  const remaining = num(order.remaining);
  cancel(state, order, END.requested);
  settleEvents(state, before);
  if (rulesOf(state).cancelsAreSealed) {
    emit(state, {
      kind: "CancelAcknowledged",
      orderId: order.id,
      account: session.account,
      session: session.number,
      market: order.market,
      nonce: batch?.nonce ?? 0,
      remainingLots: remaining,
      block: state.block.number,
      ackNonce: state.position,
    });
    state.block.acks += 1;
  }
  if (batch !== undefined) consume(state, session, batch.nonce, batch);
  return null;
}

export function cancelAll(state: State, command: CancelAll): Refused | null {
  const session = liveSession(state, command.session);
  if ("refusal" in session) return session;
  if (command.market !== -1 && state.markets[command.market] === undefined) {
    return refused("unknown_symbol");
  }
  const orders = openOrders(accountOf(state, session.account)).filter(
    (order) => command.market === -1 || order.market === command.market,
  );
  const before = { fund: state.fund, fees: state.fees };
  const count = endOrders(state, orders, END.requested);
  settleEvents(state, before);
  emit(state, { kind: "AllCanceled", account: session.account, count });
  return null;
}

export function cancelAfter(state: State, command: CancelAfter): Refused | null {
  const session = liveSession(state, command.session);
  if ("refusal" in session) return session;
  const after = command.afterMs;
  const valid = Number.isSafeInteger(after) && after >= 1_000 && after <= 3_600_000;
  if (after !== 0 && !valid) return refused("invalid_command");
  const account = accountOf(state, session.account);
  fireIfDue(state, account.number);
  account.cancelAt = after === 0 ? 0 : state.time + after;
  emit(state, {
    kind: "CancelAfterSet",
    account: account.number,
    cancelAtMs: account.cancelAt,
  });
  return null;
}
