/**
 * "PlaceOrder": the parts of the checks that need more than a line: cohort, exposure, open
 * interest, largest margin.
 */
import { END } from "../../reasons.js";
import { fundWorth } from "./fund-budget.js";
import { abs, floorDiv, max, num } from "./integers.js";
import { isFresh, lotAtMark, MILLION, unitOf } from "./margin.js";
import { type Refused, refused } from "./refusal.js";
import { openingLots } from "./settle.js";
import {
  type Account,
  type Market,
  marketOf,
  type Position,
  rulesOf,
  type State,
} from "./state.js";

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

/** "Leverage": the largest at which lots may open now; null if only the tiers decide. */
export function leverageLimit(state: State, market: Market): bigint | null {
  if (!rulesOf(state).leverageIsLimited) return null;
  const bound = floorDiv(BigInt(market.config.maxOpenInterestMicros) * 8n, 10n);
  if (openInterest(state, market) * lotAtMark(market) > bound) return 5n;
  let steep = 0n;
  for (const each of state.markets) {
    let [longs, shorts] = [0n, 0n];
    for (const account of state.accounts) {
      const position = account.positions[each.number];
      if (position === undefined || abs(position.cost) <= 10n * position.margin) continue;
      longs += max(0n, position.lots);
      shorts += max(0n, -position.lots);
    }
    steep += max(longs, shorts) * lotAtMark(each);
  }
  return steep > 20n * fundWorth(state) ? 10n : null;
}

/** "Jumps": whether no liquidation of a jump can be waiting. */
export function isSettled(state: State, market: Market): boolean {
  const settled = market.settledMark;
  if (!rulesOf(state).jumpsAreSettled || settled === null) return true;
  const lowest = BigInt(market.config.tiers[0]?.maintenancePpm ?? 0);
  return abs(market.mark - settled) * MILLION <= settled * lowest;
}

/** Why nothing may trade but what a tick does itself; null if orders may. */
export function held(state: State, market: Market): Refused | null {
  const index = num(market.index ?? 0n);
  if (market.held !== null) return refused("index_held", num(market.held.index), index);
  if (isSettled(state, market)) return null;
  return refused("index_held", index, num(market.settledMark ?? 0n));
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
    const opensNothing = order.reduceOnly || order.extra?.closePosition === true;
    const lots = order.resting ? openingLots(order) : opensNothing ? 0n : order.remaining;
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
