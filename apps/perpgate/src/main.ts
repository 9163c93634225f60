#!/usr/bin/env node
/**
 * The process: arguments in, exit code out.
 *
 * A reason not to start or to stop is one line on standard error, or one document with `--json`, and
 * exit code 1, or 2 if the command was written wrongly. SIGTERM and SIGINT to `serve` drain it and
 * exit 0; a second signal during the drain ends the process immediately.
 */

import { writeSync } from "node:fs";
import { codeOf, StartError } from "./cli/start-error.js";
import { createProgram, runProgram } from "./program.js";

/** Commands whose output is a stream: without a reader they end. */
const STREAMS: ReadonlySet<string> = new Set(["book", "export", "watch"]);
const SERVERS: ReadonlySet<string> = new Set(["attest", "serve"]);

// Everything this process writes, such as keys and signed orders, is private to its user.
process.umask(0o077);
const words = process.argv.slice(2);
const program = createProgram();
const unwritten = { isReported: false };
const running = { command: "" };
program.hook("preAction", (_program, command) => {
  running.command = command.name();
  // Progress and remarks. A server's log is written to the descriptor, which stays a blocking one.
  if (!SERVERS.has(running.command)) process.stderr.on("error", () => undefined);
});
process.stdout.on("error", (error) => {
  // A reader that has seen enough, such as `head`, is no failure. The command goes on without it, so
  // that its exit code is its own.
  if (codeOf(error) !== "EPIPE") reportUnwritten(error);
  else if (STREAMS.has(running.command)) process.exit(0);
});
runProgram(program, words).catch((error: unknown) => {
  if (error instanceof StartError) {
    process.stderr.write(words.includes("--json") ? error.json : error.text);
    process.exit(error.exitCode);
  }
  console.error(error);
  process.exit(1);
});

/** A lost result is a failure; a lost banner of a server is not. */
function reportUnwritten(error: Error): void {
  if (unwritten.isReported) return;
  unwritten.isReported = true;
  try {
    // Not through the stream: without a listener its error would end a server.
    writeSync(2, `perpgate: cannot write to standard output: ${error.message}\n`);
  } catch {
    // Standard error is on the same disk.
  }
  if (SERVERS.has(running.command)) return;
  process.once("exit", (code) => {
    if (code === 0) process.exitCode = 1;
  });
}
