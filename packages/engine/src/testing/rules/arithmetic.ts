/** Own integer arithmetic of the checks: exact, and not that of the engine. */
import type { MarketConfig } from "../../config.js";

export function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

export function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function floorDiv(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by !== 0n && value < 0n !== by < 0n ? quotient - 1n : quotient;
}

export function ceilDiv(value: bigint, by: bigint): bigint {
  return -floorDiv(-value, by);
}

const PPM = 1_000_000n;

/** "Maintenance is marginal over the tiers …, at mark, rounded up." */
export function maintenanceOf(config: MarketConfig, notional: bigint): bigint {
  let lower = 0n;
  let sum = 0n;
  for (const tier of config.tiers) {
    const upper = min(notional, BigInt(tier.upToMicros));
    if (upper > lower) sum += (upper - lower) * BigInt(tier.maintenancePpm);
    lower = BigInt(tier.upToMicros);
  }
  const top = config.tiers[config.tiers.length - 1]!;
  if (notional > lower) sum += (notional - lower) * BigInt(top.maintenancePpm);
  return ceilDiv(sum, PPM);
}

/** The leverage of the tier that holds the notional; 0 beyond the top tier. */
export function tierLeverage(config: MarketConfig, notional: bigint): number {
  for (const tier of config.tiers) {
    if (notional <= BigInt(tier.upToMicros)) return tier.maxLeverage;
  }
  return 0;
}

export function topTier(config: MarketConfig): bigint {
  return BigInt(config.tiers[config.tiers.length - 1]!.upToMicros);
}
