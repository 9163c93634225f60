/**
 * The tests that `npm run test:mutants` runs against each mutant of the engine: first those that
 * take a second or two together, then, for what survived them, all that check rules.
 */
import { defineConfig } from "vitest/config";

const FOLDER = "packages/engine/src/testing";
const FAST = ["scenarios", "found", "incidents"].map((name) => `${FOLDER}/${name}/**/*.test.ts`);
const SLOW = [
  ...["rules", "replay", "rounding", "properties", "faults", "collusion", "versions"].map(
    (name) => `${FOLDER}/${name}/**/*.test.ts`,
  ),
  `${FOLDER}/agreement.test.ts`,
];

export default defineConfig({
  resolve: { conditions: ["perpgate-source"] },
  ssr: { resolve: { conditions: ["perpgate-source"] } },
  test: {
    include: process.env.PERPGATE_MUTANT_TESTS === "slow" ? SLOW : FAST,
    isolate: false,
    testTimeout: 180_000,
  },
});
