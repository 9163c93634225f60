/** What the runner counts of a real run of vitest, in which much goes wrong outside any test. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { countResults, filesToRepeat, summaryLine } from "./test-results.mjs";

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const reporter = fileURLToPath(new URL("testing/results-reporter.mjs", import.meta.url));

/** The results of a run of these files, each the body of its tests. */
function runOf(bodies) {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-runner-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, body] of Object.entries(bodies)) {
    const path = join(folder, `${name}.test.mjs`);
    writeFileSync(path, `import { test } from "vitest";\n${body}\n`);
  }
  symlinkSync(modules, join(folder, "node_modules"));
  const file = join(folder, "results.json");
  const args = ["run", "--root", folder, "--maxWorkers=1", `--reporter=${reporter}`];
  const { status } = spawnSync(join(modules, ".bin", "vitest"), args, {
    cwd: folder,
    env: { ...process.env, TEST_RESULTS_FILE: file },
  });
  return { results: JSON.parse(readFileSync(file, "utf8")), succeeded: status === 0 };
}

const PASSES = 'test("passes", () => {});';
const IS_LATE = 'test("is late", () => new Promise(() => {}), 50);';

test("a rejection that nobody handles counts as failed; the late file next to it runs again", () => {
  const { results, succeeded } = runOf({
    late: IS_LATE,
    lost: 'test("loses an error", () => { Promise.reject(new Error("lost")); });',
  });
  expect(filesToRepeat(results)).toEqual(["late.test.mjs"]);
  expect(summaryLine(countResults(results, succeeded))).toBe("1 passed, 2 failed");
});

test("a file whose process dies has failed, and does not run again", () => {
  const { results, succeeded } = runOf({
    clean: PASSES,
    dies: 'test("dies", () => { process.kill(process.pid, "SIGKILL"); return new Promise(() => {}); });',
  });
  expect(results.files.find(({ path }) => path === "dies.test.mjs")).toMatchObject({
    isFailed: true,
  });
  expect(filesToRepeat(results)).toEqual([]);
  expect(countResults(results, succeeded).failed).toBeGreaterThan(0);
});
