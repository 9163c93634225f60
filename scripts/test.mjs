#!/usr/bin/env node
/**
 * The one test command: types, style, the boundary and language checks, then every test.
 *
 * All steps run even after one has failed, so that one run shows everything. The last line
 * reads `N passed, N failed`; a failed step before the tests counts as one failure.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { countResults, summaryLine } from "./test-summary.mjs";

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

function runTests() {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-test-"));
  const report = join(folder, "report.json");
  try {
    const succeeded = run("tests", tool("vitest"), [
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`,
      ...process.argv.slice(2),
    ]);
    return countResults(readReport(report), succeeded);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

const brokenChecks = CHECKS.filter((check) => !run(...check)).map(([name]) => name);
const results = runTests();
for (const name of brokenChecks) console.error(`failed: ${name}`);
results.failed += brokenChecks.length;
console.log(summaryLine(results));
process.exitCode = results.failed === 0 ? 0 : 1;
