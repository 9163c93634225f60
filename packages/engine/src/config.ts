/**
 * The parameters of a venue. They enter the engine only through the log (`Genesis`, `Configure`),
 * so restart, replica and auditor trade under the same rules. All figures are integers: prices in
 * ticks, sizes in lots, money in micro-dollars, rates in millionths (ppm), times in milliseconds.
 */

export interface Tier {
  /** The tier holds notionals up to and including this many micros. */
  readonly upToMicros: number;
  readonly maxLeverage: number;
  readonly maintenancePpm: number;
}

export interface MarketConfig {
  readonly symbol: string;
  /** Micros that one lot is worth per tick of price; never changes after listing. */
  readonly microsPerTickLot: number;
  readonly tiers: readonly Tier[];
  readonly takerFeePpm: number;
  readonly makerFeePpm: number;
  /** Half-width of the price band around the mark. */
  readonly bandPpm: number;
  readonly impactNotionalMicros: number;
}

export type AttestorKind = "dev" | "chain";
export type CohortStage = "closed" | "allowlist" | "open";

export interface VenueConfig {
  readonly markets: readonly MarketConfig[];
  /** Fixed by Genesis: later values are refused. */
  readonly fundSeedMicros: number;
  readonly backstopCapMicros: number;
  readonly maxOpenOrders: number;
  readonly attestorKind: AttestorKind;
  readonly attestors: number;
  readonly attestorQuorum: number;
  /** What the `dev` attestor credits per deposit, and grants at a first sign-in. */
  readonly devCreditMicros: number;
}

export const PPM = 1_000_000;
export const TICK_MS = 200;
/** How far a command's own stamp, or a tick, may run ahead of the last tick. */
export const MAX_LEAD_MS = 1_000;
export const INDEX_STALE_MS = 10_000;
export const MARK_EMA_MS = 150_000;
export const HOUR_MS = 3_600_000;
export const DEV_CREDIT_DELAY_MS = 400;
export const MAX_ORDER_NOTIONAL_MICROS = 1e15;
export const MAX_DEPOSITS_MICROS = 2 ** 52;
export const LIQUIDATION_FEE_PPM = 5_000;
export const BACKSTOP_SLICE_PPM = 5_000;
export const LIQUIDATIONS_AND_STOPS_PER_COMMAND = 256;
/** Orders of lost connections that one start or tick cancels; a budget of their own. */
export const DISCONNECT_CANCELS_PER_COMMAND = 1_024;
export const NONCE_WINDOW = 1_024;
/** Passive prices stay within mark ÷ 10 … mark × 10. */
export const PRICE_RANGE_FACTOR = 10;
/** Funding, in billionths: interest and clamp per eight hours, cap per hour. */
export const RATE_SCALE = 1_000_000_000;
export const INTEREST_PER_8H = 100_000;
export const PREMIUM_CLAMP_PER_8H = 500_000;
export const FUNDING_CAP_PER_HOUR = 5_000_000;

/** Why a configuration cannot be taken, or null. */
export function configFault(config: VenueConfig): string | null {
  if (config.markets.length === 0) return "a venue needs at least one market";
  const symbols = new Set<string>();
  for (const market of config.markets) {
    if (symbols.has(market.symbol)) return `${market.symbol}: listed twice`;
    symbols.add(market.symbol);
    const fault = marketFault(market);
    if (fault !== null) return `${market.symbol}: ${fault}`;
  }
  if (!isCount(config.fundSeedMicros) || config.fundSeedMicros > MAX_DEPOSITS_MICROS) {
    return "fundSeedMicros: not within the bound on deposits";
  }
  if (!isCount(config.backstopCapMicros)) return "backstopCapMicros: not a safe integer ≥ 0";
  if (!isCount(config.maxOpenOrders)) return "maxOpenOrders: not a safe integer ≥ 0";
  if (!isCount(config.devCreditMicros)) return "devCreditMicros: not a safe integer ≥ 0";
  if (!(config.attestorQuorum >= 1 && config.attestorQuorum <= config.attestors)) {
    return "attestorQuorum: must be between 1 and the number of attestors";
  }
  return null;
}

function marketFault(market: MarketConfig): string | null {
  if (!isCount(market.microsPerTickLot) || market.microsPerTickLot < 1) {
    return "tick × lot must be a whole number of micro-dollars";
  }
  if (market.tiers.length === 0) return "needs at least one tier";
  let lower = 0;
  let leverage = Number.POSITIVE_INFINITY;
  let maintenance = 0;
  for (const tier of market.tiers) {
    if (!isCount(tier.upToMicros) || tier.upToMicros <= lower) return "tier bounds must rise";
    if (!isCount(tier.maxLeverage) || tier.maxLeverage < 1) return "maxLeverage must be ≥ 1";
    if (tier.maxLeverage > leverage) return "maxLeverage must not rise with the tiers";
    if (tier.maintenancePpm < maintenance || tier.maintenancePpm < 1) {
      return "maintenance must not fall with the tiers";
    }
    if (tier.maintenancePpm * tier.maxLeverage >= PPM) {
      return "maintenance must stay below the initial margin of its tier";
    }
    const span = tier.upToMicros - lower;
    if ((BigInt(span) * BigInt(tier.maintenancePpm)) % BigInt(PPM) !== 0n) {
      return "tier bound × maintenance must be whole micro-dollars";
    }
    lower = tier.upToMicros;
    leverage = tier.maxLeverage;
    maintenance = tier.maintenancePpm;
  }
  if (lower > Number.MAX_SAFE_INTEGER / PRICE_RANGE_FACTOR) return "the top tier is too large";
  for (const ppm of [market.takerFeePpm, market.makerFeePpm, market.bandPpm]) {
    if (!isCount(ppm) || ppm >= PPM) return "fees and band must be between 0 and 1";
  }
  if (!isCount(market.impactNotionalMicros) || market.impactNotionalMicros < 1) {
    return "impactNotionalMicros must be ≥ 1";
  }
  return null;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
