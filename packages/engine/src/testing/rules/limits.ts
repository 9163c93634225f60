/** How much work a command may do. Flows reach the figures of the page never, and the tight ones often. */
import { RULE_SETS, type RuleSet } from "../../versions.js";
import { UNITS_PER_MAKER } from "../../work.js";

export interface WorkLimits {
  /** Makers that a command meets, canceled ones included. */
  readonly makers: number;
  /** Liquidations that a command serves, and stops in each market. */
  readonly served: number;
  /** What an engine knows that has these limits. */
  readonly ruleSets: readonly RuleSet[];
}

export const LIMITS: WorkLimits = { makers: 2_000, served: 256, ruleSets: RULE_SETS };

export const TIGHT_LIMITS: WorkLimits = tight(3, 2);

/** The work units of that many makers, for a command and for a tick. */
export function unitsOf(makers: number) {
  const units = UNITS_PER_MAKER * makers;
  return { unitsPerCommand: units, unitsPerTick: units, unitsPerTickAndMarket: units };
}

function tight(makers: number, served: number): WorkLimits {
  const limits = {
    ...unitsOf(makers),
    liquidationsAndStopsPerCommand: served,
    stopsPerTickAndMarket: served,
  };
  return { makers, served, ruleSets: RULE_SETS.map((rules) => ({ ...rules, ...limits })) };
}
