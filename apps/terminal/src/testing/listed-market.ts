import type { Market } from "@perpgate/protocol";

/** A market as the venue lists it. */
export const LISTED: Market = {
  symbol: "BTCUSD",
  base: "BTC",
  quote: "USD",
  maxLeverage: 50,
  tickSize: 0.1,
  lotSize: 0.00001,
  markPrice: 65_000,
  indexPrice: 65_000,
  fundingRate: 0,
  nextFundingAt: null,
  makerFee: 0,
  takerFee: 0,
  tiers: [{ notionalUpTo: 1e6, maxLeverage: 50, maintenanceRate: 0.01 }],
  minNotional: 1,
  minSize: 0.00001,
  maxSize: null,
  maxOpenInterest: 1e9,
  status: "active",
};
