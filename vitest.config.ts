import { defineConfig } from "vitest/config";

// Tests run against the sources of every package: the "perpgate-source" export condition leads
// from a package name to its src folder, so no build stands between an edit and its test.
export default defineConfig({
  resolve: { conditions: ["perpgate-source"] },
  ssr: { resolve: { conditions: ["perpgate-source"] } },
  test: {
    include: [
      "packages/*/{src,test}/**/*.test.ts",
      "apps/*/{src,test}/**/*.test.ts",
      "scripts/*.test.mjs",
    ],
    testTimeout: 60_000,
    // Hooks start venues too; the default of ten seconds is short on a busy machine.
    hookTimeout: 60_000,
    // Files share a worker's modules, which hold no state beyond caches: loading schemas, HTTP and
    // wallets anew for each file took as long as a quarter of the tests.
    isolate: false,
    // The default leaves a core free for an editor, which on two cores is half of the machine.
    maxWorkers: "100%",
  },
});
