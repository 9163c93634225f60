/**
 * One ring in a venue with a constant index. Fails, naming the ring, as soon as the fund with the
 * backstop's position at the index is below its seed, or the members end with more than they put in.
 * The backstop pays and receives funding like any position, so that is left out on both sides; the
 * fund's budget bounds it (gaps.test.ts).
 */

import { Random } from "@perpgate/protocol/random";
import { expect } from "vitest";
import { audit } from "../../audit.js";
import { Reached } from "./reached.js";
import { Ring, type RingTerms } from "./ring.js";
import { conspire, type Habits, STILL } from "./schemes.js";
import type { World } from "./worlds.js";

const STEPS = 40;

export type Manners = Pick<Habits, "hours" | "pauses" | "outages">;

/** Runs seeds 1 to `seeds`, or the one that PERPGATE_RING=world:seed names. */
export function tryRings(where: World, manners: Manners, seeds: number): Reached {
  const reached = new Reached();
  const [name, only] = process.env.PERPGATE_RING?.split(":") ?? [];
  if (name === where.name) tryRing(where, Number(only), manners, reached);
  if (name !== undefined) return reached;
  for (let seed = 1; seed <= seeds; seed++) tryRing(where, seed, manners, reached);
  return reached;
}

function tryRing(where: World, seed: number, habits: Manners, reached: Reached): void {
  const random = new Random(seed, where.name);
  const terms: RingTerms = {
    ...where,
    members: random.int(2, 4),
    capMicros: random.pick([where.capMicros, where.capMicros, 0, Math.floor(where.seedMicros / 3)]),
  };
  const name = `${where.name}:${seed}`;
  const ring = new Ring(terms, (self, command, events) => {
    reached.observe(events);
    const fund = self.fundAtIndex() + self.backstopFunding;
    if (fund >= terms.seedMicros) return;
    const last = self.story.slice(-12).map((each) => JSON.stringify(each));
    expect.fail(
      `ring ${name}: ${command.kind} at ${self.engine.seq} leaves the fund ` +
        `${terms.seedMicros - fund} micros below its seed\n${last.join("\n")}`,
    );
  });
  conspire(ring, random, { ...habits, ...STILL }, STEPS);
  const { state } = ring.engine;
  const deposits = terms.members * terms.depositMicros + Math.max(0, ring.backstopFunding);
  expect(audit(ring.engine), name).toEqual([]);
  expect(ring.membersAtIndex() + state.totals.fees, name).toBeLessThanOrEqual(deposits);
}
