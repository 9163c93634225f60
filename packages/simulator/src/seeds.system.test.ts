import { expect, test } from "vitest";
import { World } from "./world.js";

/** How many worlds, and from which seed on; `npm test -- --long simulator` runs more of them. */
const SEEDS = Number(process.env.PERPGATE_SIMULATOR_SEEDS ?? 100);
const FIRST_SEED = Number(process.env.PERPGATE_SIMULATOR_FIRST_SEED ?? 1);

test(`worlds of seeds ${FIRST_SEED} to ${FIRST_SEED + SEEDS - 1}: every promise is kept`, {
  timeout: 60_000 + SEEDS * 1_000,
}, async () => {
  const total = { recoveries: 0, deliveries: 0, acknowledged: 0, lost: 0 };
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    const world = new World(seed);
    try {
      await world.run(seed % 10 === 0 ? 6 : 1 + (seed % 3));
    } catch (cause) {
      const again = `PERPGATE_SIMULATOR_FIRST_SEED=${seed} PERPGATE_SIMULATOR_SEEDS=1`;
      throw new Error(`seed ${seed}; again: ${again} npm test -- --long simulator`, { cause });
    }
    const { counts } = world.auditor;
    total.recoveries += counts.recoveries;
    total.deliveries += counts.deliveries;
    total.acknowledged += counts.acknowledged;
    total.lost += counts.lost;
  }
  console.log(`${SEEDS} worlds: ${JSON.stringify(total)}`);
  expect(total.recoveries).toBeGreaterThanOrEqual(2 * SEEDS);
});
