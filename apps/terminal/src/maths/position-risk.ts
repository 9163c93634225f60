/** How close a position is to its liquidation. */

import type { Holding } from "@perpgate/protocol/core";
import type { MarketInUnits } from "./market-units.js";
import { liquidationTicks } from "./position-maths.js";

export interface Risk {
  /** Maintenance margin over equity: liquidated at 1. */
  readonly ratio: number;
  /** How far the mark is from the liquidation price, as a share of the mark; null if there is none. */
  readonly distance: number | null;
  readonly level: RiskLevel;
}

export type RiskLevel = "low" | "raised" | "high";

const RAISED = 0.6;
const HIGH = 0.8;

export function riskOf(units: MarketInUnits, held: Holding, markTicks: number): Risk | undefined {
  if (held.lots === 0 || markTicks <= 0) return undefined;
  const value = held.lots * markTicks * units.unit;
  const equity = held.marginMicros + value - held.costMicros;
  const ratio = ratioOf(units.maintenance.of(Math.abs(value)), equity);
  const liquidation = liquidationTicks(units, held);
  return {
    ratio,
    distance: liquidation === null ? null : (liquidation - markTicks) / markTicks,
    level: levelOf(ratio),
  };
}

export function ratioOf(maintenance: number, equity: number): number {
  return equity > 0 ? maintenance / equity : 1;
}

export function levelOf(ratio: number): RiskLevel {
  if (ratio >= HIGH) return "high";
  return ratio >= RAISED ? "raised" : "low";
}

/** The CSS class of a figure that says how close. */
export const RISK_TONES: Readonly<Record<RiskLevel, string>> = {
  low: "",
  raised: "warn-text",
  high: "short",
};
