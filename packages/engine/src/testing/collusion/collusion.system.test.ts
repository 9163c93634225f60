/**
 * A randomised adversary against the insurance fund: accomplices alone in a venue, at any leverage,
 * at any price within the band.
 *
 * Fixed index: at no moment is the fund, with the backstop's position at the index, below its seed.
 * All money adds up, so that says the same as: the accomplices never have more than they put in,
 * less fees. It holds because a position is liquidated at maintenance M, its bankruptcy price is
 * M beyond the mark, the mark is within M/2 of the index, and an hour's funding takes at most
 * another M/2 before the position is looked at again: the backstop never pays more than the index,
 * and never sells below both the index and what it paid.
 *
 * PERPGATE_RING=world:seed reruns one; PERPGATE_RINGS=n tries n seeds.
 */
import { describe, expect, test } from "vitest";
import { type Manners, tryRings } from "./fixed-index.js";
import { Reached } from "./reached.js";
import { WORLDS } from "./worlds.js";

const SEEDS = Number(process.env.PERPGATE_RINGS ?? 40);

const MODES: readonly [string, Manners][] = [
  ["no funding", { hours: false, pauses: false, outages: false }],
  ["no funding, pauses", { hours: false, pauses: true, outages: false }],
  ["funding hours", { hours: true, pauses: true, outages: false }],
];

describe("a fixed index: no ring ends with more than it put in, the fund is never below its seed", () => {
  const all = new Reached();
  for (const where of WORLDS) {
    for (const [how, manners] of MODES) {
      test(`${where.name}, ${how}: seeds 1 to ${SEEDS}`, () => {
        const reached = tryRings(where, manners, SEEDS);
        if (process.env.PERPGATE_RING !== undefined) return;
        console.log(`${where.name}, ${how}: ${reached}`);
        all.merge(reached);
        expect(reached.missing("order"), `${reached}`).toEqual([]);
        // Without funding the width of the mark alone hardly reaches a position.
        if (manners.hours) expect(reached.missing("funding", "backstop")).toEqual([]);
      });
    }
  }

  test("an adversary that gets nobody liquidated proves nothing: they reached every way out", () => {
    if (process.env.PERPGATE_RING !== undefined) return;
    const ways = ["order", "funding", "liquidation", "backstop", "reduction", "adl"];
    expect(all.missing(...ways), `${all}`).toEqual([]);
  });
});
