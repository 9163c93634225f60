/**
 * Child processes that serve typed calls over IPC: `serve` in the child, `Child.call` in the parent.
 * A child ends when its parent is gone.
 */
import { type ChildProcess, type ForkOptions, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { errorText } from "./report.js";

/** What a script serves: functions by name. Arguments and results must survive JSON. */
type Handlers<H> = { readonly [K in keyof H]: (...args: never[]) => unknown };

type Call = { readonly id: number; readonly name: string; readonly args: never[] };
type Reply = { readonly id: number; readonly value?: unknown; readonly error?: string };
type Pending = { resolve(value: unknown): void; reject(error: Error): void };

/** As the service files have it. */
export const THREADS = { UV_THREADPOOL_SIZE: "2" };
const ENDED_WITHIN_MS = 20_000;
const HIGH_PRIORITY = -10;

export function serve<H extends Handlers<H>>(handlers: H): void {
  process.on("message", async ({ id, name, args }: Call) => {
    try {
      const value: unknown = await Reflect.apply(Reflect.get(handlers, name), handlers, args);
      process.send?.({ id, value });
    } catch (error) {
      process.send?.({ id, error: errorText(error) });
    }
  });
  process.once("disconnect", () => process.exit());
}

export class Child<H extends Handlers<H>> {
  private readonly pending = new Map<number, Pending>();
  private calls = 0;

  constructor(readonly process: ChildProcess) {
    process.on("message", ({ id, value, error }: Reply) => {
      const pending = this.pending.get(id);
      this.pending.delete(id);
      if (error === undefined) pending?.resolve(value);
      else pending?.reject(new Error(error));
    });
    // The end of the channel, not the exit: a large reply may arrive after the process is gone.
    process.once("disconnect", () => this.fail(`a child ended with code ${process.exitCode}`));
    process.once("error", (error) => this.fail(error.message));
  }

  /** `url` is a script that calls `serve`. */
  static start<H extends Handlers<H>>(
    url: URL,
    args: readonly string[] = [],
    options: ForkOptions = {},
  ): Child<H> {
    const env = { ...process.env, ...THREADS };
    return new Child(fork(fileURLToPath(url), args, { ...options, env }));
  }

  call<K extends keyof H & string>(
    name: K,
    ...args: Parameters<H[K]>
  ): Promise<Awaited<ReturnType<H[K]>>> {
    const id = ++this.calls;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.process.send({ id, name, args });
    });
  }

  async stop(): Promise<void> {
    await endProcess(this.process);
  }

  private fail(reason: string): void {
    for (const { reject } of this.pending.values()) reject(new Error(reason));
    this.pending.clear();
  }
}

/** The exit code, or null where a signal ended the process. */
export async function endProcess(
  child: ChildProcess,
  signal: "SIGTERM" | "SIGKILL" = "SIGTERM",
): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, "exit", { signal: AbortSignal.timeout(ENDED_WITHIN_MS) });
  child.kill(signal);
  await exited.catch(() => {
    throw new Error(`too late: a process still runs ${ENDED_WITHIN_MS} ms after ${signal}`);
  });
  return child.exitCode;
}

/**
 * Fork options for a process that runs only while a core is idle (SCHED_IDLE) and is preempted
 * immediately. At the lowest ordinary priority it would finish its time slice, some milliseconds.
 */
export function idlePriority(): ForkOptions {
  const isAllowed = spawnSync("chrt", ["--idle", "0", "true"]).status === 0;
  if (isAllowed) return { execPath: "chrt", execArgv: ["--idle", "0", process.execPath] };
  return { execPath: "nice", execArgv: ["-n", "19", process.execPath] };
}

/**
 * Raises this thread's priority where that is allowed, as a load on another machine would not wait
 * for these cores. Returns a function that restores it.
 */
export function raisePriority(): () => void {
  const before = getPriority();
  try {
    setPriority(HIGH_PRIORITY);
    return () => setPriority(before);
  } catch {
    return () => undefined;
  }
}
