/**
 * Random flows as intents: plain data that says what each party wants, drawn from a seed alone. The
 * driver turns them into commands by the state it finds, so a list stays meaningful when some of it
 * is left out, and a failure can be shrunk.
 */
import { Random } from "@perpgate/protocol/random";
import type { MarketAction } from "../../commands.js";
import type { CohortStage } from "../../config.js";
import { MARKETS, TRADERS } from "./listing.js";
import {
  type Amendment,
  amendmentOf,
  type ExitWish,
  exitsOf,
  marginOf,
  type Terms,
  termsOf,
} from "./term-intents.js";

export type Kind = "market" | "limit" | "stop";

export type Intent =
  | {
      readonly act: "order";
      readonly who: number;
      readonly market: number;
      readonly side: 1 | -1;
      readonly type: Kind;
      /** Part of the wallet taken as margin, in thousandths; may exceed it. */
      readonly wallet: number;
      readonly leverage: number;
      /** Price against the mark, in ppm, away from the mark when positive. */
      readonly offset: number;
      readonly reduceOnly: boolean;
      readonly postOnly: boolean;
      readonly session: number;
      readonly terms?: Terms | undefined;
      readonly exits?: ExitWish | undefined;
    }
  /** An order against the own position, of `size` thousandths of it. */
  | {
      readonly act: "exit";
      readonly who: number;
      readonly market: number;
      readonly type: Kind;
      readonly size: number;
      readonly leverage: number;
      readonly offset: number;
      readonly reduceOnly: boolean;
      readonly session: number;
    }
  | {
      readonly act: "quote";
      readonly who: number;
      readonly market: number;
      readonly spread: number;
      readonly levels: number;
      readonly micros: number;
    }
  /** A stop, or with a negative offset a take-profit, that closes the position. */
  | {
      readonly act: "protect";
      readonly who: number;
      readonly market: number;
      readonly offset: number;
      readonly session: number;
    }
  | ({ readonly act: "amend"; readonly who: number; readonly session: number } & Amendment)
  | {
      readonly act: "margin";
      readonly who: number;
      readonly market: number;
      /** In thousandths, of the wallet if positive, else of the margin. */
      readonly part: number;
    }
  | {
      readonly act: "batch";
      readonly who: number;
      readonly session: number;
      readonly operations: readonly BatchOperation[];
    }
  /** Many open on one side with much leverage, some with a stop; then the price moves against them. */
  | {
      readonly act: "crowd";
      readonly market: number;
      readonly side: 1 | -1;
      /** Notional of each trader's order. */
      readonly micros: readonly number[];
      readonly ppm: number;
    }
  | { readonly act: "cancel"; readonly who: number; readonly nth: number }
  | { readonly act: "cancelAll"; readonly who: number }
  | {
      readonly act: "signIn";
      readonly who: number;
      readonly maxOrder: number;
      readonly maxNotional: number;
    }
  | { readonly act: "deposit"; readonly who: number; readonly micros: number }
  | { readonly act: "cohort"; readonly stage: CohortStage; readonly allowed: number }
  | {
      readonly act: "control";
      readonly market: number;
      readonly action: MarketAction;
      readonly ppm: number;
    }
  /** The true price moves; the feed reports it from then on. */
  | { readonly act: "move"; readonly market: number; readonly ppm: number }
  | { readonly act: "feed"; readonly market: number; readonly isOn: boolean }
  | { readonly act: "ticks"; readonly count: number }
  | { readonly act: "resume"; readonly ms: number }
  | { readonly act: "hour" }
  | { readonly act: "restore" };

/** All of one account. */
export type BatchOperation = Extract<Intent, { act: "order" | "amend" | "cancel" }>;

const WEIGHTS = {
  order: 36,
  protect: 4,
  amend: 9,
  margin: 4,
  batch: 4,
  exit: 14,
  quote: 14,
  cancel: 4,
  cancelAll: 1,
  signIn: 2,
  deposit: 2,
  cohort: 2,
  control: 1.2,
  move: 10,
  feed: 3,
  ticks: 14,
  resume: 0.4,
  hour: 0.8,
  restore: 1.5,
  crowd: 0,
};

/** What keeps orders out. */
const RARE = { cancelAll: 0.2, cohort: 0.3, control: 0.4, feed: 0.5, resume: 0.2 };

/** How often each act comes, and how many ticks follow each other. */
interface Weather {
  readonly weights: Readonly<Record<keyof typeof WEIGHTS, number>>;
  readonly ticks: readonly number[];
}

const PLAIN: Weather = { weights: WEIGHTS, ticks: [1, 1, 1, 2, 5, 15, 60] };

/** With crowds and few ticks: more is due than a small limit serves. */
const HURRIED: Weather = {
  weights: { ...WEIGHTS, ...RARE, quote: 24, crowd: 4 },
  ticks: [1, 1, 1, 2, 15],
};

const DOLLAR = 1_000_000;

export function intentsOf(seed: number, count: number): Intent[] {
  return drawn(seed, count, PLAIN);
}

