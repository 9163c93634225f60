/**
 * "PlaceOrder": the parts of the checks that need more than a line: cohort, exposure, largest margin.
 */
import { abs } from "./integers.js";
import { lotAtMark, unitOf } from "./margin.js";
import { openingLots } from "./settle.js";
import { type Account, type Market, marketOf, type Position, type State } from "./state.js";

/** "SetCohort": whom the stage admits. */
export function admits(state: State, account: Account): boolean {
  if (state.cohort === "open") return true;
  return state.cohort === "allowlist" && state.allowed.has(account.address);
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
