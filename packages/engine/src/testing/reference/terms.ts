/**
 * INTERFACE-2, section 1: the optional fields of an order. Which of them go together, what a size with
 * a margin or a cap leaves for fills, and when an order expires.
 */
import {
  CANCEL_BOTH,
  CANCEL_RESTING,
  FILL_OR_KILL,
  GOOD_TILL_CANCELED,
  IMMEDIATE_OR_CANCEL,
  LIMIT_ORDER,
  MARKET_ORDER,
  type OrderExtras,
  type PlaceOrder,
  STOP_ORDER,
  STOP_TRIGGER,
  TAKE_PROFIT_TRIGGER,
} from "../../commands.js";
import { END } from "../../reasons.js";
import { ceilDiv, floorDiv, max } from "./integers.js";
import { openOrders } from "./open-orders.js";
import { type Refused, refused } from "./refusal.js";
import { cancel, isOpen } from "./settle.js";
import { type Account, accountOf, type Extra, type Order, type State } from "./state.js";

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** "timeInForce": whether nothing of the order may rest. */
export function isImmediate(order: Pick<PlaceOrder, "type" | "extras">): boolean {
  if (order.type === MARKET_ORDER) return true;
  const force = order.extras?.timeInForce ?? GOOD_TILL_CANCELED;
  return order.type === LIMIT_ORDER && force !== GOOD_TILL_CANCELED;
}

export function isFillOrKill(order: PlaceOrder): boolean {
  return order.extras?.timeInForce === FILL_OR_KILL;
}

/** Whether fields are not what they can be, or do not go together. */
export function isMisshapen(order: PlaceOrder, extras: OrderExtras): boolean {
  const { sizeLots, expiresAtMs, validUntilMs, timeInForce, selfTrade } = extras;
  const { trigger, limitTicks, closePosition } = extras;
  const figures = [
    sizeLots,
    expiresAtMs,
    validUntilMs,
    timeInForce,
    selfTrade,
    trigger,
    limitTicks,
  ];
  if (figures.some((figure) => !Number.isSafeInteger(figure) || figure < 0)) return true;
  if (timeInForce > FILL_OR_KILL || selfTrade > CANCEL_BOTH) return true;
  if (!/^[A-Za-z0-9_-]{0,36}$/.test(extras.clientOrderId)) return true;
  if (trigger > TAKE_PROFIT_TRIGGER) return true;
  const isStopOnly = trigger !== STOP_TRIGGER || limitTicks > 0 || closePosition;
  if (isStopOnly && order.type !== STOP_ORDER) return true;
  // "size, limitPrice, timeInForce are 400": the last one shows only as another than the default.
  if (closePosition && (sizeLots > 0 || limitTicks > 0)) return true;
  switch (order.type) {
    case MARKET_ORDER:
      if (timeInForce === GOOD_TILL_CANCELED) return true;
      if (timeInForce === FILL_OR_KILL && sizeLots === 0) return true;
      break;
    case STOP_ORDER:
      // "gtc only with limitPrice, else ioc".
      if (timeInForce === FILL_OR_KILL) return true;
      if (timeInForce === GOOD_TILL_CANCELED && limitTicks === 0) return true;
      if (closePosition) return order.postOnly;
      break;
    case LIMIT_ORDER:
      break;
  }
  return timeInForce !== GOOD_TILL_CANCELED && (order.postOnly || expiresAtMs !== 0);
}

/** "1 s to 90 days ahead", and "unique among the account's open orders". */
export function checkTerms(state: State, account: Account, extras: OrderExtras): Refused | null {
  const { expiresAtMs, clientOrderId } = extras;
  const [from, to] = [state.time + SECOND_MS, state.time + 90 * DAY_MS];
  if (expiresAtMs !== 0 && !(expiresAtMs >= from && expiresAtMs <= to)) {
    return refused("expiry_out_of_range", from, to);
  }
  if (clientOrderId === "") return null;
  const other = openOrders(account).find((order) => order.extra?.clientId === clientOrderId);
  return other === undefined ? null : refused("client_order_id_in_use", other.id);
}

