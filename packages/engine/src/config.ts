/**
 * The parameters of a venue. They enter the engine only through the log (`Genesis`, `Configure`),
 * so restart, replica and auditor trade under the same rules. All figures are integers: prices in
 * ticks, sizes in lots, money in micro-dollars, rates in millionths (ppm), times in milliseconds.
 */
import type { MarginTier } from "@perpgate/protocol/maintenance";
import { HOUR_MS, MAX_DEPOSITS_MICROS, PPM, PRICE_RANGE_FACTOR } from "@perpgate/protocol/rules";
import { raisesWithdrawals, type WithdrawalConfig, withdrawalFault } from "./withdrawals/config.js";

export interface MarketConfig {
  readonly symbol: string;
  /** Value of one lot per tick of price, in micros; never changes after listing. */
  readonly microsPerTickLot: number;
  readonly tiers: readonly MarginTier[];
  readonly takerFeePpm: number;
  readonly makerFeePpm: number;
  /** Half-width of the price band around the mark. */
  readonly bandPpm: number;
  readonly impactNotionalMicros: number;
  /** Orders that open need at least this notional. */
  readonly minNotionalMicros: number;
  /** Lots that open on both sides are not filled beyond this notional of all longs, at mark. */
  readonly maxOpenInterestMicros: number;
  /** An index further than this from one of the last ten seconds is held back. */
  readonly maxIndexJumpPpm: number;
}

export type AttestorKind = "dev" | "chain";
export type CohortStage = "closed" | "allowlist" | "open";

export interface VenueConfig {
  readonly markets: readonly MarketConfig[];
  /** Fixed by Genesis: a `Configure` with another value is refused. */
  readonly fundSeedMicros: number;
  readonly backstopCapMicros: number;
  /** What the fund may lose to positions that it takes over, per hour, in ppm of its value. */
  readonly fundLossPerHourPpm: number;
  readonly maxOpenOrders: number;
  readonly attestorKind: AttestorKind;
  readonly attestors: number;
  readonly attestorQuorum: number;
  /** Credit of the `dev` attestor per deposit, and at an account's first sign-in. */
  readonly devCreditMicros: number;
  /** Missing: the venue takes no withdrawals. From version 3 of the rules. */
  readonly withdrawals?: WithdrawalConfig;
}

export * from "@perpgate/protocol/rules";
export type { WithdrawalChain, WithdrawalConfig } from "./withdrawals/config.js";

/** Liquidations and triggered stops of one command; the rest is carried over to the next tick. */
export const LIQUIDATIONS_AND_STOPS_PER_COMMAND = 256;
/**
 * Orders of liquidated accounts after whose cancels a command begins no further liquidation. Sixteen for
 * each of the 256: accounts with a few orders never meet it.
 */
export const LIQUIDATION_CANCELS_PER_COMMAND = 4_096;
/** How far from the index the mid that the mark averages may be. */
export const MID_BOUND_PPM = 10_000;
/** How far from the index a side of the book must have the impact notional to give a mid. */
export const DEPTH_REACH_PPM = 20_000;
/** An index is compared with the accepted ones of this long, and held back if it is too far off. */
export const INDEX_GUARD_MS = 10_000;
/** How long an index is held back at least, how many later updates must be near it, and how near. */
export const HOLD_MS = 2_000;
export const HOLD_CONFIRMATIONS = 2;
export const HOLD_NEAR_PPM = 50_000;
/** Work units of a command, and of a tick in each market and in all: see work.ts. */
export const UNITS_PER_COMMAND = 8_000;
export const UNITS_PER_TICK = 24_000;
/** Of a command, and of a tick, for ending makers that are over. */
export const UNITS_FOR_OVER = 8_000;
/** A command that took more units than this says so: ordinary ones are paid for by their own cost. */
export const UNITS_UNREPORTED = 40;
/** Levels of the book that the checks of an order look at. */
export const LEVELS_PER_CHECK = 2_000;
/**
 * In version 2 as many orders that end because a fill has changed the position of their account count as a
 * maker, for each fill apart.
 */
export const ENDS_PER_MAKER = 4;
/** Open orders that an account may have in all, and what of its equity each further one takes. */
export const FREE_PLACES = 20;
export const MICROS_PER_PLACE = 10_000_000;
/** Operations of one signed batch. */
export const OPERATIONS_PER_BATCH = 50;

