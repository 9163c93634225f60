/** The venue that the simulated traders meet: two small markets, everybody gets 10,000 dollars. */

import {
  type Command,
  ENGINE_VERSION,
  type MarketConfig,
  type VenueConfig,
} from "@perpgate/engine";
import type { ListedMarket } from "@perpgate/venue";

const USD = 1_000_000;

const MARKET: MarketConfig = {
  symbol: "BTCUSD",
  microsPerTickLot: 100,
  tiers: [
    { upToMicros: 20_000 * USD, maxLeverage: 50, maintenancePpm: 10_000 },
    { upToMicros: 1_000_000 * USD, maxLeverage: 10, maintenancePpm: 50_000 },
  ],
  takerFeePpm: 500,
  makerFeePpm: 200,
  bandPpm: 50_000,
  impactNotionalMicros: 5_000 * USD,
  minNotionalMicros: 0,
  maxOpenInterestMicros: Number.MAX_SAFE_INTEGER,
  maxIndexJumpPpm: 200_000,
};

export const LISTING: VenueConfig = {
  markets: [MARKET, { ...MARKET, symbol: "ETHUSD", microsPerTickLot: 1_000 }],
  fundSeedMicros: 1_000_000 * USD,
  backstopCapMicros: 5_000_000 * USD,
  fundLossPerHourPpm: 20_000,
  maxOpenOrders: 40,
  attestorKind: "dev",
  attestors: 1,
  attestorQuorum: 1,
  devCreditMicros: 10_000 * USD,
};

/** What the engine's integers mean outside. */
export const LISTED: readonly ListedMarket[] = [
  { symbol: "BTCUSD", base: "BTC", quote: "USD", tickSize: 0.1, lotSize: 0.001 },
  { symbol: "ETHUSD", base: "ETH", quote: "USD", tickSize: 1, lotSize: 0.001 },
];

/** Where the index of each market starts, in ticks. */
export const START_TICKS = [30_000, 2_000] as const;

export const START_MS = 1_800_000_000_123;

export const GENESIS: Command = {
  kind: "Genesis",
  stampMs: START_MS,
  config: LISTING,
  cohort: "open",
  engineVersion: ENGINE_VERSION,
};
