/**
 * "PlaceOrder", the table of checks: in its order, the first that fails refuses. Each line names
 * the refusal and carries its details.
 */
import {
  type BatchPlace,
  LIMIT_ORDER,
  LONG,
  MARKET_ORDER,
  type PlaceOrder,
  type Side,
  STOP_ORDER,
  STOP_TRIGGER,
} from "../../commands.js";
import { MAX_ORDER_NOTIONAL_MICROS, NONCE_WINDOW, PRICE_RANGE_FACTOR } from "../../config.js";
import { bestAgainst, bestAsk, bestBid } from "./book.js";
import { areMisshapen, checkExits, exitCount } from "./exits.js";
import { abs, ceilDiv, floorDiv, max, min, num } from "./integers.js";
import { held, waiting } from "./limits.js";
import { closable, isStopped, MILLION, netEquityOf, unitOf } from "./margin.js";
import { openOrders } from "./open-orders.js";
import { budgetOf, checkFunds, checkOpening, partsOf } from "./opening.js";
import { type Refused, refused } from "./refusal.js";
import { liveSession } from "./sessions.js";
import { hasToClose } from "./settle.js";
import {
  accountOf,
  type Market,
  type Position,
  positionOf,
  rulesOf,
  type Session,
  type State,
} from "./state.js";
import { checkTerms, fillCap, isImmediate, isMisshapen } from "./terms.js";
import { beginWork } from "./work.js";

interface Signed {
  readonly session: number;
  readonly nonce: number;
  readonly key: string;
  readonly batch?: BatchPlace | undefined;
}

export interface Replayed {
  readonly replayed: number;
}

export interface Accepted {
  readonly session: Session;
  readonly market: Market;
  readonly position: Position;
  readonly lots: bigint;
  /** What the sum of its fills may come to; 0: no bound. */
  readonly orderCap: bigint;
}

/** The half-width of the price band in ticks. */
export function bandOf(market: Market): bigint {
  return floorDiv(market.mark * BigInt(market.config.bandPpm), MILLION);
}

/** Session, nonce and key of a signed command, or of an operation of a signed batch. */
export function checkSigned(state: State, command: Signed): Refused | Replayed | Session {
  const session = liveSession(state, command.session);
  if ("refusal" in session) return session;
  const { batch } = command;
  if (batch !== undefined && !joins(state, command, batch)) return refused("invalid_command");
  const known = session.nonces.get(command.nonce);
  // An earlier operation of the same batch has used the nonce.
  const isOwn = batch !== undefined && known === state.position - batch.index;
  if (known !== undefined && !isOwn) return { replayed: known };
  if (session.nonces.size >= NONCE_WINDOW) {
    const lowest = [...session.nonces.keys()].reduce((a, b) => Math.min(a, b));
    if (command.nonce < lowest) return refused("nonce_too_old", lowest);
  }
  return command.key === session.key ? session : refused("session_key_rotated");
}

/** "An operation that claims a batch whose beginning was not just before it is refused." */
function joins(state: State, { session, key, nonce }: Signed, place: BatchPlace): boolean {
  const { index, count } = place;
  if (place.key !== key || place.nonce !== nonce || !Number.isSafeInteger(nonce)) return false;
  if (nonce < 0) return false;
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(count)) return false;
  if (index < 0 || index >= count || count > 50) return false;
  const { position } = state;
  if (index === 0) {
    const { limit: unitsLeft } = state.work;
    state.batch = { first: position, last: position, session, nonce, count, unitsLeft };
    return true;
  }
  const { batch } = state;
  if (batch === null || batch.last !== position - 1 || batch.first !== position - index)
    return false;
  if (batch.session !== session || batch.nonce !== nonce || batch.count !== count) return false;
  batch.last = position;
  beginWork(state, batch.unitsLeft);
  return true;
}

