/** The venues that rings try: real tiers, tiny tiers, a market in which every rounding shows. */
import { BTC, DUST, type Listing, SMALL_TIERS, SOL } from "../scenarios/listing.js";

const USD = 1e6;

export interface World {
  readonly name: string;
  readonly listing: Listing;
  readonly indexTicks: number;
  readonly depositMicros: number;
  readonly seedMicros: number;
  readonly capMicros: number;
}

/** Maintenance just under the initial margin: a push of the mark is enough to liquidate. */
const LITTLE_ROOM: Listing = {
  ...BTC,
  config: {
    ...BTC.config,
    tiers: BTC.config.tiers.map((tier) => ({
      ...tier,
      maintenancePpm: Math.floor(950_000 / tier.maxLeverage),
    })),
  },
};

/** A hundredfold leverage on a maintenance of 0.4 %. */
const STEEP: Listing = {
  ...BTC,
  config: {
    ...BTC.config,
    tiers: BTC.config.tiers.map((tier) => ({
      ...tier,
      maxLeverage: tier.maxLeverage * 2,
      maintenancePpm: 200_000 / tier.maxLeverage,
    })),
  },
};

export const WORLDS: readonly World[] = [
  world("bitcoin", BTC, 500_000, 500_000 * USD, 1_000_000 * USD),
  world("little room", LITTLE_ROOM, 500_000, 500_000 * USD, 1_000_000 * USD),
  world("steep", STEEP, 500_000, 500_000 * USD, 1_000_000 * USD),
  world("small tiers", SMALL_TIERS, 500_000, 100_000 * USD, 1_000 * USD),
  world("solana", SOL, 100_000, 100_000 * USD, 10_000 * USD),
  world("dust", dustWithImpact(), 100, 1_000_000, 100_000),
];

function world(
  name: string,
  listing: Listing,
  indexTicks: number,
  depositMicros: number,
  seedMicros: number,
): World {
  return { name, listing, indexTicks, depositMicros, seedMicros, capMicros: 5 * seedMicros };
}

/** The dust market with an impact notional that a few thousand lots reach. */
function dustWithImpact(): Listing {
  return { ...DUST, config: { ...DUST.config, impactNotionalMicros: 20_000 } };
}
