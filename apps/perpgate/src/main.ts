#!/usr/bin/env node
/**
 * The process: arguments in, exit code out.
 *
 * A reason not to start, or not to go on, is one line on standard error and exit code 1. SIGTERM
 * and SIGINT drain and exit 0; a second signal while draining ends the process at once.
 */

import { bannerText } from "./banner.js";
import { helpText, parseCommandLine } from "./command-line.js";
import { readConfiguration } from "./configuration.js";
import { StartError } from "./start-error.js";
import { readVersion } from "./version.js";

async function run(): Promise<void> {
  if (process.argv[2] === "verify") {
    const { verifyCommand } = await import("./verify-command.js");
    process.exitCode = await verifyCommand(process.argv.slice(3));
    return;
  }
  if (process.argv[2] === "backup") {
    const { backupCommand } = await import("./backup-command.js");
    process.exitCode = await backupCommand(process.argv.slice(3));
    return;
  }
  if (process.argv[2] === "cohort") {
    const { cohortCommand } = await import("./cohort-command.js");
    await cohortCommand(process.argv.slice(3));
    return;
  }
  if (process.argv[2] === "attest") {
    const { attestCommand } = await import("./bridge/attest-command.js");
    await attestCommand(process.argv.slice(3), process.env);
    return;
  }
  const command = parseCommandLine(process.argv.slice(2));
  const version = readVersion();
  if (command.name === "help") {
    process.stdout.write(helpText());
    return;
  }
  if (command.name === "version") {
    process.stdout.write(`${version}\n`);
    return;
  }
  const settings = readConfiguration(command.flags, process.env);
  const attestorKey = process.env.PERPGATE_ATTESTOR_KEY;
  // Whatever this process starts has no use for it.
  delete process.env.PERPGATE_ATTESTOR_KEY;
  // Loaded only now, so that help and a refused configuration answer at once.
  const { serve } = await import("./serve.js");
  const perpgate = await serve(settings, version, attestorKey);
  // Before the banner: whoever waits for it may send a signal the moment it appears.
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => {
      perpgate.stop().then(() => process.exit(0), fail);
    });
  }
  process.stdout.write(bannerText(perpgate, version));
  // The log decides what was acknowledged; a venue that cannot write it says 503, and ends.
  void perpgate.failed.then((error) => {
    const end = () => fail(new StartError(`the venue stopped: ${error.message}`));
    perpgate.answerStopped().then(end, end);
  });
}

function fail(error: unknown): void {
  if (error instanceof StartError) process.stderr.write(`perpgate: ${oneLine(error.message)}\n`);
  else console.error(error);
  process.exit(1);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}

run().catch(fail);
