/** The checks of an amendment: those of placement, as if the order had just been canceled. */
import {
  type AmendOrder,
  LIMIT_ORDER,
  type OrderTypeCode,
  STOP_ORDER,
  STOP_TRIGGER,
} from "../../commands.js";
import { MAX_ORDER_NOTIONAL_MICROS } from "../../config.js";
import { checkPost, checkPrice, referencePrice } from "./checks.js";
import { checkSides, isWaitingExit } from "./exits.js";
import { abs, ceilDiv, floorDiv, max, min, num } from "./integers.js";
import { held, largest, waiting } from "./limits.js";
import { closable, lotAtMark, MILLION, netEquityOf, unitOf } from "./margin.js";
import { checkOpening, type Parts, partsOf, shown } from "./opening.js";
import { type Refused, refused } from "./refusal.js";
import { reserve } from "./settle.js";
import {
  accountOf,
  type Market,
  type Order,
  positionOf,
  type Session,
  type State,
} from "./state.js";
import { chargeOrders } from "./work.js";

/** An order, and its terms as they would be. */
export interface Amended {
  /** The session that amends. */
  readonly session: Session;
  readonly order: Order;
  readonly price: bigint;
  readonly limit: bigint;
  readonly lots: bigint;
  readonly remaining: bigint;
  readonly keepsPlace: boolean;
  readonly expiresAt: number;
  /** Whether the new size leaves nothing. */
  readonly ends: boolean;
}

export function checkAmended(
  state: State,
  market: Market,
  amended: Amended,
  { expiresAtMs, priceTicks }: AmendOrder,
): Refused | null {
  const { order } = amended;
  const waits = held(state, market);
  if (waits !== null) return waits;
  const [earliest, latest] = [state.time + 1_000, state.time + 90 * 86_400_000];
  if (expiresAtMs > 0 && (expiresAtMs < earliest || expiresAtMs > latest)) {
    return refused("expiry_out_of_range", earliest, latest);
  }
  const priced = pricedOf(amended);
  const trigger = order.extra?.trigger ?? STOP_TRIGGER;
  const isIdle = isWaitingExit(order) && order.remaining === 0n;
  const extras = { trigger, limitTicks: num(amended.limit), isIdle };
  const price = checkPrice({ ...priced, extras }, market);
  if (price !== null) return price;
  const position = positionOf(state, order.account, order.market);
  const sides = priceTicks > 0 ? checkSides(state, position, order, amended.price) : null;
  if (sides !== null || isWaitingExit(order)) return sides;
  // It is as large as the position, and pays for nothing.
  if (order.extra?.closePosition === true) return null;
  return checkSize(state, market, amended);
}

type Priced = ReturnType<typeof pricedOf>;

export function pricedOf({ order, price }: Amended) {
  const type: OrderTypeCode = order.resting ? LIMIT_ORDER : STOP_ORDER;
  const { side, reduceOnly } = order;
  return { side, type, priceTicks: num(price), reduceOnly };
}

function checkSize(state: State, market: Market, amended: Amended): Refused | null {
  const { session, order } = amended;
  const priced = pricedOf(amended);
  const most = market.config.tiers[0]?.maxLeverage ?? 0;
  if (order.leverage > BigInt(most)) return refused("leverage_above_maximum", most);
  const position = positionOf(state, order.account, order.market);
  const capacity = closable(position, order.side);
  const reference = referencePrice(priced, market) * unitOf(market);
  const whole = amended.lots * reference;
  if (whole > BigInt(MAX_ORDER_NOTIONAL_MICROS)) return refused("notional_limit");
  const isExit = order.reduceOnly || amended.remaining <= capacity;
  const least = market.config.minNotionalMicros;
  if (whole < BigInt(least) && !isExit) return refused("notional_too_small", least);
  const posted = order.postOnly ? checkPost(priced, market) : null;
  if (posted !== null) return posted;
  const cap = session.maxOrderNotional;
  if (cap > 0n && !isExit && whole > cap) return refused("session_order_cap_exceeded", num(cap));
  return checkWithout(state, market, amended, priced, reference);
}

/** As if it had been canceled: its reserve is back, its capacity with the orders behind it. */
function checkWithout(
  state: State,
  market: Market,
  amended: Amended,
  priced: Priced,
  reference: bigint,
): Refused | null {
  const { order, remaining } = amended;
  const position = positionOf(state, order.account, order.market);
  const capacity = closable(position, order.side);
  const account = accountOf(state, order.account);
  const { orders } = position;
  const share = order.closing;
  account.wallet += order.reserve;
  position.orders = orders.filter((other) => other !== order);
  if (!amended.keepsPlace) chargeOrders(state, reserve(account, market, position));
  const parts = amended.keepsPlace
    ? keptParts(order, capacity, share, remaining)
    : capacity === 0n
      ? openingParts(shown(market, priced), remaining)
      : partsOf(market, position, priced, capacity, remaining);
  const refusal =
    checkOpened(state, market, amended, parts, reference) ??
    (order.reduceOnly ? null : checkPaid(state, market, amended, parts, reference));
  position.orders = orders;
  account.wallet -= order.reserve;
  reserve(account, market, position);
  return refusal;
}

