/** Children of a bench: servers under test and the load, each a process that this one ends. */
import { type ChildProcess, type ForkOptions, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { LoadPlan, LoadResult } from "./load.js";

/** As many verifying threads as cores that the event loop leaves free; more ruin the tail. */
const POOL = { UV_THREADPOOL_SIZE: "2" };

/** `options`: another program to start Node with, for instance. */
export function forkScript(
  url: URL,
  args: readonly string[],
  options: ForkOptions = {},
): ChildProcess {
  return fork(fileURLToPath(url), args, { ...options, env: { ...process.env, ...POOL } });
}

const IDLE_CORES = ["chrt", "--idle", "0"] as const;
const LOWEST_PRIORITY = ["nice", "-n", "19"] as const;

/**
 * A process, all its threads included, that has a core only while nobody else wants it, and makes way
 * at once. One of the lowest priority does not: it may finish its slice first, some milliseconds.
 */
export function forkOnIdleCores(url: URL): ChildProcess {
  const isAllowed = spawnSync(IDLE_CORES[0], [...IDLE_CORES.slice(1), "true"]).status === 0;
  const [program, ...args] = isAllowed ? IDLE_CORES : LOWEST_PRIORITY;
  return forkScript(url, [], { execPath: program, execArgv: [...args, process.execPath] });
}

/**
 * The first message a child sends, or an error if it ends before it says anything. The end of its
 * channel tells, not its exit: a large message may still be on the way when the process is gone.
 */
export function firstMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      child.off("message", onMessage).off("disconnect", onEnd).off("error", onMissing);
      act();
    };
    const onMessage = (message: unknown): void => settle(() => resolve(message));
    const onEnd = (): void =>
      settle(() => reject(new Error(`a child process ended early with code ${child.exitCode}`)));
    // A program that is not there.
    const onMissing = (error: Error): void => settle(() => reject(error));
    child.once("message", onMessage).once("disconnect", onEnd).once("error", onMissing);
  });
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

/**
 * Room for all that a turn leaves behind: a load or a probe that collects garbage meanwhile, at its
 * high priority, takes the cores from the server for milliseconds.
 */
export const UNCOLLECTED = [
  "--expose-gc",
  "--min-semi-space-size=128",
  "--max-semi-space-size=128",
];

const REST_LOAD = new URL("./load.js", import.meta.url);

/** Runs one load against a port and answers what it measured; a refused request is an error. */
export async function runLoad(plan: LoadPlan, script = REST_LOAD): Promise<LoadResult> {
  const child = forkScript(script, [], { execArgv: UNCOLLECTED });
  child.send(plan);
  await firstMessage(child);
  const finished = firstMessage(child);
  child.send("go");
  const result = await finished;
  if (!isLoadResult(result)) throw new Error(`the load said ${JSON.stringify(result)}`);
  const refusals = Object.entries(result.refused);
  if (refusals.length > 0) throw new Error(`refused: ${JSON.stringify(refusals)}`);
  return result;
}

function isLoadResult(value: unknown): value is LoadResult {
  return typeof value === "object" && value !== null && "sentLatenciesMs" in value;
}

export function perSecond({ answered, seconds }: LoadResult): number {
  return answered / seconds;
}
