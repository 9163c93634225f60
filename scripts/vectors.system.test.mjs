/** Tests over vectors that are missing: skipped with the reason, or failed where they are required. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const SUITES = [
  "packages/protocol/src/streams/msgpack-suite.test.ts",
  "packages/protocol/src/accounts/signing.test.ts",
];

/** Runs the suites without a folder of vectors; `required` as continuous integration says it. */
function runWithout(required) {
  const { PERPGATE_VECTORS: _, REQUIRE_VECTORS: __, ...env } = process.env;
  const args = ["run", "--maxWorkers=1", "--reporter=default", ...SUITES];
  const child = spawn(`${root}node_modules/.bin/vitest`, args, {
    cwd: root,
    env: { ...env, NO_COLOR: "1", ...(required ? { REQUIRE_VECTORS: "1" } : {}) },
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      out += chunk;
    });
  }
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ code, out }));
  });
}

it("no vectors: their suites are skipped, not passed, and the reason is printed", async () => {
  const { code, out } = await runWithout(false);
  expect(code, out).toBe(0);
  expect(out).toContain("2 skipped");
  expect(out).toContain("SKIPPED: the msgpack vectors: PERPGATE_VECTORS names no folder");
  expect(out).toContain("SKIPPED: the wycheproof vectors: PERPGATE_VECTORS names no folder");
});

it("no vectors where they are required: failed", async () => {
  const { code, out } = await runWithout(true);
  expect(code, out).toBe(1);
  expect(out).toContain("REQUIRE_VECTORS is set. the msgpack vectors");
});
