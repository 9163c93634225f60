import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, begun first: whatever is left for the end should be short. */
const LONGEST = [
  "apps/terminal/src/page.test.ts",
  "apps/perpgate/src/cluster/kills.test.ts",
  "packages/engine/src/testing/agreement.test.ts",
  "apps/perpgate/src/cluster/storage.test.ts",
  "apps/perpgate/src/cluster/outcomes.test.ts",
  "scripts/release.test.mjs",
  "bench/src/attacks/costs.test.ts",
  "apps/perpgate/src/trader/trader.test.ts",
  "apps/perpgate/src/serve/exit/process-exit.test.ts",
  "apps/perpgate/src/serve/exit/disk-faults.test.ts",
  "apps/perpgate/src/cluster/failover.test.ts",
  "packages/cluster/src/faults.test.ts",
  "packages/simulator/src/cluster/cluster-seeds.test.ts",
  "apps/perpgate/src/serve/doubtful-start.test.ts",
  "packages/simulator/src/seeds.test.ts",
  "packages/venue/src/history/history.test.ts",
  "packages/simulator/src/exhaustive.test.ts",
  "packages/venue/src/crash.test.ts",
  "apps/perpgate/src/serve/process.test.ts",
  "scripts/dockerfile.test.mjs",
  "apps/perpgate/src/trader/quick-start.test.ts",
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

/** The page's sources stay with Vite, which builds the page. */
const SOURCES = /\/(packages\/[^/]+|apps\/perpgate|bench)\/src\/(?!.*\.test\.ts$).*\.ts$/;

// Tests run against the sources of every package: the "perpgate-source" export condition leads
// from a package name to its src folder, so no build stands between an edit and its test.
export default defineConfig({
  resolve: { conditions: ["perpgate-source"] },
  ssr: { resolve: { conditions: ["perpgate-source"] } },
  test: {
    include: [
      "packages/*/{src,test}/**/*.test.ts",
      "apps/*/{src,test}/**/*.test.ts",
      "bench/src/**/*.test.ts",
      "scripts/*.test.mjs",
    ],
    // For what hangs, not for what is slow: on a busy machine a test of several processes took 35 s.
    testTimeout: 180_000,
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
    // One more than there are cores: much of what a test of processes and sockets does is waiting.
    maxWorkers: availableParallelism() + 1,
  },
});
