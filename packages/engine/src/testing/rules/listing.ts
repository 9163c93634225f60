/** A small venue whose limits are met often: tiers, open interest, caps and fund are all near. */
import type { MarketConfig, VenueConfig } from "../../config.js";

export const TRADERS = 10;
export const MARKETS = 2;
export const DOLLAR = 1_000_000;
/** Ticks of the first index of each market. */
export const START_TICKS = [500_000, 100_000] as const;
export const START_MS = 486_112 * 3_600_000;

const FIRST: MarketConfig = {
  symbol: "BTCUSD",
  microsPerTickLot: 1,
  tiers: [
    { upToMicros: 1_000 * DOLLAR, maxLeverage: 50, maintenancePpm: 10_000 },
    { upToMicros: 5_000 * DOLLAR, maxLeverage: 25, maintenancePpm: 20_000 },
    { upToMicros: 20_000 * DOLLAR, maxLeverage: 10, maintenancePpm: 50_000 },
  ],
  takerFeePpm: 500,
  makerFeePpm: 200,
  bandPpm: 50_000,
  impactNotionalMicros: 50 * DOLLAR,
  minNotionalMicros: DOLLAR,
  maxOpenInterestMicros: 2_000 * DOLLAR,
  maxIndexJumpPpm: 200_000,
};

/** A lot worth ten micros a tick, so that a factor left out shows. */
const SECOND: MarketConfig = {
  ...FIRST,
  symbol: "SOLUSD",
  microsPerTickLot: 10,
  tiers: [
    { upToMicros: 250 * DOLLAR, maxLeverage: 20, maintenancePpm: 25_000 },
    { upToMicros: 1_000 * DOLLAR, maxLeverage: 10, maintenancePpm: 50_000 },
    { upToMicros: 5_000 * DOLLAR, maxLeverage: 5, maintenancePpm: 100_000 },
  ],
  maxOpenInterestMicros: 600 * DOLLAR,
};

export const CONFIG: VenueConfig = {
  markets: [FIRST, SECOND],
  fundSeedMicros: 3_000 * DOLLAR,
  backstopCapMicros: 2_000 * DOLLAR,
  fundLossPerHourPpm: 20_000,
  maxOpenOrders: 16,
  attestorKind: "chain",
  attestors: 1,
  attestorQuorum: 1,
  devCreditMicros: 0,
};

/** First deposits, in micros: three market makers, then wallets down to almost nothing. */
export const DEPOSITS = [
  6_000 * DOLLAR,
  6_000 * DOLLAR,
  2_000 * DOLLAR,
  900 * DOLLAR,
  500 * DOLLAR,
  200 * DOLLAR,
  100 * DOLLAR,
  60 * DOLLAR,
  20 * DOLLAR,
  3 * DOLLAR,
] as const;
