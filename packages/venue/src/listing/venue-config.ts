/**
 * Turns the operator's configuration (decimals) into the engine's `VenueConfig` (integers). This is the
 * only place that converts it. Nothing is rounded: a figure that is not whole in its unit throws.
 */
import type { AttestorKind, MarketConfig, VenueConfig, WithdrawalConfig } from "@perpgate/engine";
import type { MarketDefinition } from "@perpgate/protocol";
import { microsPerTickLot, NotInUnits, stepOf, toMicrosFloor } from "@perpgate/protocol/core";

/** Parameters that all markets share, in dollars and fractions. */
export interface VenueParameters {
  readonly band: number;
  readonly impactNotional: number;
  readonly minNotional: number;
  /** Of one market, in multiples of its largest position. */
  readonly maxOpenInterestPositions: number;
  readonly maxIndexJump: number;
  /** A fraction of the fund. */
  readonly fundLossPerHour: number;
  readonly fundSeed: number;
  readonly backstopCap: number;
  readonly maxOpenOrders: number;
  readonly attestorKind: AttestorKind;
  readonly attestors: number;
  readonly attestorQuorum: number;
  readonly devCredit: number;
  /** Missing: the venue takes no withdrawals. */
  readonly withdrawals?: WithdrawalParameters | undefined;
}

/** In dollars and seconds. */
export interface WithdrawalParameters {
  readonly minWithdrawal: number;
  readonly fee: number;
  readonly accountPerDay: number;
  readonly venuePerHour: number;
  readonly venuePerDay: number;
  readonly lifeSeconds: number;
  readonly chains: readonly {
    readonly chain: string;
    readonly chainId: number;
    readonly tokens: readonly string[];
    readonly maxUnpaid: number;
  }[];
}

export const DEFAULT_PARAMETERS: VenueParameters = {
  band: 0.05,
  impactNotional: 20_000,
  minNotional: 1,
  maxOpenInterestPositions: 10,
  maxIndexJump: 0.2,
  fundLossPerHour: 0.02,
  fundSeed: 1_000_000,
  backstopCap: 5_000_000,
  maxOpenOrders: 500,
  attestorKind: "dev",
  attestors: 1,
  attestorQuorum: 1,
  devCredit: 10_000,
};

export function venueConfigOf(
  markets: readonly MarketDefinition[],
  parameters: VenueParameters = DEFAULT_PARAMETERS,
): VenueConfig {
  return {
    markets: markets.map((market) => marketConfigOf(market, parameters)),
    fundSeedMicros: wholeMicros(parameters.fundSeed),
    backstopCapMicros: wholeMicros(parameters.backstopCap),
    fundLossPerHourPpm: wholeMicros(parameters.fundLossPerHour),
    maxOpenOrders: parameters.maxOpenOrders,
    attestorKind: parameters.attestorKind,
    attestors: parameters.attestors,
    attestorQuorum: parameters.attestorQuorum,
    devCreditMicros: wholeMicros(parameters.devCredit),
    ...(parameters.withdrawals === undefined
      ? {}
      : { withdrawals: withdrawalConfigOf(parameters.withdrawals) }),
  };
}

function withdrawalConfigOf(parameters: WithdrawalParameters): WithdrawalConfig {
  return {
    minMicros: wholeMicros(parameters.minWithdrawal),
    feeMicros: wholeMicros(parameters.fee),
    accountDayMicros: wholeMicros(parameters.accountPerDay),
    venueHourMicros: wholeMicros(parameters.venuePerHour),
    venueDayMicros: wholeMicros(parameters.venuePerDay),
    lifeMs: parameters.lifeSeconds * 1_000,
    chains: parameters.chains.map(({ maxUnpaid, ...chain }) => {
      return { ...chain, maxUnpaidMicros: wholeMicros(maxUnpaid) };
    }),
  };
}

function marketConfigOf(market: MarketDefinition, parameters: VenueParameters): MarketConfig {
  return {
    symbol: market.symbol,
    microsPerTickLot: microsPerTickLot(stepOf(market.tickSize), stepOf(market.lotSize)),
    tiers: market.tiers.map((tier) => ({
      upToMicros: wholeMicros(tier.notionalUpTo),
      maxLeverage: tier.maxLeverage,
      maintenancePpm: wholeMicros(tier.maintenanceRate),
    })),
    takerFeePpm: wholeMicros(market.takerFee),
    makerFeePpm: wholeMicros(market.makerFee),
    bandPpm: wholeMicros(parameters.band),
    impactNotionalMicros: wholeMicros(parameters.impactNotional),
    minNotionalMicros: wholeMicros(parameters.minNotional),
    maxOpenInterestMicros: wholeMicros(
      market.tiers.at(-1)!.notionalUpTo * parameters.maxOpenInterestPositions,
    ),
    maxIndexJumpPpm: wholeMicros(parameters.maxIndexJump),
  };
}

/** Millionths: micros of a dollar figure, ppm of a fraction. */
function wholeMicros(value: number): number {
  const micros = toMicrosFloor(value);
  if (micros / 1_000_000 === value) return micros;
  throw new NotInUnits("off_step", `${value} is not a whole number of millionths`);
}
