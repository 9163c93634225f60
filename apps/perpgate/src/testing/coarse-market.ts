/** A market unlike the default ones: coarse ticks, small tiers, a constant index. */

import type { MarketDefinition } from "@perpgate/protocol";

export function coarseMarket(base: string): MarketDefinition {
  return {
    symbol: `${base}USD`,
    base,
    quote: "USD",
    tickSize: 0.5,
    lotSize: 0.01,
    makerFee: 0,
    takerFee: 0.001,
    tiers: [{ notionalUpTo: 1_000, maxLeverage: 3, maintenanceRate: 0.1 }],
    index: { startPrice: 12.5, annualVolatility: 0 },
  };
}
