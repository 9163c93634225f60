/**
 * The markets that the flow trades: the three of the default listing, the same with tiers so small
 * that a single account crosses them, and a dust market whose lots are worth a few micros, where
 * every rounding shows.
 */
import type { MarginTier } from "@perpgate/protocol/maintenance";
import type { MarketConfig, VenueConfig } from "../../config.js";
import { MAJOR, venueConfig as plainConfig, plainMarket } from "../scenarios/listing.js";

const USD = 1_000_000;

function tiers(...rows: readonly (readonly [number, number, number])[]): MarginTier[] {
  return rows.map(([upToMicros, maxLeverage, maintenancePpm]) => {
    return { upToMicros, maxLeverage, maintenancePpm };
  });
}

const SMALL = tiers(
  [4_000 * USD, 50, 10_000],
  [15_000 * USD, 25, 20_000],
  [40_000 * USD, 10, 50_000],
);
const SOL = tiers(
  [250_000 * USD, 20, 25_000],
  [1_000_000 * USD, 10, 50_000],
  [5_000_000 * USD, 5, 100_000],
);
const DUST = tiers([10_000, 20, 25_000], [100_000, 10, 50_000], [1_000_000, 5, 100_000]);

function market(symbol: string, rows: readonly MarginTier[], impact: number): MarketConfig {
  return plainMarket(symbol, rows, { impactNotionalMicros: impact });
}

export interface Listed {
  readonly config: MarketConfig;
  readonly startIndex: number;
}

export const BTC: Listed = { config: market("BTCUSD", MAJOR, 20_000 * USD), startIndex: 650_000 };
export const ETH: Listed = { config: market("ETHUSD", MAJOR, 2_000 * USD), startIndex: 320_000 };
export const SOLANA: Listed = { config: market("SOLUSD", SOL, 2_000 * USD), startIndex: 150_000 };
export const SMALL_BTC: Listed = {
  config: market("BTCUSD", SMALL, 1_000 * USD),
  startIndex: 650_000,
};
export const SMALL_BNB: Listed = {
  config: {
    ...market("BNBUSD", SMALL, 300 * USD),
    microsPerTickLot: 7,
    makerFeePpm: 0,
    minNotionalMicros: 4 * USD,
    maxOpenInterestMicros: 60_000 * USD,
  },
  startIndex: 32_003,
};
export const DUST_MARKET: Listed = {
  config: market("DUSTUSD", DUST, 2_000),
  startIndex: 40,
};
export const FEW_TICKS: Listed = {
  config: { ...market("BITUSD", DUST, 500), bandPpm: 300_000 },
  startIndex: 5,
};

export function venueConfig(
  listed: readonly Listed[],
  money: { fund: number; cap: number; credit: number; maxOpenOrders: number },
): VenueConfig {
  return plainConfig(listed, {
    fundSeedMicros: money.fund,
    backstopCapMicros: money.cap,
    maxOpenOrders: money.maxOpenOrders,
    attestorKind: "dev",
    devCreditMicros: money.credit,
  });
}

export { USD };
