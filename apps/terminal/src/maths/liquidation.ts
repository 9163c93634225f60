/**
 * Maintenance margin, marginal over the tiers, and the mark at which a position is liquidated
 * (docs/engine.md, "Account, position, order").
 */

import { type Holding, liquidationMark, mulDivCeil } from "@perpgate/protocol/core";
import { type MarketUnits, PPM } from "./market-units.js";

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
  return liquidationMark(held, market.unit, (micros) => maintenanceOf(market, micros));
}
