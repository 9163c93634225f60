#!/usr/bin/env node
/**
 * Every mutant of the named files of the engine against flows whose events are known: see
 * flow-worker.mjs. Hundreds of mutants a minute, because they share one process, which is warm, and most are
 * killed by its first commands. What survives is for the tests: `test-mutants.mjs --survivors FILE`.
 *
 *   node scripts/mutants/flow-mutants.mjs OUTPUT.jsonl packages/engine/src/money/fill.ts…
 */
import { spawn } from "node:child_process";
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
process.chdir(ROOT);
const [output, ...files] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "perpgate-mutants-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const corpus = process.env.MUTANT_FLOWS ?? join(folder, "corpus");
await bundle("plain.mjs", "", "");
if (!existsSync(corpus) && !(await run("plain.mjs", ["corpus", corpus], null))) throw new Error("no flows");
for (const file of files) await runFile(file);

async function runFile(file) {
  const { mutants, content } = await instrumented(file);
  const ids = join(folder, "ids");
  writeFileSync(ids, JSON.stringify(mutants.map(({ id }) => Number(id))));
  const bundled = `${file.replaceAll("/", "-")}.mjs`;
  await bundle(bundled, file, content);
  const counts = {};
  let next = 0;
  const take = ({ status, at }) => {
    const { location, mutatorName, replacement } = mutants[next++];
    const line = { file, location, mutatorName, replacement, status, at };
    appendFileSync(output, `${JSON.stringify(line)}\n`);
    counts[status] = (counts[status] ?? 0) + 1;
  };
  while (next < mutants.length) {
    let isReady = false;
    const ended = await run(bundled, ["run", corpus, ids, next], (line) => {
      if (line === READY) isReady = true;
      else take(JSON.parse(line));
    });
    if (!isReady) throw new Error(`${file}: the unchanged engine fails`);
    // It has not ended, or has ended the process: no test would pass with it.
    if (!ended && next < mutants.length) take({ status: "Timeout", at: "" });
  }
  console.log(file, mutants.length, JSON.stringify(counts));
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
  await build.write({ file: join(folder, name), format: "esm" });
  await build.close();
}

/** Whether the process has ended by itself without an error. */
async function run(name, args, onLine) {
  const child = spawn(process.execPath, ["--max-old-space-size=3000", join(folder, name), ...args.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let timer;
  for await (const line of createInterface(child.stdout)) {
    clearTimeout(timer);
    timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    onLine(line);
  }
  clearTimeout(timer);
  const code = child.exitCode ?? (await new Promise((done) => child.once("exit", done)));
  return code === 0;
}
