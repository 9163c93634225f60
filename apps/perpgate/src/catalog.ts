/**
 * The configured catalog as the interface shows it.
 *
 * The index comes from the feed. Mark and funding are the venue's to compute, so they are null
 * here rather than guessed.
 */

import { fromSteps, type Market, type MarketDefinition, stepOf } from "@perpgate/protocol";

export function listMarkets(
  definitions: readonly MarketDefinition[],
  indexTicks: (symbol: string) => number | undefined,
): readonly Market[] {
  return definitions.map((definition) => {
    const ticks = indexTicks(definition.symbol);
    return {
      symbol: definition.symbol,
      base: definition.base,
      quote: definition.quote,
      maxLeverage: Math.max(...definition.tiers.map((tier) => tier.maxLeverage)),
      tickSize: definition.tickSize,
      lotSize: definition.lotSize,
      markPrice: null,
      indexPrice: ticks === undefined ? null : fromSteps(ticks, stepOf(definition.tickSize)),
      fundingRate: null,
      nextFundingAt: null,
      makerFee: definition.makerFee,
      takerFee: definition.takerFee,
      tiers: definition.tiers,
      status: "active" as const,
    };
  });
}
