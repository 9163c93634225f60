#!/usr/bin/env node
/**
 * The one runner of tests:
 *
 *   npm test                 types, style, boundaries, language, and every fast test
 *   npm run test:system      tests with real processes, NATS, Chromium, Hardhat, packages
 *   npm test -- --long NAME  the long form of some tests (`--help` lists them)
 *
 * `--times` prints where the time went, by file; other words select files, as vitest takes them.
 *
 * Everything runs even after something has failed, so that one run shows everything. The last line reads
 * `N passed, N failed`; a failed check counts as one failure. `test-results.mjs` says which files run a
 * second time. With `REQUIRE_ALL=1` a test that is skipped counts as failed.
 */

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  countResults,
  failSkipped,
  filesToRepeat,
  lateNames,
  skippedNames,
  summaryLine,
  timesTable,
  withRepeated,
} from "./test-results.mjs";
import { LONG_FORMS } from "./testing/long-forms.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const tool = (name) => join(root, "node_modules", ".bin", name);
const script = (name, ...args) => [process.execPath, join(root, "scripts", name), ...args];

/** What tests start as a process: each needs the one before it. */
const BUILDS = [
  // More checkers look at the same types again: a third less processor time with one a project.
  ["types", tool("tsc"), "-b", "--checkers", "1"],
  ["server", ...script("build-server.mjs")],
  ["packages", ...script("build-packages.mjs")],
];
const CHECKS = [
  ["style", tool("biome"), "check", "--error-on-warnings", "."],
  ["boundaries", ...script("check-boundaries.mjs")],
  ["language", ...script("check-language.mjs")],
];

/** One more than there are cores: much of what a test of processes and sockets does is waiting. */
const WORKERS = `--maxWorkers=${availableParallelism() + 1}`;

/** Runs one step; prints what it said when it ends. Returns its name if it failed. */
function check([name, command, ...args]) {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => chunks.push(part));
  const started = performance.now();
  return new Promise((done) => {
    child.once("error", (error) => chunks.push(`${error.message}\n`));
    child.once("close", (code) => {
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      process.stdout.write(`# ${name}, ${seconds} s\n${Buffer.concat(chunks.map(Buffer.from))}`);
      done(code === 0 ? [] : [name]);
    });
  });
}

async function inTurn(steps) {
  const failed = [];
  for (const step of steps) failed.push(...(await check(step)));
  return failed;
}

/** Runs vitest; returns its results and whether all of it succeeded. */
function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-test-"));
  const file = join(folder, "results.json");
  const reporter = join(root, "scripts/testing/results-reporter.mjs");
  const options = ["run", "--reporter=default", `--reporter=${reporter}`, ...args];
  try {
    const { status, error } = spawnSync(tool("vitest"), options, {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, TEST_RESULTS_FILE: file },
    });
    if (error !== undefined) console.error(error.message);
    return { succeeded: status === 0, results: readResults(file) };
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

/** Files that failed by a time-out alone run once more, one at a time. */
function testAll(args) {
  const first = runTests(args);
  const files = filesToRepeat(first.results);
  if (files.length === 0) return { ...first, late: [] };
  console.log(`# late, again: ${files.join(" ")}`);
  const again = runTests(["--maxWorkers=1", ...files]);
  return { ...withRepeated(first, again), late: lateNames(first.results) };
}

function counted({ results, succeeded, late }) {
  const counts = { ...countResults(results, succeeded), late };
  if (process.env.REQUIRE_ALL !== "1") return counts;
  for (const name of skippedNames(results)) console.error(`skipped: ${name}`);
  return failSkipped(counts);
}

function listLongForms() {
  console.log("npm test -- --long NAME");
  for (const [name, { about, env }] of Object.entries(LONG_FORMS)) {
    const counts = Object.entries(env).map(([key, value]) => `${key}=${value}`);
    console.log(`  ${name.padEnd(10)} ${about}\n${" ".repeat(13)}${counts.join(" ")}`);
  }
}

/** The checks and the arguments of vitest for what was asked. */
function planOf({ values, positionals }) {
  if (values.long !== undefined) {
    const { files, env, names } = LONG_FORMS[values.long];
    for (const [name, value] of Object.entries(env)) process.env[name] ??= value;
    const named = names === undefined ? [] : ["-t", names];
    return {
      checks: [],
      args: ["--testTimeout=3600000", ...named, ...files, ...positionals],
    };
  }
  if (values.system) {
    const page = ["page", ...script("build-page.mjs")];
    process.env.TEST_SEEDED = "1";
    return { checks: [page], args: ["--project=system", WORKERS, ...positionals] };
  }
  return { checks: CHECKS, args: ["--project=fast", WORKERS, ...positionals] };
}

function readWords() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        system: { type: "boolean" },
        times: { type: "boolean" },
        long: { type: "string" },
        help: { type: "boolean" },
      },
    });
  } catch (error) {
    console.error(`${error.message}\n`);
    return undefined;
  }
}

async function main() {
  const words = readWords();
  const { long, help } = words?.values ?? { help: true };
  if (help || (long !== undefined && LONG_FORMS[long] === undefined)) {
    console.log("npm test [-- [--times] [FILE…]]\nnpm run test:system [-- [--times] [FILE…]]");
    listLongForms();
    process.exitCode = help && words !== undefined ? 0 : 2;
    return;
  }
  const { checks, args } = planOf(words);
  const broken = (await Promise.all([inTurn(BUILDS), inTurn(checks)])).flat();
  const outcome = testAll(args);
  if (words.values.times) console.log(timesTable(outcome.results));
  const counts = counted(outcome);
  for (const name of broken) console.error(`failed: ${name}`);
  counts.failed += broken.length;
  console.log(summaryLine(counts));
  process.exitCode = counts.failed === 0 ? 0 : 1;
}

await main();
