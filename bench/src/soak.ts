/**
 * A venue under mixed load for a long time: whether anything grows, and whether anything is lost.
 *
 *   npm run soak -- --minutes N [--write FILE]
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { refuse } from "./options.js";
import { isFault } from "./soak/judgement.js";
import { soakPage } from "./soak/report.js";
import { Soak } from "./soak/soak.js";

const HELP = `Usage: npm run soak -- --minutes N [options]

Traders at a third of saturation, bots, readers that come and go, slow readers, attacks, snapshots
and restarts, by signal and by kill -9. Fails when memory, handles, bytes an order or p99 grow, when
an acknowledged order is missing after a restart, or when verify does not agree.

  --minutes N         length (60)
  --write FILE        the table as Markdown, too
  --without-attacks   the load, readers and restarts alone
  --json              samples and findings as one JSON object
  --help, -h          this text
`;

// Ended by a signal, it leaves no process and no folder.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const flags = flagsOf();
if (flags.help === true) process.stdout.write(HELP);
else await main();

function flagsOf() {
  try {
    return parseArgs({
      options: {
        minutes: { type: "string", default: "60" },
        write: { type: "string" },
        "without-attacks": { type: "boolean" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

async function main(): Promise<void> {
  if (!/^[1-9][0-9]{0,4}$/.test(flags.minutes)) {
    refuse(`--minutes: "${flags.minutes}" is not a whole number above 0`);
  }
  const withAttacks = flags["without-attacks"] !== true;
  const result = await Soak.run({ minutes: Number(flags.minutes), withAttacks });
  const page = soakPage(result);
  if (flags.write !== undefined) writeFileSync(flags.write, page);
  console.log(flags.json === true ? JSON.stringify(result) : page);
  if (result.findings.some(isFault) || result.faults.length > 0) process.exitCode = 1;
}