/**
 * Opening above this leverage ends where the open interest above it exceeds that many times the fund's
 * worth, and above the second leverage where open interest is near its bound.
 */
export const STEEP_LEVERAGE = 10;
export const STEEP_FUNDS = 20;
export const CROWDED_LEVERAGE = 5;
/** Part of the bound on open interest above which a market counts as crowded, in millionths. */
export const CROWDED_PPM = 800_000;

/**
 * Multiples of what is left of the hour's loss budget: the backstop takes positions up to the first, and
 * gives lots away where it holds more than the second. A move of a quarter then costs what is left; a jump
 * of the index by 20 %, with the mark's distance from it on both sides, is less.
 */
export const BACKSTOP_TAKES = 3;
export const BACKSTOP_KEEPS = 4;

/**
 * Liquidations that are short of no more than this do not keep orders waiting after a jump: a crowd of
 * tiny accounts could otherwise close a market for minutes.
 */
export const SMALL_SHORTFALL_MICROS = 10_000_000;

/** Accounts among which auto-deleveraging divides lots at a time. */
export const DELEVERAGED_TOGETHER = 500;

/**
 * Work units of an account's first liquidation in a row, or of a stop's first turn, and of each later one:
 * 20 and 500 makers. The first is short, so that those who need no more are not held up by those who do.
 */
export const UNITS_PER_FIRST_TURN = 80;
export const UNITS_PER_TURN = 2_000;
/** Accounts of a market that may wait for a later turn; others keep the place of their shortfall. */
export const BEHIND_PER_MARKET = 4_096;
/** After a jump, what is due for this long is not offered to the book any more: orders wait for it. */
export const OVERDUE_MS = 1_000;

/** Stops that wait and that one tick looks at in one market, those that it does not serve included. */
export const STOP_STEPS_PER_TICK = 4_096;
/** Stops that one tick serves in one market. */
export const STOPS_PER_TICK_AND_MARKET = 256;
/** Triggered stops that a tick tries again because they have not closed their position; a separate budget. */
export const CLOSES_AGAIN_PER_TICK = 64;
/** Orders of lost connections that one command or tick cancels; a separate budget. */
export const DISCONNECT_CANCELS_PER_COMMAND = 1_024;
/**
 * Lost sessions, and orders of their accounts, that one command or tick looks at for that; the account in
 * turn is looked at whole. Most accounts have a few orders: the cancels are used up first.
 */
export const DISCONNECT_LOOKS_PER_COMMAND = 4_096;
/** Live writers, at most; bounded by the places of presence (state/presence.ts). */
export const MAX_LIVE_WRITERS = 64;
/** Accepted ticks in a row without a batch of its own after which a writer is gone. */
export const TICKS_MISSED = 25;
/** For how long an unsigned request is known that was executed or refused, in log time. */
export const REQUEST_KEPT_MS = 30_000;
/** Asks for a time jump, of one other writer, after which one that sent no batch is gone. */
export const ASKS_MISSED = 5;
/** Accepted ticks for which an ask for a time jump is kept. */
export const ASK_TICKS = 10;
/** Sessions that one tick closes because they have expired. */
export const EXPIRED_SESSIONS_PER_TICK = 256;
/** Dead-man's switches that one tick fires, and orders after which it fires no further one. */
export const SWITCHES_PER_TICK = 256;
export const SWITCH_CANCELS_PER_TICK = 1_024;

/**
 * Orders that are over and that one turn of their account ends, and after how many, and how many looked
 * at, a tick gives no further turn. Accounts that a tick queues for that, by switches and by expiries.
 */
export const ENDS_PER_TURN = 20;
export const ENDS_PER_TICK = 2_048;
/** The same for a command that ends a writer. */
export const ENDS_PER_COMMAND = 1_024;
export const LOOKS_PER_TICK = 16_384;
export const QUEUED_PER_TICK = 4_096;

/** How far ahead of the venue's time an order may expire. */
export const MIN_EXPIRY_MS = 1_000;
export const MAX_EXPIRY_MS = 90 * 24 * HOUR_MS;
/** Orders that expire in one tick; the rest follow in the next ones. */
export const EXPIRIES_PER_TICK = 1_024;

