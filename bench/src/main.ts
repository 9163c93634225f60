/**
 * Every bench in one table, or with a name that bench alone, with its options.
 *
 * Each part is a process, so that none inherits another's heap. A part that fails or does not end in
 * time is named below the table, the others still run, and the command ends with code 1.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { endProcess } from "./harness/child.js";
import { exitWithUsageError, parseOptions } from "./harness/options.js";
import {
  alignedTable,
  type BenchResult,
  cellsOf,
  HEADINGS,
  machine,
  progress,
  withTable,
} from "./harness/report.js";

const PAGE = fileURLToPath(new URL("../../docs/performance.md", import.meta.url));
/** Of the table. */
const PARTS = ["engine", "journal", "orders", "reads", "streams", "recovery", "gateways"];
/** By name alone. */
const OTHERS = [
  "cluster",
  "costs",
  "link",
  "matching",
  "path",
  "sandbox",
  "service",
  "store",
  "work",
];
/** These have a large young generation, and collect garbage on demand. */
const LARGE_HEAP = ["--expose-gc", "--max-semi-space-size=128"];
const NODE_FLAGS: Readonly<Record<string, readonly string[]>> = {
  engine: LARGE_HEAP,
  matching: LARGE_HEAP,
  recovery: LARGE_HEAP,
  service: ["--max-semi-space-size=64"],
  store: LARGE_HEAP,
  work: LARGE_HEAP,
};
/** Far beyond what a part takes: a part that hangs must not stop the others. */
const LIMIT_MS = 900_000;

const [named] = process.argv.slice(2);
if (named !== undefined && !named.startsWith("-")) {
  if (![...PARTS, ...OTHERS].includes(named)) exitWithUsageError(`there is no bench "${named}"`);
  const child = spawn(process.execPath, argumentsOf(named, process.argv.slice(3)), {
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "close");
  process.exit(code ?? 1);
}

const options = parseOptions({
  command: "npm run bench -- [NAME]",
  about:
    "Measures every part of the venue next to a floor or a peer of the same run: one table, about\n" +
    "two minutes. The figures depend on an otherwise idle machine.",
  texts: { only: `only these parts, separated by commas: ${PARTS.join(", ")}` },
  switches: {
    full: "full turns instead of short ones, about ten minutes",
    "write-docs": "also write the table to docs/performance.md",
  },
});

function argumentsOf(name: string, flags: readonly string[]): string[] {
  const script = fileURLToPath(new URL(`./${name}.js`, import.meta.url));
  return [...(NODE_FLAGS[name] ?? []), script, ...flags];
}

async function runPart(name: string): Promise<BenchResult> {
  const args = argumentsOf(name, ["--json", ...(options.has("full") ? [] : ["--short"])]);
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    // On SIGTERM it ends its servers and loads; a part that computes does not handle it.
    endProcess(child).catch(() => child.kill("SIGKILL"));
  }, LIMIT_MS);
  const endWithThisProcess = (): void => void child.kill();
  process.once("exit", endWithThisProcess);
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
  process.off("exit", endWithThisProcess);
  clearTimeout(timer);
  const failed = (why: string): BenchResult => {
    return { bench: name, machine: machine(), rows: [], failures: [why] };
  };
  if (isLate) return failed(`took longer than ${LIMIT_MS / 1_000} s`);
  try {
    const result: BenchResult = JSON.parse(output.trim().split("\n").at(-1) ?? "");
    return result;
  } catch {
    return failed(signal === null ? `ended with code ${code}` : `was ended by ${signal}`);
  }
}

function writeDocs(results: readonly BenchResult[]): void {
  const day = new Date().toISOString().slice(0, 10);
  const turns = options.has("full") ? "full" : "short";
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, withTable(page, results, `${machine()}, ${day}, ${turns} turns`));
  progress("docs/performance.md has the new table");
}

const wanted = options.list("only", PARTS);
const parts = PARTS.filter((name) => wanted.includes(name));
const started = performance.now();
const results: BenchResult[] = [];
for (const [i, name] of parts.entries()) {
  progress(`[${i + 1}/${parts.length}] ${name}`);
  results.push(await runPart(name));
}
const seconds = Math.round((performance.now() - started) / 1_000);
const failures = results.flatMap((part) => part.failures.map((why) => `${part.bench}: ${why}`));
if (options.has("json")) {
  console.log(JSON.stringify({ machine: machine(), seconds, failures, parts: results }));
} else {
  const lines = results.flatMap(({ bench, rows }) => rows.map((row) => [bench, ...cellsOf(row)]));
  console.log(`${machine()}\n\n${alignedTable(["part", ...HEADINGS], lines)}\n`);
  for (const failure of failures) console.log(`FAILED ${failure}`);
}
progress(`${seconds} s`);
// A run with a failure or a part left out does not replace a complete table.
const isComplete = failures.length === 0 && parts.length === PARTS.length;
if (options.has("write-docs")) {
  if (isComplete) writeDocs(results);
  else progress("docs/performance.md is not changed: not every part has run");
}
if (failures.length > 0) process.exitCode = 1;
