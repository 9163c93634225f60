/**
 * "The largest work units of one command and of one tick hold under a search that tries to maximise them."
 * Here with small limits and accounts, so that a venue is built in milliseconds; `npm test -- --long work`
 * has many searches, and `npm run bench -- work` the real limits, and time. PERPGATE_WORK_SEEDS=n sets their number.
 */
import { describe, expect, test } from "vitest";
import { RULE_SETS } from "../../versions.js";
import { unitsOf } from "./limits.js";
import { type Goal, search } from "./search.js";
import type { Trial } from "./world.js";

const SEEDS = Number(process.env.PERPGATE_WORK_SEEDS ?? 2);
const MAKERS = 40;
const ORDERS = 20;
const UNITS = 4 * MAKERS;
/** A maker, and each order of both accounts, which gets another cover and ends. */
const TURN = 4 + 3 * 2 * ORDERS;
/** An order that is canceled or triggered, with what follows from it. */
const CANCEL = 4 + 3 * ORDERS;
/** A liquidation that was begun: it cancels all orders of its account, and meets one maker. */
const LIQUIDATION = 8 + ORDERS * CANCEL + TURN;

const MARKETS = 3;
/** Less than the markets have together, so that both bounds of a tick are met. */
const UNITS_PER_TICK = 2 * UNITS;

const SIZE = {
  ruleSets: RULE_SETS.map((rules) => ({
    ...rules,
    ...unitsOf(MAKERS),
    unitsPerTick: UNITS_PER_TICK,
  })),
  maxOpenOrders: ORDERS,
  accounts: 12,
  markets: MARKETS,
  random: 25,
  steps: 25,
};

/** The most that a command may take, with the units for makers that are over. */
function boundOf({ name, isUndone, units, inMarkets }: Trial): number {
  if (isUndone) return UNITS + 2 * TURN;
  if (name === "batch") return 2 * UNITS + 2 * TURN + 50 * CANCEL;
  if (name === "amendment") return 2 * UNITS + TURN + CANCEL;
  if (name === "cancel-all") return MARKETS * ORDERS * CANCEL;
  if (!name.startsWith("tick")) return 2 * UNITS + TURN;
  // Orders that are over end in turns, before anything else and whatever is left.
  const ended = units - inMarkets.reduce((sum, each) => sum + each, 0);
  return Math.max(UNITS_PER_TICK, ended) + UNITS + LIQUIDATION;
}

const GOALS: Readonly<Record<string, Goal>> = {
  "a command": (trials) => most(trials, ({ name }) => !name.startsWith("tick")),
  "a tick": (trials) => most(trials, ({ name }) => name.startsWith("tick")),
  "what is nearest to its bound": (trials) =>
    Math.max(...trials.map((trial) => trial.units / boundOf(trial))),
};

function most(trials: readonly Trial[], isMeant: (trial: Trial) => boolean): number {
  return Math.max(...trials.filter(isMeant).map(({ units }) => units));
}

describe("units stay within their bounds, whatever maximises them", () => {
  for (const [name, goal] of Object.entries(GOALS)) {
    test(`${name}, ${SEEDS} searches`, () => {
      const highest = new Map<string, number>();
      let inMarket = 0;
      let inOthers = 0;
      for (let seed = 1; seed <= SEEDS; seed++) {
        search(seed, SIZE, goal, (trials, shape) => {
          for (const trial of trials) {
            const what = `seed ${seed}, ${trial.name}, ${JSON.stringify(shape)}`;
            expect(trial.units, what).toBeLessThanOrEqual(boundOf(trial));
            if (trial.name.startsWith("tick")) {
              const [most = 0, ...others] = [...trial.inMarkets].sort((a, b) => b - a);
              expect(most, what).toBeLessThanOrEqual(UNITS + LIQUIDATION);
              inMarket = Math.max(inMarket, most);
              inOthers = Math.max(inOthers, ...others);
            }
            highest.set(trial.name, Math.max(highest.get(trial.name) ?? 0, trial.units));
          }
        });
      }
      // The search finds commands that their units end, not only small ones.
      expect(highest.get("undone")).toBeGreaterThanOrEqual(UNITS);
      expect(highest.get("limit order")).toBeGreaterThanOrEqual(UNITS);
      expect(highest.get("tick 0")).toBeGreaterThanOrEqual(UNITS_PER_TICK);
      expect(inMarket).toBeGreaterThanOrEqual(UNITS);
      expect(inOthers).toBeGreaterThanOrEqual(UNITS / 2);
    });
  }
});
