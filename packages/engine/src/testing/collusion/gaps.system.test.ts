/**
 * Gaps larger than maintenance, and rings that hold both sides: what they gain is bounded by the
 * fund's budget. PERPGATE_GAPS=n tries n worlds (`npm test -- --long collusion`: 10,000), PERPGATE_RING=
 * world:seed reruns one.
 */
import { expect, test } from "vitest";
import { newResult, tryGaps } from "./gaps.js";
import { WORLDS } from "./worlds.js";

const WANTED = Number(process.env.PERPGATE_GAPS ?? 300);
const SEEDS = Math.ceil(WANTED / WORLDS.length);

for (const [version, least] of [
  [2, 0.9],
  // What the backstop takes leaves room for a further move.
  [3, 0.7],
] as const) {
  const name = `version ${version}, ${SEEDS * WORLDS.length} rings with both sides of a gap: at most the budget of the hours`;
  test(name, { timeout: 3_600_000 }, () => {
    const [only, seed] = process.env.PERPGATE_RING?.split(":") ?? [];
    const result = newResult();
    for (const where of WORLDS) {
      if (only !== undefined && only !== where.name) continue;
      if (only !== undefined) tryGaps(where, Number(seed), version, result);
      else for (let at = 1; at <= SEEDS; at++) tryGaps(where, at, version, result);
    }
    const { worlds, strict, worstStrict, worstName, worstCarried, reached } = result;
    console.log(
      `version ${version}, ${worlds} worlds, ${strict} without a carried loss: worst gain ` +
        `${(worstStrict * 100).toFixed(2)} % of the budget (${worstName}); with one: ` +
        `${worstCarried.toFixed(1)} times it; ${reached}`,
    );
    if (only !== undefined) return;
    expect(reached.missing("order", "handed over", "backstop", "adl", "funding")).toEqual([]);
    // A search that comes nowhere near the bound would prove nothing.
    expect(worstStrict).toBeGreaterThan(least);
    // In version 2 almost fifty times. Gaps of up to 60 % are among them, three times the largest jump.
    if (version === 3) expect(worstCarried).toBeLessThan(2);
  });
}
