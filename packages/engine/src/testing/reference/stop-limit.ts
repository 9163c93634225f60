/**
 * "Once triggered the order is a limit order at this price": what its fills have left.
 */
import { GOOD_TILL_CANCELED } from "../../commands.js";
import { END } from "../../reasons.js";
import { enterBook } from "./book.js";
import { bandOf } from "./checks.js";
import { emit } from "./end-events.js";
import { abs, ceilDiv, max, num } from "./integers.js";
import { largest } from "./limits.js";
import { closable, MILLION, unitOf } from "./margin.js";
import { checkOpening, freeCapacity, reasonOf } from "./opening.js";
import { isOpen, settle } from "./settle.js";
import { accountOf, type Market, type Order, type Position, type State } from "./state.js";

export function restTriggered(
  state: State,
  market: Market,
  position: Position,
  order: Order,
  left: bigint,
): void {
  const limit = order.extra?.limit ?? 0n;
  const barred = barredLots(state, market, position, order, left, limit);
  const rest = left - barred.lots;
  const about = { orderId: order.id, account: order.account, market: order.market };
  if (rest === 0n) {
    const reason = barred.reason;
    emit(state, { kind: "OrderEnded", ...about, reason, remainingLots: num(left) });
    settle(state, order.account, order.market);
    return;
  }
  if (barred.lots > 0n) {
    const { reason } = barred;
    emit(state, { kind: "OrderReduced", ...about, reason, remainingLots: num(rest) });
    order.lots -= barred.lots;
  }
  order.remaining = rest;
  order.price = limit;
  order.resting = true;
  order.reached = false;
  position.orders.push(order);
  enterBook(market, order);
  settle(state, order.account, order.market);
  if (!isOpen(state, order)) return;
  emit(state, { kind: "OrderRested", orderId: order.id, remainingLots: num(rest) });
}

/** How many lots may not rest, and why. */
function barredLots(
  state: State,
  market: Market,
  position: Position,
  order: Order,
  left: bigint,
  limit: bigint,
): { lots: bigint; reason: number } {
  if (order.extra?.timeInForce !== GOOD_TILL_CANCELED) {
    return { lots: left, reason: END.not_filled };
  }
  // "Nothing trades or rests outside the band at the trigger."
  if (abs(limit - market.mark) > bandOf(market)) return { lots: left, reason: END.band };
  if (order.reduceOnly) return { lots: 0n, reason: END.none };
  const capacity = closable(position, order.side);
  const opening = max(0n, left - freeCapacity(position, order.side, capacity));
  if (opening === 0n) return { lots: 0n, reason: END.none };
  const resulting = capacity === 0n ? abs(position.lots) + opening : opening;
  const lot = limit * unitOf(market);
  const session = { account: order.account, maxNotional: order.cap };
  const terms = { leverage: Number(order.leverage) };
  const faulty = checkOpening(state, session, market, terms, resulting, opening * lot);
  if (faulty !== null) return { lots: opening, reason: reasonOf(faulty) };
  const { wallet } = accountOf(state, order.account);
  const fee = BigInt(market.config.makerFeePpm);
  const paid = largest(opening, (lots) => {
    return ceilDiv(lots * lot, order.leverage) + ceilDiv(lots * lot * fee, MILLION) <= wallet;
  });
  if (paid === opening) return { lots: 0n, reason: END.none };
  return { lots: opening - paid, reason: END.unfunded };
}
