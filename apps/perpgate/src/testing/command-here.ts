/**
 * The command line in this process, as `main.ts` runs it: the start of a process takes longer than most
 * commands. Not for signals, pipes and what keeps a process alive.
 */

import { setTimeout } from "node:timers/promises";
import { vi } from "vitest";
import { StartError } from "../cli/start-error.js";
import { createProgram, runProgram } from "../program.js";
import type { Ended } from "./perpgate-process.js";

const LONGEST_MS = 90_000;
const queue: { last: Promise<unknown> } = { last: Promise.resolve() };

/**
 * One command at a time: environment, output, file mode and exit code are those of the process.
 * Rejects with an error that `main.ts` would print with a stack.
 */
export function commandHere(
  words: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  const ended = queue.last.then(() => runAlone(words, environment));
  queue.last = ended.catch(() => undefined);
  return ended;
}

async function runAlone(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<Ended> {
  const { env, exitCode } = process;
  const mask = process.umask(0o077);
  const stdout = captured(process.stdout);
  const stderr = captured(process.stderr);
  const endedWith = (code: number): Ended => {
    return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
  };
  // As to a pipe, even if the tests run in a terminal.
  process.env = { PATH: env.PATH, TERM: "dumb", ...environment };
  process.exitCode = 0;
  try {
    await Promise.race([runProgram(createProgram(), words), tooLate(words)]);
    return endedWith(Number(process.exitCode));
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(words.includes("--json") ? error.json : error.text);
    return endedWith(error.exitCode);
  } finally {
    stdout.restore();
    stderr.restore();
    process.exitCode = exitCode;
    process.env = env;
    process.umask(mask);
  }
}

/** Rejects, so that a command that hangs gives environment and output back. */
async function tooLate(words: readonly string[]): Promise<never> {
  await setTimeout(LONGEST_MS, undefined, { ref: false });
  throw new Error(`too late: perpgate ${words.join(" ")} did not end within ${LONGEST_MS} ms`);
}

function captured(stream: NodeJS.WriteStream): { text(): string; restore(): void } {
  const chunks: string[] = [];
  const write = vi.spyOn(stream, "write").mockImplementation((chunk) => {
    chunks.push(String(chunk));
    return true;
  });
  return { text: () => chunks.join(""), restore: () => write.mockRestore() };
}
