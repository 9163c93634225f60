/**
 * "PlaceOrder": the parts of the checks that need more than a line: cohort, exposure, open
 * interest, largest margin.
 */
import { END } from "../../reasons.js";
import { abs, max } from "./integers.js";
import { isFresh, lotAtMark, unitOf } from "./margin.js";
import { openingLots } from "./settle.js";
import { type Account, type Market, marketOf, type Position, type State } from "./state.js";

/** "SetCohort": whom the stage admits. */
export function admits(state: State, account: Account): boolean {
  if (state.cohort === "open") return true;
  return state.cohort === "allowlist" && state.allowed.has(account.address);
}

/** "What may open": the account and, for what arrives or triggers, the index. */
export function barred(state: State, account: Account, market: Market, taker: boolean): number {
  if (taker && !isFresh(state, market)) return END.stale_index;
  if (market.status !== "active") return END.market_reduce_only;
  return admits(state, account) ? END.none : END.not_in_cohort;
}

/** Σ over the other markets of the account's positions at mark. */
export function heldElsewhere(state: State, account: Account, market: Market): bigint {
  let total = 0n;
  for (const position of account.positions) {
    if (position.market === market.number) continue;
    total += abs(position.lots) * lotAtMark(marketOf(state, position.market));
  }
  return total;
}

/** Lots of all longs, the backstop's included. */
export function openInterest(state: State, market: Market): bigint {
  let total = max(0n, market.backstop.lots);
  for (const account of state.accounts) {
    total += max(0n, account.positions[market.number]?.lots ?? 0n);
  }
  return total;
}

/** Σ over markets of positions at mark, opening resting notional and pending notional. */
export function exposure(state: State, account: Account): bigint {
  let total = 0n;
  for (const position of account.positions) {
    const market = marketOf(state, position.market);
    total += abs(position.lots) * lotAtMark(market) + waiting(market, position);
  }
  return total;
}

/** What the open orders of one position could open. */
export function waiting(market: Market, position: Position): bigint {
  let total = 0n;
  for (const order of position.orders) {
    const lots = order.resting ? openingLots(order) : order.reduceOnly ? 0n : order.remaining;
    total += lots * order.price * unitOf(market);
  }
  return total;
}

/** The largest whole number up to `limit` that passes a test which fails from some point on. */
export function largest(limit: bigint, passes: (value: bigint) => boolean): bigint {
  let low = 0n;
  let high = limit + 1n;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (passes(middle)) low = middle;
    else high = middle;
  }
  return low;
}
