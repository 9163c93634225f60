/**
 * The rules of the interface, checked on random flows by arithmetic of their own: nothing here is
 * taken from the engine's rules, its model or its documents, which could share a mistake. Each test
 * is one rule. A failure prints its seed and the shortest list of commands that was found.
 *
 * `PERPGATE_RULE_SEEDS=200` runs more seeds, `PERPGATE_RULE_SEED=7` begins with that one.
 */
import { describe, expect, test } from "vitest";
import { Engine } from "../../engine.js";
import { sha256 } from "../replay/recording.js";
import { SoleWriter } from "../sole-writer.js";
import { EXIT_CHECKS } from "./exit-checks.js";
import { hurriedIntentsOf, type Intent, intentsOf } from "./intents.js";
import { LIMITS, TIGHT_LIMITS, type WorkLimits } from "./limits.js";
import { MONEY_CHECKS } from "./money-checks.js";
import { OPENING_CHECKS } from "./opening-checks.js";
import { ORDER_CHECKS } from "./order-checks.js";
import { RISK_CHECKS } from "./risk-checks.js";
import { type Outcome, report, runIntents } from "./run.js";
import { SERVICE_CHECKS } from "./service-checks.js";
import { TERM_CHECKS } from "./term-checks.js";

const SEEDS = Number(process.env.PERPGATE_RULE_SEEDS ?? 8);
const FIRST_SEED = Number(process.env.PERPGATE_RULE_SEED ?? 1);
const INTENTS = 500;
const CHECKS = [
  ...OPENING_CHECKS,
  ...MONEY_CHECKS,
  ...RISK_CHECKS,
  ...ORDER_CHECKS,
  ...EXIT_CHECKS,
  ...TERM_CHECKS,
  ...SERVICE_CHECKS,
];

interface Results {
  /** The first seed that failed each rule. */
  readonly failed: ReadonlyMap<string, number>;
  readonly reached: ReadonlyMap<string, number>;
  readonly first: Outcome;
}

/** The flows of some seeds under the limits. */
function runSeeds({ limits, seeds, flow }: Run): Results {
  const failed = new Map<string, number>();
  const reached = new Map<string, number>();
  let first: Outcome | undefined;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
    const outcome = runIntents(flow(seed), CHECKS, { limits });
    first ??= outcome;
    for (const rule of outcome.failures.keys()) if (!failed.has(rule)) failed.set(rule, seed);
    for (const [name, count] of outcome.reached)
      reached.set(name, (reached.get(name) ?? 0) + count);
  }
  return { failed, reached, first: first! };
}

function onceOnly<T>(compute: () => T): () => T {
  let value: T | undefined;
  return () => {
    value ??= compute();
    return value;
  };
}

interface Run {
  readonly limits: WorkLimits;
  readonly seeds: number;
  flow(seed: number): Intent[];
  /** With this many seeds or more, the flows must reach these. */
  readonly leastSeeds: number;
  readonly mustReach: readonly string[];
}

function describeRules(title: string, run: Run): void {
  const { limits, seeds, leastSeeds, flow, mustReach } = run;
  describe(title, () => {
    /** Runs the flows in the first test that asks. */
    const results = onceOnly(() => runSeeds(run));

    test("no rule is broken", { timeout: 3_600_000 }, () => {
      expect([...results().failed].map(([rule, seed]) => `seed ${seed}: ${rule}`)).toEqual([]);
    });

    for (const check of CHECKS) {
      test(check.rule, () => {
        const seed = results().failed.get(check.rule);
        if (seed !== undefined) expect.fail(report(seed, flow(seed), check, limits));
      });
    }

    test("the same commands give the same state, also from any snapshot", () => {
      const { commands, engine } = results().first;
      const plain = Engine.knowing(limits.ruleSets);
      let restored = Engine.knowing(limits.ruleSets);
      const writer = new SoleWriter();
      commands.forEach((command, i) => {
        writer.sends(plain, command);
        writer.repeats(restored, command);
        plain.apply(command);
        restored.apply(command);
        if (i % 97 !== 0) return;
        restored = Engine.restore(plain.snapshot(), limits.ruleSets);
        expect(restored.stateHash(sha256), `command ${i + 1}`).toBe(plain.stateHash(sha256));
      });
      expect(plain.stateHash(sha256)).toBe(engine.stateHash(sha256));
      expect(restored.stateHash(sha256)).toBe(engine.stateHash(sha256));
    });

    // Few seeds cannot.
    if (seeds < leastSeeds) return;
    test("the flows reach what the rules are about", () => {
      const missing = mustReach.filter((name) => (results().reached.get(name) ?? 0) === 0);
      expect(missing).toEqual([]);
    });
  });
}

const REACHED = [
  "traded: order",
  "traded: liquidation",
  "traded: backstop",
  "traded: adl",
  "Liquidated",
  "StopTriggered",
  "FundingApplied",
  "IndexHeld",
  "MarketStatusChanged",
  "OrderRested",
  "ended: unfunded",
  "ended: self_trade",
  "ended: reduce_only",
  "ended: liquidation",
  "ended: band",
  "ended: expired",
  "ended: position_closed",
  "ended: requested",
  "OrderReduced",
  "ExitSized",
  "ended: order_ended",
  "refused: exit_price",
  "done: AmendOrder",
  "done: CancelOrder",
  "margin: added",
  "margin: removed",
  "batch: PlaceOrder",
  "batch: AmendOrder",
  "batch: CancelOrder",
  ...["size", "ioc", "fok", "expiresAt", "clientOrderId", "limitPrice"].map((n) => `term: ${n}`),
  ...["takeProfit", "closePosition", "selfTrade"].map((name) => `term: ${name}`),
  "refused: client_order_id_in_use",
  "refused: close_position_in_use",
  "refused: limit_price_outside_band",
  "refused: margin_needed",
  "refused: margin_too_small",
  "refused: not_in_cohort",
  "refused: order_not_amendable",
  "refused: stale_index",
  "refused: insufficient_margin",
  "refused: session_order_cap_exceeded",
  "refused: session_notional_cap_exceeded",
  "refused: leverage_above_tier",
  "refused: position_limit",
  "refused: market_reduce_only",
  "refused: index_held",
  "refused: notional_too_small",
  "acknowledged: open_interest_limit",
  "takeover at a loss",
];

const LIMIT_REACHED = [
  "carried over: liquidation",
  "carried over: stop",
  "restored while carried over",
  "acknowledged: fill_limit",
  "Liquidated",
  "StopTriggered",
  "traded: adl",
];

describeRules("rules of the interface on random flows", {
  limits: LIMITS,
  seeds: SEEDS,
  flow: (seed) => intentsOf(seed, INTENTS),
  leastSeeds: 8,
  mustReach: REACHED,
});

describeRules("rules of the interface where almost every tick leaves work over", {
  limits: TIGHT_LIMITS,
  seeds: Math.ceil(SEEDS / 2),
  flow: (seed) => hurriedIntentsOf(seed, INTENTS),
  leastSeeds: 4,
  mustReach: LIMIT_REACHED,
});