/** What an order without terms has once it is bounded or is to expire. */
export function plainExtra(isStop: boolean, cap: bigint, expiresAt: number): Extra {
  return {
    size: 0n,
    margin: 0n,
    expiresAt,
    timeInForce: isStop ? IMMEDIATE_OR_CANCEL : GOOD_TILL_CANCELED,
    trigger: STOP_TRIGGER,
    limit: 0n,
    closePosition: false,
    selfTrade: CANCEL_RESTING,
    clientId: "",
    cap,
    filled: 0n,
    opened: 0n,
  };
}

/** "without a size": only of an order that is larger than the cap, an exit, its fills are bounded. */
export function fillCap(cap: bigint, size: bigint, reduceOnly: boolean, whole: bigint): bigint {
  if (size > 0n) return cap;
  return !reduceOnly && whole > cap ? cap : 0n;
}

export function extraOf(order: PlaceOrder, cap: bigint): Extra | null {
  const { extras } = order;
  if (extras === undefined) {
    return cap === 0n ? null : plainExtra(order.type === STOP_ORDER, cap, 0);
  }
  return {
    size: BigInt(extras.sizeLots),
    margin: BigInt(order.marginMicros),
    expiresAt: extras.expiresAtMs,
    timeInForce: extras.timeInForce,
    trigger: extras.trigger,
    limit: BigInt(extras.limitTicks),
    closePosition: extras.closePosition,
    selfTrade: extras.selfTrade,
    clientId: extras.clientOrderId,
    cap,
    filled: 0n,
    opened: 0n,
  };
}

/** "maxOrderNotional bounds the sum of its fills", "margin bounds …": of lots that would open. */
export function within(
  extra: Extra | null,
  leverage: bigint,
  lotPrice: bigint,
  closing: bigint,
  wanted: bigint,
): { lots: bigint; reason: number } {
  let lots = wanted;
  let reason: number = END.none;
  if (extra === null) return { lots, reason };
  const lower = (bound: bigint, why: number): void => {
    if (lots <= bound) return;
    lots = bound;
    reason = why;
  };
  if (extra.cap > 0n) {
    const all = floorDiv(max(0n, extra.cap - extra.filled), lotPrice);
    lower(max(closing, all), END.session_order_cap_exceeded);
  }
  if (extra.size > 0n && extra.margin > 0n) {
    const opening = floorDiv(max(0n, extra.margin * leverage - extra.opened), lotPrice);
    lower(closing + opening, END.margin_spent);
  }
  return { lots, reason };
}

/** Counts a fill. Of market orders and stops each fill's margin is rounded up. */
export function countFill(
  extra: Extra | null,
  leverage: bigint,
  notional: bigint,
  opened: bigint,
  rounds: boolean,
): void {
  if (extra === null) return;
  extra.filled += notional;
  extra.opened += rounds ? ceilDiv(opened, leverage) * leverage : opened;
}

/** "Never filled at or after it". */
export function isExpired(state: State, { extra, triggered }: Order): boolean {
  return !triggered && extra !== null && extra.expiresAt !== 0 && state.time >= extra.expiresAt;
}

/** "expiry runs in a tick before liquidations and stops, at most 1,024 a tick", the soonest first. */
export function expireOrders(state: State): void {
  const due: Order[] = [];
  for (const { number } of state.accounts) {
    due.push(...openOrders(accountOf(state, number)).filter((order) => isExpired(state, order)));
  }
  const timeOf = (order: Order): number => order.extra?.expiresAt ?? 0;
  due.sort((a, b) => timeOf(a) - timeOf(b) || a.id - b.id);
  let left = 1_024;
  for (const order of due) {
    if (left === 0) return;
    if (!isOpen(state, order)) continue;
    cancel(state, order, END.expired);
    left -= 1;
  }
}
