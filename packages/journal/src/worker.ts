/**
 * Starts the worker threads of all server packages. It lives in the journal because that is
 * the lowest package that may use Node, and has an entry of its own: `@perpgate/journal/worker`.
 */
import { existsSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { Worker, type WorkerOptions } from "node:worker_threads";

export interface WorkerThread {
  readonly worker: Worker;
  /** Resolves after the thread has exited, with the error that ended it. Never rejects. */
  readonly exited: Promise<Error>;
}

type StartOptions = Pick<WorkerOptions, "workerData" | "transferList" | "resourceLimits">;

/**
 * Starts a thread. `module` is relative to `importer`, the caller's `import.meta.url`.
 *
 * A thread always runs built code, also if a test runs the caller from its sources, and it does not
 * inherit `process.execArgv`: `--conditions=perpgate-source` would make it load sources.
 */
export function startWorker(
  name: string,
  module: string,
  importer: string,
  options: StartOptions = {},
): WorkerThread {
  const worker = new Worker(builtModule(module, importer), { ...options, name, execArgv: [] });
  let reason: Error | undefined;
  worker.on("error", (error) => {
    reason = reasonOf(name, error);
  });
  const exited = new Promise<Error>((resolve) => {
    worker.once("exit", (code) => {
      resolve(reason ?? new Error(`the ${name} thread ended with exit code ${code}`));
    });
  });
  return { worker, exited };
}

function reasonOf(name: string, error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const isFull = "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  if (!isFull) return error;
  return new Error(
    `the ${name} thread is out of memory; start node with a larger --max-old-space-size`,
  );
}

/** Resolves with the thread's first message; rejects if the thread exits before it sends one. */
export function firstMessage<Message>({ worker, exited }: WorkerThread): Promise<Message> {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    void exited.then(reject);
  });
}

const LOWEST_PRIORITY = 19;

/**
 * Lowers the priority of the calling thread by `niceness` (1 to 19) below that of the process: an
 * absolute value could put it above an order path that runs at a low priority itself. Linux has a
 * priority per thread; elsewhere the call would slow the whole process, so it is a no-op there.
 */
export function lowerPriority(niceness: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(Math.min(LOWEST_PRIORITY, getPriority() + niceness));
  } catch {
    // Not permitted: the thread keeps its priority.
  }
}

/**
 * Of a module next to its importer; from sources the built one. Tests name the folder of the server's bundle, where it
 * is of this build: a thread of hundreds of modules takes three times the processor time to start.
 */
export function builtModule(module: string, importer: string): URL {
  if (!importer.endsWith(".ts")) return new URL(module, importer);
  const { TEST_BUNDLE: bundle } = process.env;
  const bundled = bundle === undefined ? undefined : new URL(module, bundle);
  if (bundled !== undefined && existsSync(bundled)) return bundled;
  return new URL(module, importer.replace(/^(.*)\/src\//, "$1/dist/"));
}
