/**
 * A market in the integers that the venue counts in: ticks, lots, micros, parts per million.
 *
 * The page computes previews with the venue's own arithmetic, so that what it shows before an order
 * is what the order does, to the micro where nothing moves in between.
 */

import type { Market } from "@perpgate/protocol";
import { microsPerTickLot, type Step, stepOf, toMicrosFloor } from "@perpgate/protocol/core";

export const PPM = 1_000_000;

export interface TierUnits {
  readonly upToMicros: number;
  readonly maxLeverage: number;
  readonly maintenancePpm: number;
}

export interface MarketUnits {
  readonly tick: Step;
  readonly lot: Step;
  /** What one lot costs per tick of price. */
  readonly unit: number;
  readonly makerPpm: number;
  readonly takerPpm: number;
  readonly tiers: readonly TierUnits[];
}

type ListedMarket = Pick<Market, "tickSize" | "lotSize" | "makerFee" | "takerFee" | "tiers">;

export function unitsOfMarket(market: ListedMarket): MarketUnits {
  const tick = stepOf(market.tickSize);
  const lot = stepOf(market.lotSize);
  return {
    tick,
    lot,
    unit: microsPerTickLot(tick, lot),
    makerPpm: ppmOf(market.makerFee),
    takerPpm: ppmOf(market.takerFee),
    tiers: market.tiers.map((tier) => ({
      upToMicros: toMicrosFloor(tier.notionalUpTo),
      maxLeverage: tier.maxLeverage,
      maintenancePpm: ppmOf(tier.maintenanceRate),
    })),
  };
}

function ppmOf(fraction: number): number {
  return Math.round(fraction * PPM);
}