/** An order that keeps its place keeps its share of the capacity, and crosses nothing. */
function keptParts(order: Order, capacity: bigint, share: bigint, lots: bigint): Parts {
  const opens = (wanted: bigint): bigint =>
    order.resting ? max(0n, wanted - share) : max(0n, wanted - capacity);
  const opening = order.reduceOnly && capacity > 0n ? 0n : opens(lots);
  return { opening, closes: capacity > 0n, openNow: () => 0n, openRest: opens, lots };
}

/** Nothing closes: what the book shows trades immediately, the rest rests. */
function openingParts(book: bigint, lots: bigint): Parts {
  const openNow = (wanted: bigint): bigint => min(book, wanted);
  const openRest = (wanted: bigint): bigint => wanted - openNow(wanted);
  return { opening: lots, closes: false, openNow, openRest, lots };
}

/** What may open, and how much of it an account may have open. */
function checkOpened(
  state: State,
  market: Market,
  { session, order, remaining, price }: Amended,
  parts: Parts,
  reference: bigint,
): Refused | null {
  const position = positionOf(state, order.account, order.market);
  if (parts.opening > 0n) {
    const isFlip = closable(position, order.side) > 0n;
    const resulting = isFlip ? parts.opening : abs(position.lots) + remaining;
    const added = parts.opening * reference;
    const leverage = num(order.leverage);
    const faulty = checkOpening(state, session, market, { leverage }, resulting, added);
    if (faulty !== null) return faulty;
  }
  const own = remaining * price * unitOf(market);
  const isTooMuch = waiting(market, position) + own > BigInt(MAX_ORDER_NOTIONAL_MICROS);
  return isTooMuch ? refused("notional_limit") : null;
}

/** The order's own margin, then the wallet. */
function checkPaid(
  state: State,
  market: Market,
  amended: Amended,
  parts: Parts,
  reference: bigint,
): Refused | null {
  const { order, remaining } = amended;
  const { extra } = order;
  const capacity = closable(positionOf(state, order.account, order.market), order.side);
  if (extra !== null && extra.size > 0n && extra.margin > 0n) {
    const opening =
      order.resting && capacity > 0n
        ? parts.openNow(parts.lots) + parts.openRest(parts.lots)
        : max(0n, remaining - capacity);
    const needed = ceilDiv(extra.opened + opening * reference, order.leverage);
    if (needed > extra.margin) return refused("margin_too_small", num(needed));
  }
  if (!order.resting || amended.keepsPlace) return null;
  return checkMoney(state, market, amended, parts, reference);
}

/** What would rest, and what the book shows within its price, must be paid for. */
function checkMoney(
  state: State,
  market: Market,
  amended: Amended,
  parts: Parts,
  reference: bigint,
): Refused | null {
  const { order } = amended;
  const position = positionOf(state, order.account, order.market);
  const { wallet } = accountOf(state, order.account);
  const { takerFeePpm, makerFeePpm } = market.config;
  const capacity = closable(position, order.side);
  const feeOf = (notional: bigint, ppm: number): bigint => ceilDiv(notional * BigInt(ppm), MILLION);
  const cost = (notional: bigint, ppm: number): bigint =>
    ceilDiv(notional, order.leverage) + feeOf(notional, ppm);
  const released =
    capacity === 0n
      ? 0n
      : max(0n, netEquityOf(market, position) - feeOf(capacity * lotAtMark(market), takerFeePpm));
  const pays = (lots: bigint): boolean => {
    const resting = cost(parts.openRest(lots) * amended.price * unitOf(market), makerFeePpm);
    if (resting > wallet) return false;
    const now = parts.openNow(lots);
    return now === 0n || resting + cost(now * reference, takerFeePpm) <= wallet + released;
  };
  if (pays(amended.remaining)) return null;
  const needed = ceilDiv(amended.remaining * reference, order.leverage);
  const lotsFor = (margin: bigint): bigint => floorDiv(margin * order.leverage, reference);
  const most = largest(needed - 1n, (margin) => pays(lotsFor(margin)));
  return refused("insufficient_margin", num(most), num(lotsFor(most)));
}
