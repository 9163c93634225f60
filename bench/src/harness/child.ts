/**
 * Child processes that serve typed calls over IPC: `serve` in the child, `Child.call` in the parent.
 * A child ends when its parent is gone.
 */
import { type ChildProcess, type ForkOptions, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { Peer } from "./peers.js";
import { messageOf } from "./report.js";

/** What a script serves: functions by name. Arguments and results must survive JSON. */
type Handlers<H> = { readonly [K in keyof H]: (...args: never[]) => unknown };

interface Call {
  readonly id: number;
  readonly name: string;
  readonly args: never[];
}

interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export function serve<H extends Handlers<H>>(handlers: H): void {
  const byName = new Map(Object.entries<(...args: never[]) => unknown>(handlers));
  process.on("message", async ({ id, name, args }: Call) => {
    let reply: Reply;
    try {
      reply = { id, value: await byName.get(name)?.(...args) };
    } catch (error) {
      reply = { id, error: messageOf(error) };
    }
    process.send?.(reply);
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
    return new Child(forkScript(url, args, options));
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

  stop(): Promise<void> {
    return stopProcess(this.process);
  }

  private fail(reason: string): void {
    for (const { reject } of this.pending.values()) reject(new Error(reason));
    this.pending.clear();
  }
}

/** Two verifying threads, as `npm start` has it; more lengthen the tail on two cores. */
export const THREADS = { UV_THREADPOOL_SIZE: "2" };

function forkScript(
  url: URL,
  args: readonly string[] = [],
  options: ForkOptions = {},
): ChildProcess {
  return fork(fileURLToPath(url), args, { ...options, env: { ...process.env, ...THREADS } });
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

/**
 * Fork options for a process that runs only while a core is idle (SCHED_IDLE) and is preempted
 * immediately. At the lowest ordinary priority it would finish its time slice, some milliseconds.
 */
export function idlePriority(): ForkOptions {
  const idle = ["chrt", "--idle", "0"];
  const isAllowed = spawnSync(idle[0]!, [...idle.slice(1), "true"]).status === 0;
  const [execPath, ...args] = isAllowed ? idle : ["nice", "-n", "19"];
  return { execPath: execPath!, execArgv: [...args, process.execPath] };
}

const HIGH_PRIORITY = -10;

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

export interface RunningPeer {
  readonly child: Child<Peer>;
  readonly port: number;
}

/** Runs with one of the servers of peers.ts. */
export async function withPeer<T>(
  args: readonly ["floor" | "constant" | "discard" | "broadcast", ...string[]],
  run: (peer: RunningPeer) => Promise<T>,
): Promise<T> {
  const child = Child.start<Peer>(new URL("./peers.js", import.meta.url), args);
  try {
    return await run({ child, port: await child.call("port") });
  } finally {
    await child.stop();
  }
}
