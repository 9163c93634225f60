/**
 * "What opens, at placement" and "Funds at placement": how an order is taken apart into lots that
 * close, lots that open immediately and lots that rest, and what each part must pass.
 */
import { LIMIT_ORDER, LONG, MARKET_ORDER, type PlaceOrder, STOP_ORDER } from "../../commands.js";
import { END, END_REASONS } from "../../reasons.js";
import { levels, sideOf } from "./book.js";
import { ceilDiv, floorDiv, max, min, num } from "./integers.js";
import { barred, exposure, largest, leverageLimit } from "./limits.js";
import { lotAtMark, MILLION, netEquityOf, positionBound, tierOf, unitOf } from "./margin.js";
import { type Refused, refused } from "./refusal.js";
import { accountOf, type Market, type Position, type Session, type State } from "./state.js";
import { isImmediate } from "./terms.js";

export interface Parts {
  /** Judged at placement. */
  readonly opening: bigint;
  /** Whether the order closes anything. */
  readonly closes: boolean;
  /** Limit orders: lots that would open immediately, and lots that would rest without closing. */
  openNow(lots: bigint): bigint;
  openRest(lots: bigint): bigint;
  readonly lots: bigint;
}

export function budgetOf(order: PlaceOrder): bigint {
  return BigInt(order.marginMicros) * BigInt(order.leverage);
}

/** Closing capacity of the order's side that its account's resting orders have left. */
export function freeCapacity(position: Position, side: number, capacity: bigint): bigint {
  let free = capacity;
  for (const order of position.orders) {
    if (order.resting && order.side === side) free -= order.closing;
  }
  return free;
}

/** Levels that are looked at. */
const LEVELS = 2_000;

/** What the book shows at the order's price or better, in the first 2,000 levels. */
export function shown(market: Market, order: Pick<PlaceOrder, "side" | "priceTicks">): bigint {
  const price = BigInt(order.priceTicks);
  let lots = 0n;
  let count = 0;
  for (const level of levels(sideOf(market, order.side === LONG ? -1 : LONG))) {
    if (order.side === LONG ? level.price > price : level.price < price) break;
    if (count === LEVELS) break;
    lots += level.lots;
    count += 1;
  }
  return lots;
}

export function partsOf(
  market: Market,
  position: Position,
  order: Pick<PlaceOrder, "side" | "type" | "priceTicks" | "reduceOnly" | "extras">,
  capacity: bigint,
  lots: bigint,
): Parts {
  const none = { openNow: () => 0n, openRest: () => 0n, lots };
  if (capacity === 0n) return { ...none, opening: lots, closes: false };
  if (order.reduceOnly || isImmediate(order)) {
    return { ...none, opening: 0n, closes: true };
  }
  if (order.type === STOP_ORDER) {
    return { ...none, opening: max(0n, lots - capacity), closes: true };
  }
  const free = freeCapacity(position, order.side, capacity);
  const book = shown(market, order);
  const openNow = (wanted: bigint): bigint => max(0n, min(book, wanted) - capacity);
  const openRest = (wanted: bigint): bigint => max(0n, wanted - max(free, min(book, wanted)));
  const rest = openRest(lots);
  const opening = rest > 0n ? openNow(lots) + rest : 0n;
  return { opening, closes: free > 0n || book > 0n, openNow, openRest, lots };
}

/** The checks of what opens; `resulting` lots of position, `added` money of exposure. */
export function checkOpening(
  state: State,
  session: Pick<Session, "account" | "maxNotional">,
  market: Market,
  order: { readonly leverage: number },
  resulting: bigint,
  added: bigint,
): Refused | null {
  const account = accountOf(state, session.account);
  const bar = barred(state, account, market, true);
  if (bar === END.stale_index) return refused("stale_index");
  if (bar === END.market_reduce_only) return refused("market_reduce_only");
  if (bar === END.not_in_cohort) return refused("not_in_cohort");
  const bound = positionBound(market);
  if (resulting > bound) return refused("position_limit", num(bound));
  const most = tierOf(market, resulting * lotAtMark(market)).maxLeverage;
  if (order.leverage > most) return refused("leverage_above_tier", most);
  const limit = leverageLimit(state, market);
  if (limit !== null && BigInt(order.leverage) > limit) {
    return refused("leverage_limited", num(limit));
  }
  const cap = session.maxNotional;
  if (cap > 0n && exposure(state, account) + added > cap) {
    return refused("session_notional_cap_exceeded", num(cap));
  }
  return null;
}

/** The end reason of the same name. */
export function reasonOf(refusal: Refused): number {
  const names: readonly string[] = END_REASONS;
  const reason = names.indexOf(refusal.refusal);
  if (reason < 0) throw new Error(`${refusal.refusal} ends no order`);
  return reason;
}

export function checkFunds(
  state: State,
  order: PlaceOrder,
  market: Market,
  position: Position,
  capacity: bigint,
  parts: Parts,
  reference: bigint,
): Refused | null {
  if (order.reduceOnly) return null;
  const { wallet } = accountOf(state, position.account);
  const leverage = BigInt(order.leverage);
  const sized = (order.extras?.sizeLots ?? 0) > 0;
  const sent = BigInt(order.marginMicros);
  if (sized && sent > 0n && order.type !== MARKET_ORDER) {
    const rests = order.type === LIMIT_ORDER && !isImmediate(order) && capacity > 0n;
    const opens = rests
      ? parts.openNow(parts.lots) + parts.openRest(parts.lots)
      : max(0n, parts.lots - capacity);
    const needed = ceilDiv(opens * reference, leverage);
    if (needed > sent) return refused("margin_too_small", num(needed));
  }
  if (order.type === STOP_ORDER) return null;
  const short = (margin: bigint): Refused => {
    const lots = sized ? floorDiv(margin * leverage, reference) : 0n;
    return refused("insufficient_margin", num(margin), num(lots));
  };
  const { takerFeePpm, makerFeePpm } = market.config;
  const feeOf = (notional: bigint, ppm: number): bigint => ceilDiv(notional * BigInt(ppm), MILLION);
  if (!parts.closes) {
    const pays = (margin: bigint): boolean =>
      wallet >= margin + feeOf(margin * leverage, takerFeePpm);
    if (!sized) return pays(sent) ? null : short(largest(wallet, pays));
    // "With both, margin bounds" what a market order may come to.
    const whole = parts.lots * reference;
    const bounded = order.type === MARKET_ORDER && sent > 0n;
    const notional = bounded ? min(whole, sent * leverage) : whole;
    const enough = wallet >= ceilDiv(notional, leverage) + feeOf(notional, takerFeePpm);
    return enough ? null : short(largest(wallet, pays));
  }
  if (isImmediate(order)) return null;
  const cost = (notional: bigint, ppm: number): bigint =>
    ceilDiv(notional, leverage) + feeOf(notional, ppm);
  const released = netEquityOf(market, position) - feeOf(capacity * lotAtMark(market), takerFeePpm);
  const paysFor = (lots: bigint): boolean => {
    const price = BigInt(order.priceTicks) * unitOf(market);
    const resting = cost(parts.openRest(lots) * price, makerFeePpm);
    if (resting > wallet) return false;
    const now = parts.openNow(lots);
    return now === 0n || resting + cost(now * reference, takerFeePpm) <= wallet + max(0n, released);
  };
  if (paysFor(parts.lots)) return null;
  const asked = sized ? ceilDiv(parts.lots * reference, leverage) : sent;
  return short(largest(asked - 1n, (margin) => paysFor(floorDiv(margin * leverage, reference))));
}
