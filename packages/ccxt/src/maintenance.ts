/** Maintenance margin: marginal over the tiers, rounded up to a micro-dollar. */

import type { Market } from "@perpgate/sdk";

const MICROS = 1e6;

export function maintenanceOfNotional(tiers: Market["tiers"], notional: number): number {
  let sum = 0;
  let from = 0;
  for (const { notionalUpTo, maintenanceRate } of tiers) {
    if (notional <= from) break;
    sum += (Math.min(notional, notionalUpTo) - from) * maintenanceRate;
    from = notionalUpTo;
  }
  return Math.ceil(Number((sum * MICROS).toFixed(3))) / MICROS;
}
