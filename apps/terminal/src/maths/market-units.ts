/**
 * A market in the engine's integers: ticks, lots, micros, parts per million. Estimates use the
 * engine's arithmetic and are exact to the micro unless the market moves.
 */

import type { Market } from "@perpgate/protocol";
import {
  MaintenanceSchedule,
  microsPerTickLot,
  PPM,
  type Step,
  stepOf,
} from "@perpgate/protocol/core";

export interface MarketInUnits {
  readonly tick: Step;
  readonly lot: Step;
  /** Micros per tick and lot. */
  readonly unit: number;
  readonly makerPpm: number;
  readonly takerPpm: number;
  readonly maintenance: MaintenanceSchedule;
}

type ListedMarket = Pick<Market, "tickSize" | "lotSize" | "makerFee" | "takerFee" | "tiers">;

export function unitsOfMarket(market: ListedMarket): MarketInUnits {
  const tick = stepOf(market.tickSize);
  const lot = stepOf(market.lotSize);
  return {
    tick,
    lot,
    unit: microsPerTickLot(tick, lot),
    makerPpm: ppmOf(market.makerFee),
    takerPpm: ppmOf(market.takerFee),
    maintenance: MaintenanceSchedule.listed(market.tiers),
  };
}

function ppmOf(fraction: number): number {
  return Math.round(fraction * PPM);
}
