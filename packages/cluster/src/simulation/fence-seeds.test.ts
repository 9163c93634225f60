import { expect, test } from "vitest";
import { FenceWorld, HANDOVER_MS, takeoverMs } from "./fence-world.js";

/** How many clusters, and from which seed on; `npm test -- --long fence` runs 100,000 of each. */
const SEEDS = Number(process.env.PERPGATE_FENCE_SEEDS ?? 60);
const FIRST_SEED = Number(process.env.PERPGATE_FENCE_FIRST_SEED ?? 1);
const MISFORTUNES = [
  "kill",
  "pause",
  "cut",
  "deaf",
  "mute",
  "elect",
  "clock",
  "stranger",
  "hand",
  "edges",
];

function runAll(seeds: number, restores: boolean): Record<string, number> {
  const total: Record<string, number> = {};
  for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
    const world = new FenceWorld(seed, { restores });
    try {
      world.run();
    } catch (cause) {
      throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
    const counts = { ...world.counts, refused: world.stream.refused };
    for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
  }
  console.log(`${seeds} clusters: ${JSON.stringify(total)}`);
  return total;
}

test(`clusters of seeds ${FIRST_SEED} to ${FIRST_SEED + SEEDS - 1}: one writer, each answer true`, {
  timeout: 60_000 + SEEDS * 2_000,
}, () => {
  const total = runAll(SEEDS, false);
  const rare = MISFORTUNES.filter((name) => (total[name] ?? 0) < SEEDS / 4);
  if (SEEDS >= 20) expect(rare, "happened too rarely").toEqual([]);
  for (const outcome of ["executed", "not_executed", "lost", "refused"]) {
    expect(total[outcome], outcome).toBeGreaterThan(SEEDS);
  }
});

const RESTORED = Math.ceil(SEEDS / 3);

test(`servers restored from an older copy and filled again, ${RESTORED} times: no core goes on in both histories`, {
  timeout: 60_000 + SEEDS * 2_000,
}, () => {
  expect(runAll(RESTORED, true).stopped).toBeGreaterThan(RESTORED / 5);
});

test.each(["killed", "stopped"] as const)(
  "the leader is %s: acknowledgements again within 3 s",
  (how) => {
    const times = Array.from({ length: 20 }, (_, index) => takeoverMs(FIRST_SEED + index, how));
    expect(Math.max(...times)).toBeLessThan(3_000);
  },
);

test("the leader hands over: no pause beyond a few heartbeats", () => {
  const times = Array.from({ length: 20 }, (_, index) =>
    takeoverMs(FIRST_SEED + index, "handed over"),
  );
  expect(Math.max(...times)).toBeLessThan(HANDOVER_MS);
});
