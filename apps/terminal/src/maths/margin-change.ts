/** Moving margin into a position and out of it (docs/engine.md, "ChangeMargin"). */

import { divCeil, type Holding } from "@perpgate/protocol/core";
import type { MarketInUnits } from "./market-units.js";
import { maintenanceMicros } from "./position-maths.js";

/** The most that can be taken out of a position, in micros. */
export function largestRemoval(units: MarketInUnits, held: Holding, markTicks: number): number {
  const value = held.lots * markTicks * units.unit;
  const notional = Math.abs(value);
  const tier = units.tiers.find(({ upToMicros }) => notional <= upToMicros) ?? units.tiers.at(-1);
  const initial = divCeil(notional, tier?.maxLeverage ?? 1);
  const backing = held.marginMicros + Math.min(0, value - held.costMicros);
  const kept = Math.max(initial, maintenanceMicros(units, notional) + 1);
  return Math.max(0, Math.min(held.marginMicros, backing - kept));
}
