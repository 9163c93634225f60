/**
 * Rings while the index moves. Then the fund can lose: it carries what the backstop took, and the
 * index may move against that; no rule can exclude it, and a ring that holds the other side gains as
 * much. What is asserted instead is that nothing else can make it lose. With steps of at most
 * 0.4 M between two ticks (M is the lowest maintenance, M/2 the room), in ticks without funding:
 *
 * - the backstop takes nothing at a price worse than the index of that moment,
 * - it gives nothing away at a price worse than both the index and what it paid,
 * - no loss is socialised.
 *
 * So the fund loses only by moves of the index while the backstop has a position. Whether the ring
 * knows the next step before it acts makes no difference to that; both are tried, and the fund's
 * outcome is printed for both.
 *
 * PERPGATE_RINGS=n tries n seeds.
 */

import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import { audit } from "../../audit.js";
import type { VenueEvent } from "../../events/event-table.js";
import { Reached } from "./reached.js";
import { Ring, type RingTerms } from "./ring.js";
import { conspire } from "./schemes.js";
import { WORLDS, type World } from "./worlds.js";

const SEEDS = Number(process.env.PERPGATE_RINGS ?? 20);
const STEPS = 40;

const HABITS = { hours: false, pauses: true, outages: false };

/** What the fund would have to complain about in these events, or null. */
function complaint(indexTicks: number, events: readonly VenueEvent[]): string | null {
  if (events.some((event) => event.kind === "FundingApplied" && event.rate !== 0)) return null;
  for (const event of events) {
    if (event.kind === "LossSocialised") return `${event.amountMicros} micros socialised`;
    if (event.kind !== "Traded" || event.tradeKind !== 2) continue;
    const { takerSide, priceTicks } = event;
    // The taker's gain against the index: a sale above it, a purchase below it.
    const better = takerSide * (indexTicks - priceTicks);
    const isReduction = event.takerAccount === 0;
    if (isReduction && better < 0 && event.takerPnlMicros < 0) {
      return `the backstop trades at ${priceTicks}, index ${indexTicks}, at a loss`;
    }
    if (!isReduction && better > 0)
      return `the backstop takes at ${priceTicks}, index ${indexTicks}`;
  }
  return null;
}

function tryMovingIndex(where: World, seed: number, knowsNext: boolean, reached: Reached): number {
  const random = new Random(seed, `${where.name} moving`);
  const terms: RingTerms = { ...where, members: random.int(2, 4) };
  const name = `${where.name}:${seed}`;
  const ring = new Ring(terms, (self, _command, events) => {
    reached.observe(events);
    const found = complaint(self.indexTicks, events);
    if (found !== null) expect.fail(`ring ${name} at ${self.engine.seq}: ${found}`);
  });
  // Millionths of the index.
  const largest = Math.floor(where.listing.config.tiers[0]!.maintenancePpm * 0.4);
  const draw = (): number => random.int(-largest, largest);
  let next = draw();
  const index = (self: Ring): void => {
    const move = Math.trunc((self.indexTicks * next) / 1e6);
    self.setsIndex(Math.max(1, self.indexTicks + move));
    self.tick();
    next = draw();
  };
  conspire(ring, random, { ...HABITS, index, nextStep: () => (knowsNext ? next : 0) }, STEPS);
  expect(audit(ring.engine), name).toEqual([]);
  return ring.fundAtIndex() - terms.seedMicros;
}

describe("a moving index: the fund loses only by moves of the index while it carries", () => {
  // In dust a tick is a whole percent: it has no steps of 0.4 %.
  for (const where of WORLDS.filter((each) => each.name !== "dust")) {
    for (const knowsNext of [false, true]) {
      const how = knowsNext ? "knowing the next step" : "not knowing it";
      test(`${where.name}, ${how}: seeds 1 to ${SEEDS}`, () => {
        const reached = new Reached();
        let change = 0;
        for (let seed = 1; seed <= SEEDS; seed++) {
          change += tryMovingIndex(where, seed, knowsNext, reached);
        }
        const mean = (change / SEEDS / where.seedMicros) * 100;
        console.log(`${where.name}, ${how}: fund ${mean.toFixed(3)} % of its seed; ${reached}`);
        expect(reached.missing("order", "backstop"), `${reached}`).toEqual([]);
      });
    }
  }
});