/** Orders that one command or tick cancels for a market control; the account in turn is finished. */
export const CONTROL_CANCELS_PER_COMMAND = 1_024;
/** Positions that one command or tick settles. */
export const SETTLEMENTS_PER_COMMAND = 1_024;
/** Accounts that a market control looks at in one command or tick. */
export const CONTROL_VISITS_PER_COMMAND = 16_384;

/** Operator commands that are executed within this time, at most. */
export const OPERATOR_COMMANDS_PER_WINDOW = 10;
export const OPERATOR_WINDOW_MS = 60_000;

/** Live sessions of one account; the next sign-in ends the oldest. */
export const SESSIONS_PER_ACCOUNT = 64;

/** Hashes that an account has registered and no attestor has seen on their chain. */
export const UNSEEN_DEPOSITS_PER_ACCOUNT = 100;
export const UNSEEN_DEPOSIT_MS = 24 * HOUR_MS;
/** How long a rejected deposit that credited nothing is known. */
export const REJECTED_DEPOSIT_MS = 7 * 24 * HOUR_MS;
/** Deposits that one tick credits for the `dev` attestor; the others stay due. */
export const DEV_CREDITS_PER_TICK = 256;
/** Deposits that one tick forgets. */
export const FORGOTTEN_DEPOSITS_PER_TICK = 256;

/** Why a configuration is invalid, or null. */
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
  if (!isCount(config.fundLossPerHourPpm)) return "fundLossPerHourPpm: not a safe integer ≥ 0";
  if (!isCount(config.maxOpenOrders)) return "maxOpenOrders: not a safe integer ≥ 0";
  if (!isCount(config.devCreditMicros)) return "devCreditMicros: not a safe integer ≥ 0";
  if (!(config.attestorQuorum >= 1 && config.attestorQuorum <= config.attestors)) {
    return "attestorQuorum: must be between 1 and the number of attestors";
  }
  if (config.withdrawals === undefined) return null;
  if (config.attestorKind === "dev") return "withdrawals: the dev attestor pays nobody";
  return withdrawalFault(config.withdrawals);
}

/**
 * The first limit that a configuration raises over another, or null. Listing a market and raising a
 * limit are two steps: together they are how a worthless market drains a venue.
 */
export function raisedLimit(before: VenueConfig, after: VenueConfig): string | null {
  if (after.backstopCapMicros > before.backstopCapMicros) return "backstopCap";
  if (after.fundLossPerHourPpm > before.fundLossPerHourPpm) return "fundLossPerHour";
  if (after.maxOpenOrders > before.maxOpenOrders) return "maxOpenOrders";
  if (after.devCreditMicros > before.devCreditMicros) return "devCredit";
  if (raisesWithdrawals(before.withdrawals, after.withdrawals)) return "withdrawals";
  for (const [number, market] of before.markets.entries()) {
    const next = after.markets[number];
    const raised = next === undefined ? null : raisedInMarket(market, next);
    if (raised !== null) return `${market.symbol} ${raised}`;
  }
  return null;
}

function raisedInMarket(before: MarketConfig, after: MarketConfig): string | null {
  if (after.bandPpm > before.bandPpm) return "band";
  if (after.maxOpenInterestMicros > before.maxOpenInterestMicros) return "maxOpenInterest";
  if (after.maxIndexJumpPpm > before.maxIndexJumpPpm) return "maxIndexJump";
  if (after.tiers.length > before.tiers.length) return "tiers";
  const isLooser = after.tiers.some((tier, i) => {
    const old = before.tiers[i]!;
    return (
      tier.upToMicros > old.upToMicros ||
      tier.maxLeverage > old.maxLeverage ||
      tier.maintenancePpm < old.maintenancePpm
    );
  });
  return isLooser ? "tiers" : null;
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
  if (!isCount(market.minNotionalMicros)) return "minNotionalMicros: not a safe integer ≥ 0";
  if (!isCount(market.maxOpenInterestMicros) || market.maxOpenInterestMicros < 1) {
    return "maxOpenInterestMicros must be ≥ 1";
  }
  if (!isCount(market.maxIndexJumpPpm) || market.maxIndexJumpPpm < 1) {
    return "maxIndexJumpPpm must be ≥ 1";
  }
  return null;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
