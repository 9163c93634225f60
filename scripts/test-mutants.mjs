#!/usr/bin/env node
/**
 * Mutation testing of the engine's rules, by Stryker: changes one expression or statement at a time
 * and runs the engine's tests. A mutant that no test notices has survived, and is printed.
 *
 *   npm run test:mutants -- [--sample 60] [--seed 1] [--file fill.ts]... [--fast] [--concurrency 2]
 *   npm run test:mutants -- --survivors FILE [--file fill.ts]... [--fast]
 *
 * The second form runs what survived the flows of mutants/flow-mutants.mjs.
 * All mutants are some thousands; a run takes a seeded sample of them. What survives the fast tests
 * is run against the slow ones unless `--fast` is given. Survivors that were looked into are in
 * docs/lab/mutants.md.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { EXCLUDED, instrumented } from "./mutants/instrument.mjs";

const ROOT = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const ENGINE = "packages/engine/src";
const RULES = [
  "orders",
  "money",
  "markets",
  "sessions",
  "deposits",
  "snapshot",
  "writers",
  "commands",
  "genesis.ts",
  "operator.ts",
  "selection.ts",
  "tick.ts",
  "versions.ts",
];
/** A larger statement contains too many other mutants to be drawn as one. */
const LARGEST_GROUP = 12;

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    file: { type: "string", multiple: true, default: [] },
    concurrency: { type: "string", default: "2" },
    fast: { type: "boolean", default: false },
    survivors: { type: "string" },
  },
});

process.chdir(ROOT);
const files = sourceFiles();
const asked = values.survivors === undefined ? null : survivorsIn(values.survivors);
const ranges =
  asked?.map(rangeOf) ?? draw(await allMutants(), Number(values.sample), Number(values.seed));
const first = (await run("fast", ranges)).filter(isAsked);
const survivors = first.filter(hasSurvived);
const last = values.fast || survivors.length === 0 ? survivors : await runAgain(survivors);
print(first, last.filter(hasSurvived));

function sourceFiles() {
  const inside = (path) =>
    statSync(path).isDirectory()
      ? readdirSync(path).flatMap((name) => inside(join(path, name)))
      : [path];
  const all = RULES.flatMap((name) => inside(join(ENGINE, name))).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts"),
  );
  if (values.file.length === 0) return all;
  return all.filter((path) => values.file.some((part) => path.includes(part)));
}

async function allMutants() {
  const lists = [];
  for (const path of files) lists.push((await instrumented(path)).mutants);
  return lists.flat();
}

/** The mutants of the files that flow-mutants.mjs has left. */
function survivorsIn(path) {
  const lines = readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return lines
    .map(({ file, ...mutant }) => ({ ...mutant, fileName: file }))
    .filter((mutant) => hasSurvived(mutant) && files.includes(mutant.fileName));
}

/** A range of survivors contains others. */
function isAsked(mutant) {
  return asked === null || asked.some((each) => keyOf(each) === keyOf(mutant));
}

/** Ranges that together contain about as many mutants as asked for. */
function draw(mutants, count, seed) {
  const random = generator(seed);
  const order = mutants.map((mutant) => ({ mutant, key: random() }));
  order.sort((a, b) => a.key - b.key);
  const drawn = new Set();
  const patterns = [];
  for (const { mutant } of order) {
    if (drawn.size >= count) break;
    const inside = mutants.filter((each) => contains(mutant, each));
    if (drawn.has(mutant) || inside.length > LARGEST_GROUP) continue;
    for (const each of inside) drawn.add(each);
    patterns.push(rangeOf(mutant));
  }
  console.log(`${drawn.size} of ${mutants.length} mutants in ${files.length} files, seed ${seed}`);
  return patterns;
}

function contains(outer, inner) {
  if (outer.fileName !== inner.fileName) return false;
  const { start, end } = outer.location;
  return !isBefore(inner.location.start, start) && !isBefore(end, inner.location.end);
}

function isBefore(a, b) {
  return a.line < b.line || (a.line === b.line && a.column < b.column);
}

/** Stryker counts lines from 1 in patterns, from 0 in mutants. */
function rangeOf({ fileName, location: { start, end } }) {
  return `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
}

/** Mulberry32: enough to draw a sample that a seed repeats. */
function generator(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function run(tests, mutate) {
  process.env.PERPGATE_MUTANT_TESTS = tests;
  const results = await new Stryker({
    testRunner: "vitest",
    vitest: { configFile: "scripts/mutants.vitest.config.mjs", related: false },
    mutate,
    mutator: { excludedMutations: EXCLUDED },
    concurrency: Number(values.concurrency),
    coverageAnalysis: "perTest",
    reporters: ["dots"],
    // Stryker rewrites tsconfig files with the compiler's JavaScript interface, which TypeScript 7
    // does not have. The tests need no tsconfig: vitest strips the types.
    tsconfigFile: "none",
    ignorePatterns: ["apps", "bench", "docs", ".github"],
    timeoutMS: 20_000,
    dryRunTimeoutMinutes: 15,
    logLevel: "warn",
    allowEmpty: true,
    disableTypeChecks: false,
  }).runMutationTest();
  return results.map((result) => ({
    ...result,
    fileName: relative(ROOT, resolve(result.fileName)),
    location: fromZero(result.location),
  }));
}

/** Results count lines and columns from 1, mutants from 0. */
function fromZero({ start, end }) {
  const less = ({ line, column }) => ({ line: line - 1, column: column - 1 });
  return { start: less(start), end: less(end) };
}

async function runAgain(survivors) {
  console.log(`${survivors.length} survived the fast tests; running the slow ones`);
  const again = new Map(
    (await run("slow", survivors.map(rangeOf))).map((each) => [keyOf(each), each]),
  );
  // One that was not found again has not been killed.
  return survivors.map((survivor) => again.get(keyOf(survivor)) ?? survivor);
}

function keyOf(mutant) {
  return `${rangeOf(mutant)} ${mutant.replacement}`;
}

function hasSurvived({ status }) {
  return status === "Survived" || status === "NoCoverage";
}

function print(all, survived) {
  for (const { fileName, location, mutatorName, replacement, status } of survived) {
    const path = relative(ROOT, resolve(fileName));
    const line = location.start.line + 1;
    const source = readFileSync(path, "utf8")
      .split("\n")
      .slice(location.start.line, location.end.line + 1);
    console.log(`\n${path}:${line} ${mutatorName}${status === "NoCoverage" ? ", no test" : ""}`);
    console.log(`- ${source.join("\n  ").trim()}`);
    console.log(`+ ${(replacement ?? "").trim() || "(removed)"}`);
  }
  const count = (status) => all.filter((mutant) => mutant.status === status).length;
  const valid = all.filter(({ status }) => !/Error|Ignored/.test(status)).length;
  console.log(
    `\n${valid} mutants: ${valid - survived.length} killed (${count("Timeout")} by time-out), ` +
      `${survived.length} survived`,
  );
}
