#!/usr/bin/env node
/**
 * The one test command: types, style, the boundary and language checks, then every test.
 *
 * All steps run even after one has failed, so that one run shows everything. The last line
 * reads `N passed, N failed`; a failed step before the tests counts as one failure.
 * `test-results.mjs` says which files run a second time, and when. With `REQUIRE_ALL=1` a test that is
 * skipped counts as failed.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  countResults,
  failSkipped,
  filesToRepeat,
  skippedNames,
  summaryLine,
  withRepeated,
} from "./test-results.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const tool = (name) => join(root, "node_modules", ".bin", name);

const CHECKS = [
  // More checkers look at the same types again: a third less processor time with one a project.
  ["types", tool("tsc"), ["-b", "--checkers", "1"]],
  // What tests start as a process.
  ["server", process.execPath, [join(root, "scripts/build-server.mjs")]],
  ["packages", process.execPath, [join(root, "scripts/build-packages.mjs")]],
  ["style", tool("biome"), ["check", "--error-on-warnings", "."]],
  ["boundaries", process.execPath, [join(root, "scripts/check-boundaries.mjs")]],
  ["language", process.execPath, [join(root, "scripts/check-language.mjs")]],
];

function run(name, command, args) {
  console.log(`# ${name}`);
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (error !== undefined) console.error(`${name}: ${error.message}`);
  return status === 0;
}

/** Runs these files, or all; returns their results and whether all of it succeeded. */
function runTests(...args) {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-test-"));
  process.env.TEST_RESULTS_FILE = join(folder, "results.json");
  const reporter = join(root, "scripts/testing/results-reporter.mjs");
  try {
    const options = ["run", "--reporter=default", `--reporter=${reporter}`];
    const succeeded = run("tests", tool("vitest"), [...options, ...args]);
    return { succeeded, results: readResults(process.env.TEST_RESULTS_FILE) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readResults(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** A few files that failed run once more, alone. */
function testAll() {
  const first = runTests(...process.argv.slice(2));
  const files = filesToRepeat(first.results);
  if (files.length === 0) return counted(first.results, first.succeeded);
  console.log(`# again, alone: ${files.join(" ")}`);
  const again = runTests("--maxWorkers=1", ...files);
  const results = withRepeated(first.results, again.results);
  return { ...counted(results, again.succeeded), repeated: files.length };
}

function counted(results, succeeded) {
  const counts = countResults(results, succeeded);
  if (process.env.REQUIRE_ALL !== "1") return counts;
  for (const name of skippedNames(results)) console.error(`skipped: ${name}`);
  return failSkipped(counts);
}

const brokenChecks = CHECKS.filter((check) => !run(...check)).map(([name]) => name);
const results = testAll();
for (const name of brokenChecks) console.error(`failed: ${name}`);
results.failed += brokenChecks.length;
console.log(summaryLine(results));
process.exitCode = results.failed === 0 ? 0 : 1;
