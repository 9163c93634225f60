#!/usr/bin/env node
/**
 * Every mutant of the named files of the engine against flows whose events are known: see
 * flow-worker.mjs. Hundreds of mutants a minute, because they share one process, which is warm, and most are
 * killed by its first commands. What survives is for the tests: `test-mutants.mjs --survivors FILE`.
 *
 *   node scripts/mutants/flow-mutants.mjs OUTPUT.jsonl packages/engine/src/money/fill.ts…
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { rolldown } from "rolldown";
import { instrumented } from "./instrument.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
/** Without a line: the mutant does not end. */
const PATIENCE_MS = 60_000;
/** The first line of a worker that begins with the mutants. */
const READY = "ready";
/** The instrumented file asks this object whether a mutant is on, and counts what it reaches. */
const SWITCH = `globalThis.mutants = {
  active: Number(process.env.MUTANT ?? -1),
  counts: process.env.MUTANT === undefined,
  reached: new Map(),
  hits: 0,
  mostHits: Infinity,
  hit() {
    if (++this.hits > this.mostHits) throw new Error("does not end");
    return true;
  },
  cover(...ids) {
    for (const id of ids) this.reached.set(id, (this.reached.get(id) ?? 0) + 1);
  },
};`;
process.chdir(ROOT);
const [output, ...files] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "perpgate-mutants-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const corpus = process.env.MUTANT_FLOWS ?? join(folder, "corpus");
await bundle("plain.mjs", "", "");
if (!existsSync(corpus) && !(await run("plain.mjs", ["corpus", corpus], {}, () => undefined)))
  throw new Error("no flows");
for (const file of files) await runFile(file);

async function runFile(file) {
  const { mutants, content } = await instrumented(file);
  const ids = join(folder, "ids");
  writeFileSync(ids, JSON.stringify(mutants.map(({ id }) => Number(id))));
  const bundled = `${file.replaceAll("/", "-")}.mjs`;
  await bundle(bundled, file, content);
  const found = [];
  while (found.length < mutants.length) {
    found.push(...(await resultsOf(bundled, ["run", corpus, ids, found.length])));
    // It has not ended, or has ended the process: no test would pass with it.
    if (found.length < mutants.length) found.push({ status: "Timeout", at: "" });
  }
  const counts = {};
  for (const [i, { id, location, mutatorName, replacement }] of mutants.entries()) {
    if (found[i].status === "Loaded") {
      const [alone] = await resultsOf(bundled, ["one", corpus], { MUTANT: id });
      found[i] = alone ?? { status: "Timeout", at: "" };
    }
    const line = { file, location, mutatorName, replacement, ...found[i] };
    appendFileSync(output, `${JSON.stringify(line)}\n`);
    counts[line.status] = (counts[line.status] ?? 0) + 1;
  }
  console.log(file, mutants.length, JSON.stringify(counts));
}

/** The results that the process has until it ends, or is ended because it says nothing for too long. */
async function resultsOf(bundled, args, env = {}) {
  const lines = [];
  await run(bundled, args, env, (line) => lines.push(line));
  if (lines.shift() !== READY && env.MUTANT === undefined) {
    throw new Error(`${bundled}: the unchanged engine fails`);
  }
  return lines.map((line) => JSON.parse(line));
}

/** The worker with one file of the engine replaced. */
async function bundle(name, file, content) {
  const path = resolve(file || "none");
  const build = await rolldown({
    input: join(ROOT, "scripts/mutants/flow-worker.mjs"),
    platform: "node",
    logLevel: "silent",
    resolve: { conditionNames: ["perpgate-source"], extensionAlias: { ".js": [".ts", ".js"] } },
    plugins: [{ name: "mutants", load: (id) => (id === path ? content : null) }],
  });
  await build.write({ file: join(folder, name), format: "esm", banner: SWITCH });
  await build.close();
}

/** Whether the process has ended without an error. */
async function run(name, args, env, onLine) {
  const worker = ["--max-old-space-size=3000", join(folder, name), ...args.map(String)];
  const stdio = ["ignore", "pipe", "inherit"];
  const child = spawn(process.execPath, worker, { stdio, env: { ...process.env, ...env } });
  const ended = once(child, "exit");
  let timer;
  for await (const line of createInterface(child.stdout)) {
    clearTimeout(timer);
    timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    onLine(line);
  }
  clearTimeout(timer);
  const [code] = await ended;
  return code === 0;
}
