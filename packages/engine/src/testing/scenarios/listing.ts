/**
 * The markets that scenarios trade, with round prices so that the expected figures can be worked
 * out in the head: one bitcoin is $50,000, taker fee $25 a coin, maker fee $10 a coin.
 */
import type { MarginTier } from "@perpgate/protocol/maintenance";
import type { MarketConfig, VenueConfig } from "../../config.js";

export const MICROS = 1_000_000;

export interface Listing {
  readonly config: MarketConfig;
  readonly ticksPerDollar: number;
  readonly lotsPerCoin: number;
  readonly startPrice: number;
}

function tiers(...rows: readonly (readonly [dollars: number, leverage: number, ppm: number])[]) {
  return rows.map(
    ([dollars, maxLeverage, maintenancePpm]): MarginTier => ({
      upToMicros: dollars * MICROS,
      maxLeverage,
      maintenancePpm,
    }),
  );
}

/** The default parameters of a market, a tick times a lot being one micro-dollar. */
export function plainMarket(
  symbol: string,
  rows: readonly MarginTier[],
  changes: Partial<MarketConfig> = {},
): MarketConfig {
  return {
    symbol,
    microsPerTickLot: 1,
    tiers: rows,
    takerFeePpm: 500,
    makerFeePpm: 200,
    bandPpm: 50_000,
    impactNotionalMicros: 20_000 * MICROS,
    minNotionalMicros: 0,
    maxOpenInterestMicros: Number.MAX_SAFE_INTEGER,
    maxIndexJumpPpm: 200_000,
    ...changes,
  };
}

function listing(
  symbol: string,
  ticksPerDollar: number,
  startPrice: number,
  rows: readonly MarginTier[],
): Listing {
  return {
    config: plainMarket(symbol, rows),
    ticksPerDollar,
    lotsPerCoin: MICROS / ticksPerDollar,
    startPrice,
  };
}

export const MAJOR = tiers(
  [1_000_000, 50, 10_000],
  [5_000_000, 25, 20_000],
  [20_000_000, 10, 50_000],
);

/** Tick $0.1, lot 0.00001. */
export const BTC = listing("BTCUSD", 10, 50_000, MAJOR);
/** Bitcoin without the index guard, for scenarios that need a price far away immediately. */
export const UNGUARDED: Listing = {
  ...BTC,
  config: { ...BTC.config, maxIndexJumpPpm: 10 ** 12 },
};
/** Tick $0.01, lot 0.0001. */
export const ETH = listing("ETHUSD", 100, 4_000, MAJOR);
/** Tick $0.001, lot 0.001. */
export const SOL = listing(
  "SOLUSD",
  1_000,
  100,
  tiers([250_000, 20, 25_000], [1_000_000, 10, 50_000], [5_000_000, 5, 100_000]),
);
/** Bitcoin with tiers of a thousandth, so that a small account meets them. */
export const SMALL_TIERS: Listing = {
  ...BTC,
  config: {
    ...BTC.config,
    tiers: tiers([1_000, 50, 10_000], [5_000, 25, 20_000], [20_000, 10, 50_000]),
  },
};
/** A tick of a dollar and a lot worth a micro-dollar a tick: every rounding shows. */
export const DUST: Listing = {
  ...listing("DUSTUSD", 1, 100, tiers([1, 20, 25_000], [10, 10, 50_000], [100, 5, 100_000])),
};

export function venueConfig(
  listings: readonly Pick<Listing, "config">[],
  changes: Partial<VenueConfig> = {},
): VenueConfig {
  return {
    markets: listings.map((each) => each.config),
    fundSeedMicros: 1_000_000 * MICROS,
    backstopCapMicros: 5_000_000 * MICROS,
    fundLossPerHourPpm: 20_000,
    maxOpenOrders: 500,
    attestorKind: "chain",
    attestors: 1,
    attestorQuorum: 1,
    devCreditMicros: 0,
    ...changes,
  };
}
