/**
 * Kinds of weather. A profile is a venue and the chances of what happens in it; each is there to
 * reach rules that the others hardly touch.
 */
import type { VenueConfig } from "../../config.js";
import {
  BTC,
  DUST_MARKET,
  ETH,
  FEW_TICKS,
  type Listed,
  SMALL_BNB,
  SMALL_BTC,
  SOLANA,
  USD,
  venueConfig,
} from "./listing.js";

export interface Profile {
  readonly config: VenueConfig;
  readonly startIndex: readonly number[];
  readonly traders: number;
  /** Gateways that write the log. */
  readonly gateways: number;
  /** Commands between two ticks, at most. */
  readonly busy: number;
  /** Standard step of the index, in ppm per update. */
  readonly stepPpm: number;
  /** Chances per slot. */
  readonly crash: number;
  readonly silence: number;
  readonly resume: number;
  readonly stopCluster: number;
  /** Chance per slot that traders enter with stop-losses and take-profits of the whole position. */
  readonly protection: number;
  /** Chance per slot of a session whose caps its orders just meet. */
  readonly caps: number;
  readonly herd: number;
  readonly blackout: number;
  readonly wall: number;
  readonly cohort: number;
  readonly configure: number;
  /** Chance per slot of a market control. */
  readonly controls: number;
  /** Chance per slot that someone meets their own quote with the money for one lot. */
  readonly ownQuote: number;
  /** Chance that a session has caps and a scope, and that it is short-lived. */
  readonly capped: number;
  /** Chance that an order is deliberately wrong in some field. */
  readonly wrong: number;
}

type Money = Parameters<typeof venueConfig>[1];

const DEFAULT_MONEY: Money = {
  fund: 1_000_000 * USD,
  cap: 5_000_000 * USD,
  credit: 10_000 * USD,
  maxOpenOrders: 12,
};

const CALM = {
  traders: 40,
  gateways: 3,
  busy: 12,
  stepPpm: 150,
  crash: 0.002,
  silence: 0.001,
  resume: 0.002,
  stopCluster: 0,
  protection: 0.003,
  caps: 0.004,
  herd: 0,
  blackout: 0,
  wall: 0,
  cohort: 0.002,
  configure: 0,
  controls: 0,
  ownQuote: 0,
  capped: 0.2,
  wrong: 0.05,
};

function profile(
  listed: readonly Listed[],
  money: Partial<Money>,
  weather: Partial<typeof CALM>,
): Profile {
  return {
    ...CALM,
    ...weather,
    config: venueConfig(listed, { ...DEFAULT_MONEY, ...money }),
    startIndex: listed.map((each) => each.startIndex),
  };
}

const DEFAULTS = [BTC, ETH, SOLANA, DUST_MARKET];
const SMALLS = [SMALL_BTC, SMALL_BNB, DUST_MARKET];

export const PROFILES = {
  /** The default listing on a quiet day. */
  calm: profile(DEFAULTS, { maxOpenOrders: 500 }, { gateways: 1 }),
  /** Crashes of 2 to 30 %, with a fund that can take them. */
  cascade: profile([SMALL_BTC, ETH, SMALL_BNB], {}, { crash: 0.06, stepPpm: 800 }),
  /** Money of a few micros: every rounding counts. */
  dust: profile(
    [DUST_MARKET, FEW_TICKS],
    { fund: 5_000, cap: 30_000, credit: 300_000 },
    { traders: 24, gateways: 2, crash: 0.03, stepPpm: 8_000, resume: 0.05 },
  ),
  /** Accounts of a few hundred micros and positions of a few lots. */
  micro: profile(
    [FEW_TICKS, DUST_MARKET],
    { fund: 50, cap: 800, credit: 600 },
    { crash: 0.04, stepPpm: 6_000, resume: 0.01, traders: 16 },
  ),
  /** A fund and a cap that are soon used up: deleveraging and socialised losses. */
  thinFund: profile(
    SMALLS,
    { fund: 60 * USD, cap: 3_000 * USD },
    { crash: 0.07, stepPpm: 600, resume: 0.01 },
  ),
  /** Feeds that fall silent, and long pauses. */
  staleIndex: profile(
    [SMALL_BTC, SOLANA, DUST_MARKET],
    {},
    { silence: 0.03, crash: 0.02, resume: 0.03, busy: 6, gateways: 4 },
  ),
  /** Clusters of more stops than one tick may trigger. */
  stops: profile(
    [SMALL_BTC, ETH],
    { maxOpenOrders: 40 },
    { stopCluster: 0.02, crash: 0.01, traders: 30, gateways: 1 },
  ),
  /** Stop-losses and take-profits of whole positions, through crashes that deleverage. */
  exits: profile(
    [SMALL_BTC, ETH, DUST_MARKET],
    { fund: 60 * USD, cap: 3_000 * USD, maxOpenOrders: 16 },
    { protection: 0.15, crash: 0.03, traders: 20, silence: 0.005 },
  ),
  /** Accounts large enough for every tier, and a venue whose parameters change. */
  whales: profile(
    DEFAULTS,
    { credit: 1_500_000 * USD, maxOpenOrders: 20 },
    { crash: 0.05, stepPpm: 500, configure: 0.01, traders: 20, gateways: 4 },
  ),
  /** Sessions with caps and scopes, cohorts, rotation, expiry, and much that is refused. */
  gate: profile(
    SMALLS,
    { maxOpenOrders: 4 },
    { capped: 0.8, wrong: 0.25, cohort: 0.03, configure: 0.01, traders: 16, protection: 0 },
  ),
  /** Markets that an operator makes reduce-only, halts, resumes and, one by one, settles. */
  controls: profile(
    [SMALL_BTC, SMALL_BNB, ETH, SOLANA, DUST_MARKET, FEW_TICKS],
    { maxOpenOrders: 12, fund: 400 * USD, cap: 20_000 * USD },
    { controls: 0.03, crash: 0.02, stepPpm: 700, traders: 12, configure: 0.01, protection: 0 },
  ),
  /** Three traders who send so much that their nonce windows overflow, often to each other. */
  few: profile(
    [ETH, DUST_MARKET],
    {},
    { traders: 3, capped: 0, stepPpm: 300, crash: 0.01, ownQuote: 0.03 },
  ),
  /**
   * Hundreds of small longs against a few large shorts: more liquidations than one tick may do; and
   * more orders of lost connections than one command may cancel.
   */
  herd: profile(
    [SMALL_BTC, DUST_MARKET],
    { maxOpenOrders: 6 },
    {
      traders: 420,
      gateways: 1,
      herd: 0.05,
      blackout: 0.012,
      crash: 0.005,
      busy: 20,
      resume: 0.01,
      capped: 0,
      cohort: 0,
    },
  ),
  /** Walls of more one-lot orders than one command may meet. */
  walls: profile(
    [SMALL_BTC, ETH],
    { maxOpenOrders: 480 },
    { traders: 8, gateways: 1, wall: 0.1, capped: 0, cohort: 0, protection: 0, caps: 0 },
  ),
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof PROFILES;
