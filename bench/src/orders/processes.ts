/** Children of a bench: servers under test and the load, each a process that this one ends. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { LoadPlan, LoadResult } from "./load.js";

/** As many verifying threads as cores that the event loop leaves free; more ruin the tail. */
const POOL = { UV_THREADPOOL_SIZE: "2" };

export function forkScript(url: URL, args: readonly string[]): ChildProcess {
  return fork(fileURLToPath(url), args, { env: { ...process.env, ...POOL } });
}

/** The first message a child sends, or an error if it ends before it says anything. */
export async function firstMessage(child: ChildProcess): Promise<unknown> {
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`a child process ended early with code ${code}`);
  });
  const [message] = await Promise.race([once(child, "message"), ended]);
  return message;
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

const REST_LOAD = new URL("./load.js", import.meta.url);

/** Runs one load against a port and answers what it measured. */
export async function runLoad(plan: LoadPlan, script = REST_LOAD): Promise<LoadResult> {
  const child = forkScript(script, []);
  child.send(plan);
  await firstMessage(child);
  const finished = once(child, "message");
  child.send("go");
  const [result] = await finished;
  return result;
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