/** Intents that leave work over, if a tick may not do much. */
export function hurriedIntentsOf(seed: number, count: number): Intent[] {
  return drawn(seed, count, HURRIED);
}

function drawn(seed: number, count: number, weather: Weather): Intent[] {
  const random = new Random(seed, "rules");
  return Array.from({ length: count }, () => intent(random, weather));
}

function intent(r: Random, weather: Weather): Intent {
  const act = r.weighted(weather.weights);
  const who = r.below(TRADERS);
  const market = r.below(MARKETS);
  switch (act) {
    case "order":
      return order(r, who, market);
    case "exit":
      return exit(r, who, market);
    case "quote": {
      const spread = r.pick([200, 1_000, 5_000, 20_000]);
      const micros = Math.round(r.logNormal(60, 1) * DOLLAR);
      return { act, who: r.below(3), market, spread, levels: r.int(1, 4), micros };
    }
    case "protect": {
      const offset = r.pick([-40_000, -3_000, 3_000, 3_000, 20_000, 60_000]);
      return { act, who, market, offset, session: r.below(3) };
    }
    case "amend":
      return { act, who, session: r.below(3), ...amendmentOf(r) };
    case "margin":
      return { act, market, ...marginOf(r) };
    case "batch": {
      const operations = Array.from({ length: r.int(1, 5) }, () => operation(r, who, market));
      return { act, who, session: r.below(3), operations };
    }
    case "crowd": {
      const side = r.below(2) === 0 ? 1 : -1;
      const micros = Array.from({ length: TRADERS - 2 }, () => r.int(5, 60) * DOLLAR);
      return { act, market, side, micros, ppm: -side * r.int(12_000, 45_000) };
    }
    case "cancel":
      return { act, who, nth: r.below(6) };
    case "cancelAll":
      return { act, who };
    case "signIn": {
      const cap = (): number => (r.below(2) === 0 ? 0 : r.int(1, 3_000) * DOLLAR);
      return { act, who, maxOrder: cap(), maxNotional: cap() };
    }
    case "deposit":
      return { act, who, micros: r.pick([1, 999, DOLLAR, 50 * DOLLAR, 500 * DOLLAR]) };
    case "cohort":
      return {
        act,
        stage: r.pick(["closed", "allowlist", "open", "open", "open", "open"] as const),
        allowed: r.below(1 << TRADERS),
      };
    case "control": {
      const action = r.weighted({ reduceOnly: 3, halt: 1, resume: 14, settle: 0.2 });
      return { act, market, action, ppm: r.int(-300_000, 300_000) };
    }
    case "move":
      return { act, market, ppm: moveOf(r) };
    case "feed":
      return { act, market, isOn: r.below(6) > 0 };
    case "ticks":
      return { act, count: r.pick(weather.ticks) };
    case "resume":
      return { act, ms: r.pick([200, 5_000, 60_000, 7_200_000]) };
    case "hour":
    case "restore":
      return { act };
  }
}

/** Mostly small; one in eight is a gap of up to ±60 %. */
function moveOf(r: Random): number {
  const sign = r.below(2) === 0 ? 1 : -1;
  const size = r.below(8) === 0 ? r.int(50_000, 600_000) : Math.round(r.logNormal(5_000, 1));
  return sign * Math.min(600_000, size);
}

function operation(r: Random, who: number, market: number): BatchOperation {
  const act = r.pick(["order", "order", "amend", "cancel"] as const);
  if (act === "order") return order(r, who, market);
  if (act === "cancel") return { act, who, nth: r.below(6) };
  return { act, who, session: 0, ...amendmentOf(r) };
}

function order(r: Random, who: number, market: number): Extract<Intent, { act: "order" }> {
  const type = r.pick(["market", "market", "limit", "limit", "limit", "stop"] as const);
  return {
    act: "order",
    who,
    market,
    side: r.below(2) === 0 ? 1 : -1,
    type,
    wallet: r.pick([1, 20, 100, 300, 500, 900, 990, 1_000, 2_000]),
    leverage: r.pick([1, 2, 5, 10, 20, 25, 50]),
    offset: r.pick([-60_000, -20_000, -3_000, 0, 500, 3_000, 20_000, 200_000]),
    reduceOnly: r.below(8) === 0,
    postOnly: type === "limit" && r.below(8) === 0,
    session: r.below(3),
    terms: r.below(2) === 0 ? termsOf(r, type) : undefined,
    exits: type !== "stop" && r.below(3) === 0 ? exitsOf(r) : undefined,
  };
}

function exit(r: Random, who: number, market: number): Intent {
  return {
    act: "exit",
    who,
    market,
    type: r.pick(["market", "market", "limit", "limit", "stop"] as const),
    size: r.pick([1, 300, 1_000, 1_000, 1_000, 1_100, 2_000]),
    leverage: r.pick([1, 5, 10, 20]),
    offset: r.pick([-20_000, -3_000, 0, 500, 3_000, 20_000]),
    reduceOnly: r.below(3) === 0,
    session: r.below(3),
  };
}