export function check(state: State, order: PlaceOrder): Refused | Replayed | Accepted {
  const session = checkSigned(state, order);
  if ("refusal" in session || "replayed" in session) return session;
  const until = order.extras?.validUntilMs ?? 0;
  if (until !== 0 && state.time > until) return refused("too_late", state.time);
  const market = state.markets[order.market];
  if (market === undefined) return refused("unknown_symbol");
  if (market.status === "halted") return refused("market_halted");
  if (isStopped(market)) return refused("market_settled");
  if (session.markets.length > 0 && !session.markets.includes(order.market)) {
    return refused("session_symbol_not_allowed");
  }
  return checkForm(state, session, order, market) ?? checkTrading(state, order, session, market);
}

/** Checks of the order alone and against the mark. */
function checkForm(
  state: State,
  session: Session,
  order: PlaceOrder,
  market: Market,
): Refused | null {
  const { extras } = order;
  // "margin may be left out", "margin, leverage … are ignored".
  const isSized = extras !== undefined && (extras.sizeLots > 0 || extras.closePosition);
  const whole =
    Number.isSafeInteger(order.marginMicros) &&
    order.marginMicros >= (isSized ? 0 : 1) &&
    Number.isSafeInteger(order.leverage) &&
    order.leverage >= 1 &&
    Number.isSafeInteger(order.nonce) &&
    order.nonce >= 0 &&
    Number.isSafeInteger(order.priceTicks) &&
    order.priceTicks >= 0;
  if (!whole || (extras !== undefined && isMisshapen(order, extras))) {
    return refused("invalid_order");
  }
  if (order.exits !== undefined) {
    if (!rulesOf(state).exitsAreKnown || areMisshapen(order, order.exits)) {
      return refused("invalid_order");
    }
  }
  const most = market.config.tiers[0]?.maxLeverage ?? 0;
  if (order.leverage > most) return refused("leverage_above_maximum", most);
  if (budgetOf(order) > BigInt(MAX_ORDER_NOTIONAL_MICROS)) return refused("notional_limit");
  if (order.priceTicks === 0 && order.type !== MARKET_ORDER) return refused("price_required");
  if (order.postOnly && order.type !== LIMIT_ORDER) return refused("post_only_needs_limit");
  if (extras !== undefined) {
    const faulty = checkTerms(state, accountOf(state, session.account), extras);
    if (faulty !== null) return faulty;
  }
  if (market.index === null) return refused("stale_index");
  const waits = held(state, market);
  if (waits !== null) return waits;

  return checkPrice(order, market) ?? checkExits(order, market);
}

/** The price against the mark. */
export function checkPrice(
  order: Pick<PlaceOrder, "side" | "type" | "priceTicks"> & {
    readonly extras?: {
      readonly trigger: number;
      readonly limitTicks: number;
      /** Of an exit that covers nothing, which no mark reaches. */
      readonly isIdle?: boolean;
    };
  },
  market: Market,
): Refused | null {
  const { extras } = order;
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
  if (order.type === STOP_ORDER) {
    const trigger = extras?.trigger ?? STOP_TRIGGER;
    if (extras?.isIdle !== true && isBeyond(mark, order.side, trigger, price)) {
      return refused("stop_would_trigger", num(mark));
    }
    const limit = BigInt(extras?.limitTicks ?? 0);
    const reach = floorDiv(price * BigInt(market.config.bandPpm), MILLION);
    if (limit > 0n && (limit < price - reach || limit > price + reach)) {
      return refused("limit_price_outside_band", num(price - reach), num(price + reach));
    }
  }
  return null;
}

/** Whether a mark is where a stop of that price triggers. */
export function isBeyond(mark: bigint, side: Side, trigger: number, price: bigint): boolean {
  const rises = trigger === STOP_TRIGGER ? side === LONG : side !== LONG;
  return rises ? mark >= price : mark <= price;
}

/** "Sizing": the price that turns money into lots. */
export function referencePrice(
  order: Pick<PlaceOrder, "side" | "type" | "priceTicks">,
  market: Market,
): bigint {
  const price = BigInt(order.priceTicks);
  if (order.type === MARKET_ORDER) return bestAgainst(market, order.side)?.price ?? market.mark;
  if (order.type === LIMIT_ORDER && order.side !== LONG) return max(price, bestBid(market) ?? 0n);
  return price;
}

