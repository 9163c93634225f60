/**
 * Attacks from one client address while an honest trader is measured.
 *
 *   npm run test:attacks [-- --help]
 *
 * Each attack runs against the venue in its default configuration; the same bytes then go to a
 * server that discards them. The venue passes if the trader's median stays below 5 times that of the
 * discarded run and below 40 ms, and no order waits a second or is refused.
 */
import { parseArgs } from "node:util";
import { ATTACK_KINDS, type Attack } from "./attacks/attack.js";
import { ATTACKS } from "./attacks/kinds/combined.js";
import { rowLine, tableOf } from "./attacks/report.js";
import { SeededVenue } from "./attacks/trial/seeded-venue.js";
import { Trials } from "./attacks/trial/trial.js";
import type { Row } from "./attacks/trial/verdict.js";
import { refuse } from "./options.js";
import { machine, median, progress } from "./report.js";

const HELP = `Usage: npm run test:attacks -- [options]

Attacks from one client address while an honest trader is measured.

  --only NAMES    these attacks or kinds, separated by commas
  --seconds N     length of each run (2)
  --megabytes N   most that one attack sends (512)
  --list          names and descriptions, and nothing is run
  --json          one JSON object instead of the table
  --help, -h      this text
`;

// Ended by a signal, it leaves no process and no folder.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const flags = flagsOf();
if (flags.help === true) {
  process.stdout.write(HELP);
} else if (flags.list === true) {
  for (const { name, kind, shows } of chosen()) {
    process.stdout.write(`${kind.padEnd(12)}${name.padEnd(38)}${shows}\n`);
  }
} else {
  await runTable();
}

function flagsOf() {
  try {
    return parseArgs({
      options: {
        only: { type: "string" },
        seconds: { type: "string", default: "2" },
        megabytes: { type: "string", default: "512" },
        list: { type: "boolean" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function amount(name: "seconds" | "megabytes"): number {
  const text = flags[name];
  if (/^[1-9][0-9]{0,4}$/.test(text)) return Number(text);
  return refuse(`--${name}: "${text}" is not a whole number above 0`);
}

function chosen(): readonly Attack[] {
  if (flags.only === undefined) return ATTACKS;
  const names = flags.only.split(",");
  const kinds: readonly string[] = ATTACK_KINDS;
  const unknown = names.find(
    (name) => !kinds.includes(name) && !ATTACKS.some((attack) => attack.name === name),
  );
  if (unknown !== undefined) refuse(`there is no attack "${unknown}"`);
  return ATTACKS.filter(({ name, kind }) => names.includes(name) || names.includes(kind));
}

async function runTable(): Promise<void> {
  const attacks = chosen();
  const options = { milliseconds: amount("seconds") * 1_000, maxBytes: amount("megabytes") * 1e6 };
  const rows: Row[] = [];
  /** Attacks that could not be run, which is a failure of the table. */
  const broken: string[] = [];
  const venue = await SeededVenue.start();
  try {
    const trials = await Trials.start(venue, options);
    try {
      for (const path of ["rest", "socket"] as const) {
        const { latenciesMs } = await trials.quiet(path);
        progress(`attacks: no attack, ${path}: median ${median(latenciesMs).toFixed(2)} ms`);
      }
      for (const [i, attack] of attacks.entries()) {
        try {
          const row = await trials.run(attack);
          rows.push(row);
          progress(`[${i + 1}/${attacks.length}] ${rowLine(row)}`);
        } catch (error) {
          broken.push(`${attack.name}: ${error instanceof Error ? error.message : String(error)}`);
          progress(`[${i + 1}/${attacks.length}] did not run: ${broken.at(-1)}`);
        }
      }
    } finally {
      await trials.close();
    }
  } finally {
    await venue.close();
  }
  if (broken.length > 0 || rows.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  if (flags.json === true) console.log(JSON.stringify({ machine: machine(), rows, broken }));
  else console.log([tableOf(rows), ...broken.map((why) => `DID NOT RUN ${why}`)].join("\n"));
}
