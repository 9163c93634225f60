/**
 * The market catalog: what an operator configures, and the three markets of the local testnet.
 *
 * A definition is checked as a whole before anything trades on it: steps that give whole micros,
 * tiers that tighten, a start index on the tick. `catalogProblem` names the first broken rule.
 */

import { type Static, Type } from "typebox";
import { microsPerTickLot, NotInUnits, stepOf, toSteps } from "../numbers/units.js";
import { MarketSymbol } from "../text/scalar.js";
import { Tier } from "./market.js";

const SimulatedIndex = Type.Object(
  {
    startPrice: Type.Number({ exclusiveMinimum: 0, description: "Dollars, on the tick." }),
    annualVolatility: Type.Number({
      minimum: 0,
      maximum: 10,
      description: "Standard deviation of a year's log return; 0 holds the index still.",
    }),
  },
  { additionalProperties: false },
);

const Asset = Type.String({
  pattern: "^[A-Z0-9]{1,12}$",
  description: "1 to 12 capital letters and digits",
});
const Fee = Type.Number({ minimum: 0, maximum: 0.1 });

export const MarketDefinition = Type.Object(
  {
    symbol: MarketSymbol,
    base: Asset,
    quote: Asset,
    tickSize: Type.Number({ exclusiveMinimum: 0 }),
    lotSize: Type.Number({ exclusiveMinimum: 0 }),
    makerFee: Fee,
    takerFee: Fee,
    tiers: Type.Array(
      Type.Object(
        {
          ...Tier.properties,
          notionalUpTo: Type.Number({ exclusiveMinimum: 0 }),
          maintenanceRate: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 }),
        },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
    index: SimulatedIndex,
  },
  { title: "MarketDefinition", additionalProperties: false },
);
export type MarketDefinition = Static<typeof MarketDefinition>;

/** The first broken rule of the catalog and where it is broken; undefined for a valid catalog. */
export function catalogProblem(markets: readonly MarketDefinition[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, market] of markets.entries()) {
    const problem = seen.has(market.symbol)
      ? `symbol: ${market.symbol} is listed twice`
      : marketProblem(market);
    if (problem !== undefined) return `markets.${index}.${problem}`;
    seen.add(market.symbol);
  }
  return undefined;
}

function marketProblem(market: MarketDefinition): string | undefined {
  if (market.symbol !== market.base + market.quote) {
    return `symbol: ${market.symbol} must be base and quote, ${market.base}${market.quote}`;
  }
  return stepsProblem(market) ?? tiersProblem(market);
}

function stepsProblem(market: MarketDefinition): string | undefined {
  try {
    microsPerTickLot(stepOf(market.tickSize), stepOf(market.lotSize));
  } catch (error) {
    if (error instanceof NotInUnits) return `lotSize: ${error.message}`;
    throw error;
  }
  try {
    toSteps(market.index.startPrice, stepOf(market.tickSize));
  } catch (error) {
    if (error instanceof NotInUnits) return `index.startPrice: ${error.message}`;
    throw error;
  }
  return undefined;
}

function tiersProblem(market: MarketDefinition): string | undefined {
  for (const [index, tier] of market.tiers.entries()) {
    const at = `tiers.${index}`;
    if (tier.maintenanceRate * tier.maxLeverage >= 1) {
      return `${at}.maintenanceRate: must be below 1 / maxLeverage`;
    }
    const lower = market.tiers[index - 1];
    if (lower === undefined) continue;
    if (tier.notionalUpTo <= lower.notionalUpTo) return `${at}.notionalUpTo: must rise`;
    if (tier.maxLeverage >= lower.maxLeverage) return `${at}.maxLeverage: must fall`;
    if (tier.maintenanceRate <= lower.maintenanceRate) return `${at}.maintenanceRate: must rise`;
  }
  return undefined;
}

const MAJOR_TIERS = [
  { notionalUpTo: 1_000_000, maxLeverage: 50, maintenanceRate: 0.01 },
  { notionalUpTo: 5_000_000, maxLeverage: 25, maintenanceRate: 0.02 },
  { notionalUpTo: 20_000_000, maxLeverage: 10, maintenanceRate: 0.05 },
];

const MINOR_TIERS = [
  { notionalUpTo: 250_000, maxLeverage: 20, maintenanceRate: 0.025 },
  { notionalUpTo: 1_000_000, maxLeverage: 10, maintenanceRate: 0.05 },
  { notionalUpTo: 5_000_000, maxLeverage: 5, maintenanceRate: 0.1 },
];

const FEES = { makerFee: 0.0002, takerFee: 0.0005 };

/** The volatilities of a busy week, so that one-minute candles move visibly. */
export const DEFAULT_MARKETS: readonly MarketDefinition[] = [
  {
    symbol: "BTCUSD",
    base: "BTC",
    quote: "USD",
    tickSize: 0.1,
    lotSize: 0.00001,
    ...FEES,
    tiers: MAJOR_TIERS,
    index: { startPrice: 65_000, annualVolatility: 0.8 },
  },
  {
    symbol: "ETHUSD",
    base: "ETH",
    quote: "USD",
    tickSize: 0.01,
    lotSize: 0.0001,
    ...FEES,
    tiers: MAJOR_TIERS,
    index: { startPrice: 3_200, annualVolatility: 1 },
  },
  {
    symbol: "SOLUSD",
    base: "SOL",
    quote: "USD",
    tickSize: 0.001,
    lotSize: 0.001,
    ...FEES,
    tiers: MINOR_TIERS,
    index: { startPrice: 150, annualVolatility: 1.3 },
  },
];
