/**
 * Every bench in one command, one table: engine, journal, orders, reads, streams, recovery.
 *
 *   npm run bench [-- --help]
 *
 * Each part is a process of its own, so that none inherits another's heap. A part that fails, or
 * does not end in time, is named below the table and the others still run; the command then ends
 * with code 1.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { docsTable, withTable } from "./main/docs-table.js";
import { PARTS, type Part, runPart } from "./main/parts.js";
import { refuse } from "./options.js";
import { alignedTable, type BenchResult, cellsOf, HEADINGS, machine, progress } from "./report.js";

const PAGE = fileURLToPath(new URL("../../docs/performance.md", import.meta.url));
const NAMES = PARTS.map(({ name }) => name);

const HELP = `Usage: npm run bench -- [options]

Measures every part of the venue beside a floor or a peer of the same run: one table, about two
minutes. The figures depend on an otherwise idle machine.

  --only A,B          only these parts: ${NAMES.join(", ")}
  --full              full turns instead of short ones, about ten minutes
  --details           every figure of every part
  --json              one JSON object instead of the table
  --write-docs        also put the table into docs/performance.md
  --help, -h          this text
`;

function optionsOf() {
  try {
    return parseArgs({
      options: {
        only: { type: "string", default: NAMES.join(",") },
        full: { type: "boolean", default: false },
        details: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        "write-docs": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function chosen(only: string): readonly Part[] {
  const wanted = only.split(",").map((name) => name.trim());
  const unknown = wanted.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) refuse(`no part "${unknown}"; known are ${NAMES.join(", ")}`);
  return PARTS.filter(({ name }) => wanted.includes(name));
}

function printTable(results: readonly BenchResult[], withDetails: boolean): void {
  const lines = results.flatMap(({ bench, rows }) =>
    rows.filter(({ isDetail }) => withDetails || !isDetail).map((row) => [bench, ...cellsOf(row)]),
  );
  console.log(`${machine()}\n`);
  console.log(alignedTable(["part", ...HEADINGS], lines));
  console.log("");
  for (const { bench, leavesOut } of results) {
    if (leavesOut.length > 0) console.log(`Left out of ${bench}: ${leavesOut.join("; ")}.`);
  }
}

async function main(): Promise<void> {
  const options = optionsOf();
  if (options.help) {
    process.stdout.write(HELP);
    return;
  }
  const parts = chosen(options.only);
  const started = performance.now();
  const results: BenchResult[] = [];
  for (const [i, part] of parts.entries()) {
    progress(`[${i + 1}/${parts.length}] ${part.name}: ${part.about}`);
    results.push(await runPart(part, options.full));
  }
  const seconds = Math.round((performance.now() - started) / 1_000);
  const failures = results.flatMap(({ bench, failures: own }) =>
    own.map((failure) => `${bench}: ${failure}`),
  );
  if (options.json) {
    console.log(JSON.stringify({ machine: machine(), seconds, failures, parts: results }));
  } else {
    printTable(results, options.details);
    for (const failure of failures) console.log(`FAILED ${failure}`);
  }
  progress(`${seconds} s`);
  if (options["write-docs"]) writeDocs(results, failures, options.full);
  if (failures.length > 0) process.exitCode = 1;
}

/** A run with a hole in it does not replace a whole one. */
function writeDocs(
  results: readonly BenchResult[],
  failures: readonly string[],
  isFull: boolean,
): void {
  if (failures.length > 0 || results.length < PARTS.length) {
    progress("docs/performance.md is left as it was: not every part has run through");
    return;
  }
  const day = new Date().toISOString().slice(0, 10);
  const table = docsTable(results, `${machine()}, ${day}, ${isFull ? "full" : "short"} turns`);
  writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), table));
  progress("docs/performance.md has the new table");
}

await main();
