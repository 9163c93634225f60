/**
 * "AmendOrder": an open order changes and keeps its id. It is judged as if it had been canceled and
 * placed again for the lots that remain; a refusal puts everything back.
 */

import { type AmendOrder, GOOD_TILL_CANCELED } from "../../commands.js";
import { END } from "../../reasons.js";
import { executeAmendment } from "./amendment-changes.js";
import { type Amended, checkAmended } from "./amendment-checks.js";
import { checkSigned } from "./checks.js";
import { emit } from "./end-events.js";
import { isWaitingExit } from "./exits.js";
import { max, min } from "./integers.js";
import { closable, isStopped } from "./margin.js";
import { namedOrder, openOrders } from "./open-orders.js";
import { overReason } from "./over.js";
import { type Refused, refused } from "./refusal.js";
import { accountOf, marketOf, type Order, positionOf, type Session, type State } from "./state.js";

export function amendOrder(state: State, command: AmendOrder): Refused | null {
  const session = checkSigned(state, command);
  if ("refusal" in session) return session;
  const { nonce } = command;
  if ("replayed" in session) {
    const orderId = session.replayed;
    emit(state, { kind: "OrderReplayed", session: command.session, nonce, orderId });
    return null;
  }
  const until = command.validUntilMs;
  if (until !== 0 && state.time > until) return refused("too_late", state.time);
  const order = target(state, session, command);
  if ("refusal" in order) return order;
  const market = marketOf(state, order.market);
  const amended = afterwards(state, session, order, command);
  const faulty = amended.ends ? null : checkAmended(state, market, amended, command);
  if (faulty !== null) return faulty;
  state.block.executed = true;
  executeAmendment(state, market, amended, command);
  return null;
}

function target(state: State, session: Session, command: AmendOrder): Order | Refused {
  const { priceTicks, sizeLots, limitTicks, expiresAtMs } = command;
  const figures = [command.nonce, priceTicks, sizeLots, limitTicks];
  const isWhole = figures.every((figure) => Number.isSafeInteger(figure) && figure >= 0);
  const changes = priceTicks > 0 || sizeLots > 0 || limitTicks > 0 || expiresAtMs !== -1;
  const isTime = Number.isSafeInteger(expiresAtMs) && expiresAtMs >= -1;
  if (!isWhole || !changes || !isTime) return refused("invalid_order");
  const own = openOrders(accountOf(state, session.account));
  const order = namedOrder(own, command.orderId, command.clientOrderId);
  if (order?.market !== command.market) return refused("order_not_amendable");
  if (overReason(state, order) !== END.none) return refused("order_not_amendable");
  const market = state.markets[order.market];
  if (market?.status === "halted") return refused("market_halted");
  if (market === undefined || isStopped(market)) return refused("market_settled");
  if (session.markets.length > 0 && !session.markets.includes(order.market)) {
    return refused("session_symbol_not_allowed");
  }
  return checkChange(order, command) ?? order;
}

/** What may be changed of which order. */
function checkChange(order: Order, command: AmendOrder): Refused | null {
  const { extra } = order;
  const given = {
    price: command.priceTicks > 0,
    size: command.sizeLots > 0,
    limit: command.limitTicks > 0,
    expiry: command.expiresAtMs !== -1,
  };
  // "Not open, or a stop that was reached".
  if (order.reached || order.triggered) return refused("order_not_amendable");
  const hasLimit = extra !== null && extra.limit > 0n;
  // "a triggered stop-limit: limitPrice only".
  if (order.resting && hasLimit && (given.price || given.size || given.expiry)) {
    return refused("order_not_amendable");
  }
  const closes = extra?.closePosition === true;
  if (given.limit && !hasLimit) return refused("invalid_order");
  // "Amendable: price, expiresAt."; an exit has the lots that it covers, and no expiry.
  if (given.size && (closes || isWaitingExit(order))) return refused("invalid_order");
  if (given.expiry && isWaitingExit(order)) return refused("invalid_order");
  // "limit and stop with gtc", and what closes the position.
  const isGtc = order.resting || extra?.timeInForce === GOOD_TILL_CANCELED;
  if (given.expiry && !isGtc && !closes) return refused("invalid_order");
  return null;
}

/** The order's terms after the amendment. */
function afterwards(state: State, session: Session, order: Order, command: AmendOrder): Amended {
  const filled = order.lots - order.remaining;
  let remaining = order.remaining;
  if (command.sizeLots > 0) {
    remaining = max(0n, BigInt(command.sizeLots) - filled);
    const position = positionOf(state, order.account, order.market);
    if (order.reduceOnly) remaining = min(remaining, closable(position, order.side));
  }
  const limit = command.limitTicks > 0 ? BigInt(command.limitTicks) : (order.extra?.limit ?? 0n);
  // Once triggered it is a limit order at its limit.
  const isTriggered = order.resting && limit > 0n;
  const given = isTriggered ? limit : BigInt(command.priceTicks);
  const price = given > 0n ? given : order.price;
  const keepsPlace = price === order.price && remaining <= order.remaining;
  const expiresAt =
    command.expiresAtMs === -1 ? (order.extra?.expiresAt ?? 0) : command.expiresAtMs;
  const ends = command.sizeLots > 0 && remaining === 0n;
  const lots = filled + remaining;
  return { session, order, price, limit, lots, remaining, keepsPlace, expiresAt, ends };
}
