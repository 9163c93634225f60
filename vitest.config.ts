import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { currentBundle } from "./apps/perpgate/bin/bundle.js";

/** What takes longest, begun first: whatever is left for the end should be short. */
const LONGEST = [
  "apps/terminal/src/first-trade.test.ts",
  "apps/perpgate/src/serve/trading.test.ts",
  "apps/terminal/src/page.system.test.ts",
  "apps/terminal/src/page-quiet.system.test.ts",
  "apps/perpgate/src/cluster/outcomes.system.test.ts",
  "apps/perpgate/src/cluster/kills.system.test.ts",
  "apps/perpgate/src/serve/process.system.test.ts",
  "apps/perpgate/src/cluster/storage.system.test.ts",
  "packages/cluster/src/faults.system.test.ts",
  "scripts/release.system.test.mjs",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.indexOf(relative(this.ctx.config.root, moduleId));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

const FOLDERS = ["packages/*/{src,test}/**", "apps/*/{src,test}/**", "bench/src/**", "scripts"];
const TESTS = FOLDERS.map((folder) => `${folder}/*.test.{ts,mjs}`);
/** Real processes, NATS, Chromium, Hardhat, packages, long computations: `npm run test:system`. */
const SYSTEM_TESTS = FOLDERS.map((folder) => `${folder}/*.system.test.{ts,mjs}`);
/** Short in `npm test`, with the counts of their files in `npm run test:system`, which sets the variable. */
const SEEDED_TESTS =
  process.env.TEST_SEEDED !== "1"
    ? []
    : [
        "packages/engine/src/testing/agreement.test.ts",
        "packages/cluster/src/simulation/fence-seeds.test.ts",
      ];
/** Threads that tests start come from there. */
const BUNDLE = currentBundle();
const FROM_BUNDLE = BUNDLE === undefined ? {} : { TEST_BUNDLE: BUNDLE.href };

const SHORT_COUNTS = {
  PERPGATE_FLOW_EACH: "600",
  PERPGATE_FLOW_COMMANDS: "600",
  PERPGATE_FENCE_SEEDS: "20",
};

/** The page's sources stay with Vite, which builds the page. */
const SOURCES = /\/(packages\/[^/]+|apps\/perpgate|bench)\/src\/(?!.*\.test\.ts$).*\.ts$/;

// Tests run against the sources of every package: the "perpgate-source" export condition leads
// from a package name to its src folder, so no build stands between an edit and its test.
export default defineConfig({
  resolve: { conditions: ["perpgate-source"] },
  ssr: { resolve: { conditions: ["perpgate-source"] } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: TESTS,
          exclude: SYSTEM_TESTS,
          // A count that is set for a long form wins.
          env: { ...SHORT_COUNTS, ...FROM_BUNDLE, ...process.env },
        },
      },
      {
        extends: true,
        test: { name: "system", include: [...SYSTEM_TESTS, ...SEEDED_TESTS], env: FROM_BUNDLE },
      },
    ],
    // For what hangs, not for what is slow: on a busy machine a test of several processes took 35 s.
    testTimeout: 180_000,
    // What is polled for is an event, however late the machine is; vitest's own limit is a second.
    expect: { poll: { timeout: 120_000, interval: 20 } },
    // Hooks start venues too.
    hookTimeout: 180_000,
    // Files share a worker's modules, which hold no state beyond caches: loading schemas, HTTP and
    // wallets again for each file took as long as a quarter of the tests.
    isolate: false,
    // Loaded by Node, through scripts/testing: Vite's module runner reads every imported name through a
    // getter, and computation took a third longer. Only the test files themselves go through Vite.
    server: { deps: { external: [SOURCES] } },
    execArgv: [
      "--enable-source-maps",
      "--conditions=perpgate-source",
      "--import",
      new URL("./scripts/testing/source-loader.mjs", import.meta.url).href,
    ],
    sequence: { sequencer: LongestFirst },
  },
});
