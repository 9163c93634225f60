#!/usr/bin/env node
/**
 * The process: arguments in, exit code out.
 *
 * A reason not to start or to stop is one line on standard error, or one document with `--json`, and
 * exit code 1, or 2 if the command was written wrongly. SIGTERM and SIGINT to `serve` drain it and
 * exit 0; a second signal during the drain ends the process immediately.
 */

import { StartError } from "./cli/start-error.js";
import { createProgram, runProgram } from "./program.js";

// Everything this process writes, such as keys and signed orders, is private to its user.
process.umask(0o077);
const words = process.argv.slice(2);
const program = createProgram();
const running = { isServer: false };
program.hook("preAction", (_program, command) => {
  running.isServer = command.name() === "serve";
});
// A reader that has seen enough, such as `head`, is no failure. Help is printed before any action.
process.stdout.on("error", (error) => {
  if (!running.isServer && "code" in error && error.code === "EPIPE") process.exit(0);
  throw error;
});
runProgram(program, words).catch((error: unknown) => {
  if (error instanceof StartError) {
    process.stderr.write(words.includes("--json") ? error.json : error.text);
    process.exit(error.exitCode);
  }
  console.error(error);
  process.exit(1);
});