export function checkPost(
  order: Pick<PlaceOrder, "side" | "priceTicks">,
  market: Market,
): Refused | null {
  const price = BigInt(order.priceTicks);
  const best = order.side === LONG ? bestAsk(market) : bestBid(market);
  const crosses = best !== null && (order.side === LONG ? price >= best : price <= best);
  return crosses ? refused("post_only_would_cross", num(best)) : null;
}

/** What depends on the account, the book and the session. */
function checkTrading(
  state: State,
  order: PlaceOrder,
  session: Session,
  market: Market,
): Refused | Accepted {
  const position = positionOf(state, session.account, market.number);
  const capacity = closable(position, order.side);
  const most = state.config.maxOpenOrders;
  if (order.extras?.closePosition === true) {
    const { trigger } = order.extras;
    if (!hasToClose(state, position, order.side)) return refused("reduce_only_without_position");
    const other = position.orders.find(
      ({ side, extra }) => extra?.closePosition && side === order.side && extra.trigger === trigger,
    );
    if (other !== undefined) return refused("close_position_in_use", other.id);
    if (position.orders.length >= most) return refused("open_order_limit", most);
    return { session, market, position, lots: 0n, orderCap: 0n };
  }
  if (order.reduceOnly && capacity === 0n) return refused("reduce_only_without_position");

  const reference = referencePrice(order, market) * unitOf(market);
  const size = BigInt(order.extras?.sizeLots ?? 0);
  let lots = size > 0n ? size : floorDiv(budgetOf(order), reference);
  if (order.reduceOnly) lots = min(lots, capacity);
  if (lots < 1n) return refused("size_below_lot");
  const notional = size > 0n ? lots * reference : budgetOf(order);
  if (notional > BigInt(MAX_ORDER_NOTIONAL_MICROS)) return refused("notional_limit");
  const least = market.config.minNotionalMicros;
  const isMarketExit = order.type === MARKET_ORDER && size === 0n && capacity > 0n;
  if (notional < BigInt(least) && lots > capacity && !isMarketExit) {
    return refused("notional_too_small", least);
  }

  const posted = order.postOnly ? checkPost(order, market) : null;
  if (posted !== null) return posted;
  const orderCap = session.maxOrderNotional;
  const whole = order.type === MARKET_ORDER && !order.reduceOnly ? notional : lots * reference;
  if (orderCap > 0n && lots > capacity && whole > orderCap) {
    return refused("session_order_cap_exceeded", num(orderCap));
  }
  const parts = partsOf(market, position, order, capacity, lots);
  if (parts.opening > 0n) {
    const resulting = capacity > 0n ? parts.opening : abs(position.lots) + lots;
    const faulty = checkOpening(
      state,
      session,
      market,
      order,
      resulting,
      parts.opening * reference,
    );
    if (faulty !== null) return faulty;
  }
  // "two free places more", or one more for one exit.
  const places = (isImmediate(order) ? 0 : 1) + exitCount(order);
  if (places > 0 && position.orders.length + places > most) {
    return refused("open_order_limit", most);
  }
  const allowed = placesOf(state, session.account);
  const open = openOrders(accountOf(state, session.account)).length;
  if (places > 0 && allowed !== null && open + places > allowed) {
    return refused("too_many_orders", allowed, open);
  }
  if (!isImmediate(order)) {
    const added = lots * BigInt(order.priceTicks) * unitOf(market);
    if (waiting(market, position) + added > BigInt(MAX_ORDER_NOTIONAL_MICROS))
      return refused("notional_limit");
  }
  const funds = checkFunds(state, order, market, position, capacity, parts, reference);
  const bound = fillCap(orderCap, size, order.reduceOnly, whole);
  return funds ?? { session, market, position, lots, orderCap: bound };
}

/** "20 + equity / 10 dollars"; null in version 2. */
function placesOf(state: State, account: number): number | null {
  if (!rulesOf(state).ordersNeedEquity) return null;
  const { wallet } = accountOf(state, account);
  let equity = wallet;
  for (const market of state.markets) {
    const position = positionOf(state, account, market.number);
    equity += position.orders.reduce((sum, { reserve }) => sum + reserve, 0n);
    equity += netEquityOf(market, position);
  }
  return 20 + (equity > 0n ? Number(equity / 10_000_000n) : 0);
}
