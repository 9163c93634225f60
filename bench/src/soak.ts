/** A venue under mixed load for a long time: whether anything grows, and whether anything is lost. */
import { writeFileSync } from "node:fs";
import { parseOptions } from "./harness/options.js";
import { isFault } from "./soak/judgement.js";
import { soakPage } from "./soak/report.js";
import { runSoak } from "./soak/soak.js";

const options = parseOptions({
  command: "npm run soak --",
  about:
    "Traders at a third of saturation, bots, short-lived and slow readers, attacks, snapshots and\n" +
    "restarts by SIGTERM and SIGKILL. Fails when memory, handles, bytes an order or p99 grow, when\n" +
    "an acknowledged order is missing after a restart, or when verify does not agree.",
  numbers: { minutes: ["length", 60] },
  texts: { write: "also write the table to this file, as Markdown" },
  switches: { "without-attacks": "load, readers and restarts alone" },
});

const withAttacks = !options.has("without-attacks");
const result = await runSoak({ minutes: options.number("minutes"), withAttacks });
const page = soakPage(result);
const file = options.text("write");
if (file !== undefined) writeFileSync(file, page);
console.log(options.has("json") ? JSON.stringify(result) : page);
if (result.findings.some(isFault) || result.faults.length > 0) process.exitCode = 1;
