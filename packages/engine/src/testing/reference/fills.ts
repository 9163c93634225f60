/**
 * "Fills": how many lots an account can fill, and what a fill does to it. Both read the closing
 * part from one function, so that what was promised is what is booked.
 */
import { LONG, type Side } from "../../commands.js";
import { END } from "../../reasons.js";
import { touch } from "./end-events.js";
import { abs, ceilDiv, floorDiv, max, min } from "./integers.js";
import { barred, heldElsewhere, leverageLimit } from "./limits.js";
import {
  closable,
  equityOf,
  lotAtMark,
  MILLION,
  maintenanceOf,
  notionalBound,
  unitOf,
} from "./margin.js";
import { type Account, accountOf, type Market, type Position, type State } from "./state.js";

export interface Terms {
  readonly side: Side;
  readonly price: bigint;
  readonly feePpm: bigint;
  readonly leverage: bigint;
  /** The order's maxNotional; 0: none. */
  readonly cap: bigint;
  readonly taker: boolean;
}

export interface Fillable {
  readonly lots: bigint;
  readonly reason: number;
}

export interface Closing {
  readonly released: bigint;
  readonly removed: bigint;
  readonly pnl: bigint;
}

/** "fillable", step 2: what closing `lots` of a position at `price` releases, removes and earns. */
export function closingPart(
  market: Market,
  position: { lots: bigint; cost: bigint; margin: bigint },
  lots: bigint,
  price: bigint,
): Closing {
  if (lots === 0n) return { released: 0n, removed: 0n, pnl: 0n };
  const held = abs(position.lots);
  const released = floorDiv(position.margin * lots, held);
  const worth = lots * price * unitOf(market);
  if (position.lots > 0n) {
    const removed = ceilDiv(position.cost * lots, held);
    return { released, removed, pnl: worth - removed };
  }
  const removed = floorDiv(abs(position.cost) * lots, held);
  return { released, removed, pnl: removed - worth };
}

function feeOn(market: Market, terms: Terms, lots: bigint): bigint {
  return ceilDiv(lots * terms.price * unitOf(market) * terms.feePpm, MILLION);
}

/** What an opening part adds to the position's margin: ⌈o·p·u/leverage⌉ + max(0, loss). */
function openingMargin(market: Market, terms: Terms, lots: bigint): bigint {
  const unit = unitOf(market);
  const loss = BigInt(terms.side) * (terms.price - market.mark) * lots * unit;
  return ceilDiv(lots * terms.price * unit, terms.leverage) + max(0n, loss);
}

export function fillable(
  state: State,
  account: Account,
  market: Market,
  position: Position,
  terms: Terms,
  wanted: bigint,
  extra: bigint,
): Fillable {
  // 1. The closing and the opening part.
  const c = min(wanted, closable(position, terms.side));
  let o = wanted - c;
  let reason: number = END.none;
  // 2. No voluntary fill is worse than bankruptcy including the fee.
  const closing = closingPart(market, position, c, terms.price);
  const closingFee = c > 0n ? feeOn(market, terms, c) : 0n;
  if (c > 0n && closing.released + closing.pnl < closingFee) {
    return { lots: 0n, reason: END.bankruptcy };
  }
  // 3. What may open.
  if (o > 0n) {
    const lower = (bound: bigint, why: number): void => {
      const most = max(0n, bound);
      if (o <= most) return;
      o = most;
      reason = why;
    };
    const sameSide = c > 0n ? 0n : abs(position.lots);
    const bar = barred(state, account, market, terms.taker);
    if (bar !== END.none) lower(0n, bar);
    const limit = leverageLimit(state, market);
    if (limit !== null && terms.leverage > limit) lower(0n, END.leverage_limited);
    const most = notionalBound(market, terms.leverage);
    const isTop = most === BigInt(market.config.tiers.at(-1)?.upToMicros ?? 0);
    lower(
      floorDiv(most, lotAtMark(market)) - sameSide,
      isTop ? END.position_limit : END.leverage_above_tier,
    );
    if (terms.cap > 0n) {
      const left = max(0n, terms.cap - heldElsewhere(state, account, market));
      lower(floorDiv(left, lotAtMark(market)) - sameSide, END.session_notional_cap_exceeded);
    }
  }
  // 4. The money, and equity above maintenance.
  const funds = account.wallet + extra + closing.released + closing.pnl - closingFee;
  const ok = (opening: bigint): boolean => {
    const margin = openingMargin(market, terms, opening);
    if (margin + feeOn(market, terms, opening) > funds) return false;
    const side = BigInt(terms.side);
    const kept = c > 0n ? { lots: 0n, cost: 0n, margin: 0n } : position;
    const after = {
      lots: kept.lots + side * opening,
      cost: kept.cost + side * opening * terms.price * unitOf(market),
      margin: kept.margin + margin,
    };
    return equityOf(market, after) > maintenanceOf(market, after.lots);
  };
  // 5. The bisection is part of the rule: ok need not be monotone.
  if (o > 0n && !ok(o)) {
    let low = 0n;
    let high = o;
    while (high - low > 1n) {
      const middle = low + (high - low) / 2n;
      if (ok(middle)) low = middle;
      else high = middle;
    }
    o = low;
    reason = END.unfunded;
  }
  // 6.
  return { lots: c + o, reason };
}

export interface Booked {
  readonly fee: bigint;
  readonly pnl: bigint;
}

/** "Applying a fill to an account": closing part first. */
export function applyFill(
  state: State,
  market: Market,
  position: Position,
  terms: Terms,
  lots: bigint,
): Booked {
  touch(state, position);
  const account = accountOf(state, position.account);
  const c = min(lots, closable(position, terms.side));
  const o = lots - c;
  const closing = closingPart(market, position, c, terms.price);
  const closingFee = c > 0n ? feeOn(market, terms, c) : 0n;
  reduce(position, closing, c);
  position.margin -= closing.released;
  account.wallet += closing.released + closing.pnl - closingFee;

  const side = BigInt(terms.side);
  const margin = o > 0n ? openingMargin(market, terms, o) : 0n;
  const openingFee = o > 0n ? feeOn(market, terms, o) : 0n;
  position.margin += margin;
  position.cost += side * o * terms.price * unitOf(market);
  position.lots += side * o;
  account.wallet -= margin + openingFee;

  state.fees += closingFee + openingFee;
  return { fee: closingFee + openingFee, pnl: closing.pnl };
}

/** cost and lots shrink toward 0, realized grows; margin is the caller's business. */
export function reduce(position: Position, closing: Closing, lots: bigint): void {
  const side = position.lots > 0n ? 1n : -1n;
  position.cost -= side * closing.removed;
  position.lots -= side * lots;
  position.realized += closing.pnl;
}

/** The side that a fill must take to reduce these lots. */
export function reducingSide(lots: bigint): Side {
  return lots > 0n ? -1 : LONG;
}
