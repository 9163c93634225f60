import { expect, test } from "vitest";
import { RealLives } from "./real-lives.js";

/** How many folders, from which seed on, and lives of each; `npm test -- --long simulator` has more. */
const SEEDS = Number(process.env.PERPGATE_LIVES_SEEDS ?? 1);
const FIRST_SEED = Number(process.env.PERPGATE_LIVES_FIRST_SEED ?? 1);
const LIVES = Number(process.env.PERPGATE_LIVES ?? 4);

test.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))(
  "threads that die, clocks that jump at start, a log that loses its end, seed %i: every promise is kept",
  { timeout: 400_000 },
  async (seed) => {
    const lives = await RealLives.begin(seed);
    try {
      await lives.run(LIVES);
    } catch (cause) {
      const again = `PERPGATE_LIVES_FIRST_SEED=${seed} PERPGATE_LIVES_SEEDS=1`;
      throw new Error(`seed ${seed}; again: ${again} npm test -- --long simulator`, { cause });
    } finally {
      await lives.end();
    }
    console.log(`seed ${seed}: ${JSON.stringify(lives.counts)}`);
    expect(lives.counts.lives).toBeGreaterThanOrEqual(LIVES);
  },
);
