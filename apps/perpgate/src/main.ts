#!/usr/bin/env node

/**
 * The process: arguments in, exit code out.
 *
 * A reason not to start, or not to go on, is a line on standard error and exit code 1, or 2 if the
 * command was written wrongly. SIGTERM and SIGINT to `serve` drain and exit 0; a second signal while
 * draining ends the process at once.
 */

import { runCommand } from "./cli/command.js";
import { StartError } from "./cli/start-error.js";
import { COMMANDS } from "./program.js";
import { bannerText } from "./serve/banner.js";
import { ProcessExit } from "./serve/exit/process-exit.js";
import { helpText, parseCommandLine } from "./serve/options.js";
import { letHeapGrow } from "./serve/roomy-heap.js";
import { onStopSignal } from "./serve/stop-signals.js";
import { readVersion } from "./version.js";

async function run(): Promise<void> {
  // Whatever this process writes, keys and signed orders among it, is for its own user.
  process.umask(0o077);
  const [first = "", ...rest] = process.argv.slice(2);
  // `perpgate help buy` is `perpgate buy --help`.
  const isHelp = first === "help" && COMMANDS.has(rest[0] ?? "");
  const entry = COMMANDS.get(isHelp ? (rest[0] ?? "") : first);
  if (entry === undefined) return runServe();
  // A reader that has seen enough, such as `head`, is no failure.
  process.stdout.on("error", (error) => {
    if ("code" in error && error.code === "EPIPE") process.exit(0);
    throw error;
  });
  const command = await entry.load();
  process.exitCode = await runCommand(command, isHelp ? ["--help"] : rest);
}

async function runServe(): Promise<void> {
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
  // Loaded only now, as what follows it, so that help and every other command answer at once.
  const { readConfiguration } = await import("./serve/configuration.js");
  const settings = readConfiguration(command.flags, process.env);
  const attestorKey = process.env.PERPGATE_ATTESTOR_KEY;
  // Whatever this process starts has no use for it.
  delete process.env.PERPGATE_ATTESTOR_KEY;
  letHeapGrow();
  const { serve } = await import("./serve/serve.js");
  const exit = ProcessExit.install();
  const perpgate = await serve(settings, version, command.accepted, exit, attestorKey).catch(
    (error) => {
      exit.fail(error);
      return undefined;
    },
  );
  if (perpgate === undefined) return;
  // Before the banner: whoever waits for it may send a signal the moment it appears.
  onStopSignal(() => exit.stop(() => perpgate.stop(), perpgate.stopWithinMs));
  process.stdout.write(bannerText(perpgate, version));
}

function fail(error: unknown): void {
  if (error instanceof StartError) {
    process.stderr.write(error.text);
    process.exit(error.exitCode);
  }
  console.error(error);
  process.exit(1);
}

run().catch(fail);
