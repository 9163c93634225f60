/**
 * Attacks from one client address while an honest trader is measured.
 *
 * Each attack runs against the venue in its default configuration; the same bytes then go to a server
 * that discards them. The venue passes if the trader's median stays below 5 times that of the
 * discarded run and below 40 ms, and no order waits a second or is refused.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "./attacks/attack.js";
import { ATTACK_KINDS, ATTACKS } from "./attacks/table.js";
import {
  isPayingRowPassed,
  type PayingRow,
  payingLine,
  payingTable,
  runPaying,
} from "./attacks/trial/paying-venue.js";
import { SeededVenue } from "./attacks/trial/seeded-venue.js";
import { Trials } from "./attacks/trial/trial.js";
import { rowLine, tableOf, type VerdictRow } from "./attacks/trial/verdict.js";
import { parseOptions } from "./harness/options.js";
import { errorText, machine, progress } from "./harness/report.js";

const options = parseOptions({
  command: "npm run test:attacks --",
  about: "Attacks from one client address while an honest trader is measured.",
  numbers: {
    seconds: ["length of each run", 2],
    megabytes: ["most that one attack sends", 512],
    rest: ["seconds without work before each attack, for machines that throttle", 0],
  },
  texts: { only: "these attacks or kinds, separated by commas" },
  switches: {
    list: "print names and descriptions, run nothing",
    paying: "deposits and withdrawals on a venue that pays: the p99 next to that of a quiet run",
  },
});

async function runAll(trials: Trials, attacks: readonly Attack[]): Promise<void> {
  const rows: VerdictRow[] = [];
  /** Attacks that could not be run, which is a failure of the table. */
  const broken: string[] = [];
  for (const path of ["rest", "socket"] as const) {
    const { medianMs } = await trials.quiet(path);
    progress(`attacks: no attack, ${path}: median ${medianMs.toFixed(2)} ms`);
  }
  for (const [i, attack] of attacks.entries()) {
    const place = `[${i + 1}/${attacks.length}]`;
    await sleep(options.number("rest") * 1_000);
    try {
      const row = await trials.attack(attack);
      rows.push(row);
      progress(`${place} ${rowLine(row)}`);
    } catch (error) {
      broken.push(`${attack.name}: ${errorText(error)}`);
      progress(`${place} did not run: ${broken.at(-1)}`);
    }
  }
  if (broken.length > 0 || rows.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  if (options.has("json")) console.log(JSON.stringify({ machine: machine(), rows, broken }));
  else console.log([tableOf(rows), ...broken.map((why) => `DID NOT RUN ${why}`)].join("\n"));
}

const known = [...ATTACK_KINDS, ...ATTACKS.map(({ name }) => name)];
const wanted = options.list("only", known);
const attacks = ATTACKS.filter(({ name, kind }) => wanted.includes(name) || wanted.includes(kind));
const limits = {
  milliseconds: options.number("seconds") * 1_000,
  maxBytes: options.number("megabytes") * 1e6,
};
if (options.has("list")) {
  for (const { name, kind, shows } of attacks) {
    process.stdout.write(`${kind.padEnd(12)}${name.padEnd(38)}${shows}\n`);
  }
} else if (options.has("paying")) {
  const chosen = attacks.filter(({ kind }) => kind === "deposits" || kind === "withdrawals");
  const onRow = (row: PayingRow): void => progress(payingLine(row));
  const rows = await runPaying({ ...limits, attacks: chosen, onRow });
  if (!rows.every(isPayingRowPassed)) process.exitCode = 1;
  console.log(
    options.has("json") ? JSON.stringify({ machine: machine(), rows }) : payingTable(rows),
  );
} else {
  await SeededVenue.run((venue) => Trials.run(venue, limits, (trials) => runAll(trials, attacks)));
}
