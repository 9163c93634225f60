/**
 * "PlaceOrder", the table of checks: in its order, the first that fails refuses. Each line names
 * the refusal and carries its details.
 */
import { LIMIT_ORDER, LONG, MARKET_ORDER, type PlaceOrder, STOP_ORDER } from "../../commands.js";
import { MAX_ORDER_NOTIONAL_MICROS, NONCE_WINDOW, PRICE_RANGE_FACTOR } from "../../config.js";
import { bestAgainst, bestAsk, bestBid } from "./book.js";
import { abs, ceilDiv, floorDiv, max, min, num } from "./integers.js";
import { admits, exposure, largest, waiting } from "./limits.js";
import {
  closable,
  isFresh,
  isStopped,
  lotAtMark,
  MILLION,
  positionBound,
  tierOf,
  unitOf,
} from "./margin.js";
import { type Refused, refused } from "./refusal.js";
import { liveSession } from "./sessions.js";
import {
  accountOf,
  type Market,
  type Position,
  positionOf,
  type Session,
  type State,
} from "./state.js";

export interface Replayed {
  readonly replayed: number;
}

export interface Accepted {
  readonly session: Session;
  readonly market: Market;
  readonly position: Position;
  readonly lots: bigint;
}

/** The half-width of the price band in ticks. */
export function bandOf(market: Market): bigint {
  return floorDiv(market.mark * BigInt(market.config.bandPpm), MILLION);
}

export function check(state: State, order: PlaceOrder): Refused | Replayed | Accepted {
  const session = liveSession(state, order.session);
  if ("refusal" in session) return session;
  const known = session.nonces.get(order.nonce);
  if (known !== undefined) return { replayed: known };
  if (session.nonces.size >= NONCE_WINDOW) {
    const lowest = [...session.nonces.keys()].reduce((a, b) => Math.min(a, b));
    if (order.nonce < lowest) return refused("nonce_too_old", lowest);
  }
  if (order.key !== session.key) return refused("session_key_rotated");
  const market = state.markets[order.market];
  if (market === undefined) return refused("unknown_symbol");
  if (market.status === "halted") return refused("market_halted");
  if (isStopped(market)) return refused("market_settled");
  if (session.markets.length > 0 && !session.markets.includes(order.market)) {
    return refused("session_symbol_not_allowed");
  }
  return checkForm(order, market) ?? checkTrading(state, order, session, market);
}

/** Checks of the order alone and against the mark. */
function checkForm(order: PlaceOrder, market: Market): Refused | null {
  const whole =
    Number.isSafeInteger(order.marginMicros) &&
    order.marginMicros >= 1 &&
    Number.isSafeInteger(order.leverage) &&
    order.leverage >= 1 &&
    Number.isSafeInteger(order.nonce) &&
    order.nonce >= 0 &&
    Number.isSafeInteger(order.priceTicks) &&
    order.priceTicks >= 0;
  if (!whole) return refused("invalid_order");
  const most = market.config.tiers[0]?.maxLeverage ?? 0;
  if (order.leverage > most) return refused("leverage_above_maximum", most);
  if (budgetOf(order) > BigInt(MAX_ORDER_NOTIONAL_MICROS)) return refused("notional_limit");
  if (order.priceTicks === 0 && order.type !== MARKET_ORDER) return refused("price_required");
  if (order.postOnly && order.type !== LIMIT_ORDER) return refused("post_only_needs_limit");
  if (market.index === null) return refused("stale_index");
  if (market.held !== null) return refused("index_held", num(market.held.index), num(market.index));

  const price = BigInt(order.priceTicks);
  const { mark } = market;
  const band = bandOf(market);
  const long = order.side === LONG;
  if (order.type === LIMIT_ORDER && (long ? price > mark + band : price < mark - band)) {
    return refused("price_outside_band", num(mark), num(band));
  }
  const factor = BigInt(PRICE_RANGE_FACTOR);
  if (order.type !== MARKET_ORDER && (price < ceilDiv(mark, factor) || price > mark * factor)) {
    return refused("price_too_far", num(mark));
  }
  if (order.type === STOP_ORDER && (long ? mark >= price : mark <= price)) {
    return refused("stop_would_trigger", num(mark));
  }
  return null;
}

export function budgetOf(order: PlaceOrder): bigint {
  return BigInt(order.marginMicros) * BigInt(order.leverage);
}

/** "Sizing": the price that turns money into lots. */
function referencePrice(order: PlaceOrder, market: Market): bigint {
  const price = BigInt(order.priceTicks);
  if (order.type === MARKET_ORDER) return bestAgainst(market, order.side)?.price ?? market.mark;
  if (order.type === LIMIT_ORDER && order.side !== LONG) return max(price, bestBid(market) ?? 0n);
  return price;
}

/** What depends on the account, the book and the session. */
function checkTrading(
  state: State,
  order: PlaceOrder,
  session: Session,
  market: Market,
): Refused | Accepted {
  const account = accountOf(state, session.account);
  const position = positionOf(state, session.account, market.number);
  const capacity = closable(position, order.side);
  if (order.reduceOnly && capacity === 0n) return refused("reduce_only_without_position");

  const reference = referencePrice(order, market) * unitOf(market);
  let lots = floorDiv(budgetOf(order), reference);
  if (order.reduceOnly) lots = min(lots, capacity);
  if (lots < 1n) return refused("size_below_lot");

  if (order.postOnly) {
    const price = BigInt(order.priceTicks);
    const best = order.side === LONG ? bestAsk(market) : bestBid(market);
    if (best !== null && (order.side === LONG ? price >= best : price <= best)) {
      return refused("post_only_would_cross", num(best));
    }
  }
  const opening = max(0n, lots - capacity);
  if (opening > 0n) {
    if (!isFresh(state, market)) return refused("stale_index");
    if (market.status !== "active") return refused("market_reduce_only");
    if (!admits(state, account)) return refused("not_in_cohort");
    const resulting = capacity > 0n ? opening : abs(position.lots) + lots;
    const bound = positionBound(market);
    if (resulting > bound) return refused("position_limit", num(bound));
    const most = tierOf(market, resulting * lotAtMark(market)).maxLeverage;
    if (order.leverage > most) return refused("leverage_above_tier", most);
  }
  const orderCap = session.maxOrderNotional;
  if (orderCap > 0n && lots * reference > orderCap) {
    return refused("session_order_cap_exceeded", num(orderCap));
  }
  const cap = session.maxNotional;
  if (opening > 0n && cap > 0n && exposure(state, account) + opening * reference > cap) {
    return refused("session_notional_cap_exceeded", num(cap));
  }
  const most = state.config.maxOpenOrders;
  if (order.type !== MARKET_ORDER && position.orders.length >= most) {
    return refused("open_order_limit", most);
  }
  if (order.type !== MARKET_ORDER) {
    const added = lots * BigInt(order.priceTicks) * unitOf(market);
    if (waiting(market, position) + added > BigInt(MAX_ORDER_NOTIONAL_MICROS))
      return refused("notional_limit");
  }
  if (order.type !== STOP_ORDER && !order.reduceOnly && capacity === 0n) {
    const pays = (margin: bigint): boolean => {
      const fee = margin * BigInt(order.leverage) * BigInt(market.config.takerFeePpm);
      return account.wallet >= margin + ceilDiv(fee, MILLION);
    };
    if (!pays(BigInt(order.marginMicros))) {
      return refused("insufficient_margin", num(largest(account.wallet, pays)));
    }
  }
  return { session, market, position, lots };
}
