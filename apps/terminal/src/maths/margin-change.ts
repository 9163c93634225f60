/** Moving margin into a position and out of it (docs/engine.md, "ChangeMargin"). */

import { divCeil, type Holding } from "@perpgate/protocol/core";
import type { MarketInUnits } from "./market-units.js";

/** The most that can be taken out of a position, in micros. */
export function largestRemoval(units: MarketInUnits, held: Holding, markTicks: number): number {
  const value = held.lots * markTicks * units.unit;
  const notional = Math.abs(value);
  const initial = divCeil(notional, units.maintenance.tierOf(notional).maxLeverage);
  const backing = held.marginMicros + Math.min(0, value - held.costMicros);
  const kept = Math.max(initial, units.maintenance.of(notional) + 1);
  return Math.max(0, Math.min(held.marginMicros, backing - kept));
}
