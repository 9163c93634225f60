/** Rings in a venue with a constant index that is stale at the end of some hours. */
import { expect, test } from "vitest";
import { tryRings } from "./fixed-index.js";
import { WORLDS } from "./worlds.js";

const SEEDS = Number(process.env.PERPGATE_RINGS ?? 40);

for (const where of WORLDS) {
  test(`a fixed index with outages, ${where.name}: seeds 1 to ${SEEDS}`, () => {
    const reached = tryRings(where, { hours: true, pauses: true, outages: true }, SEEDS);
    if (process.env.PERPGATE_RING !== undefined) return;
    expect(reached.missing("order", "funding", "backstop"), `${reached}`).toEqual([]);
  });
}
