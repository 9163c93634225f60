/**
 * Maintenance margin and the mark at which a position is liquidated (docs/engine.md, "Account,
 * position, order"): maintenance is marginal over the tiers, and the answer is the first whole
 * tick, from the safe side, at which margin + unrealised PnL ≤ maintenance.
 */

import { mulDivCeil } from "@perpgate/protocol/integers";
import { type MarketUnits, PPM } from "./market-units.js";
import type { Holding } from "./position-maths.js";

/** What a position of that notional must keep, in micros, rounded up once. */
export function maintenanceOf(market: MarketUnits, notionalMicros: number): number {
  let kept = 0;
  let lower = 0;
  const last = market.tiers.length - 1;
  for (const [index, tier] of market.tiers.entries()) {
    const isLast = index === last || notionalMicros <= tier.upToMicros;
    const part = (isLast ? notionalMicros : tier.upToMicros) - lower;
    // Whole tiers come to whole micros, so only the last part is rounded.
    kept += mulDivCeil(part, tier.maintenancePpm, PPM);
    if (isLast) break;
    lower = tier.upToMicros;
  }
  return kept;
}

/** In ticks, or null where no mark of at least one tick would do it. */
export function liquidationTicks(market: MarketUnits, held: Holding): number | null {
  const { lots, costMicros, marginMicros } = held;
  if (lots === 0) return null;
  const isDue = (ticks: number): boolean => {
    const value = lots * ticks * market.unit;
    return marginMicros + value - costMicros <= maintenanceOf(market, Math.abs(value));
  };
  return lots > 0 ? highestDue(isDue, costMicros / (lots * market.unit)) : lowestDue(isDue);
}

/** Longs: due at every mark up to the answer. */
function highestDue(isDue: (ticks: number) => boolean, entryTicks: number): number | null {
  if (!isDue(1)) return null;
  let due = 1;
  let safe = Math.max(2, Math.ceil(entryTicks));
  while (isDue(safe)) {
    due = safe;
    safe *= 2;
  }
  return between(due, safe, isDue);
}

/** Shorts: due from the answer on. */
function lowestDue(isDue: (ticks: number) => boolean): number {
  let due = 1;
  while (!isDue(due)) due *= 2;
  return between(due, Math.floor(due / 2), isDue);
}

/** The due mark next to the safe ones, between one of each. */
function between(due: number, safe: number, isDue: (ticks: number) => boolean): number {
  let [dueTicks, safeTicks] = [due, safe];
  while (Math.abs(safeTicks - dueTicks) > 1) {
    const middle = Math.floor((dueTicks + safeTicks) / 2);
    if (isDue(middle)) dueTicks = middle;
    else safeTicks = middle;
  }
  return dueTicks;
}
