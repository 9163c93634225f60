/**
 * How the process ends. See docs/adr/0070-process-exit.md.
 *
 * `process.exit` waits for every worker thread and every request in libuv's thread pool. One thread
 * that is blocked in a system call or a transaction of the store would keep the process, and the lock on its
 * data folder, for ever. So `process.exit` is called only when nothing is left to wait for; otherwise
 * the process kills itself with SIGKILL. A watchdog thread does so if the main thread is blocked.
 *
 * The steps of a failure, each with a time limit: set the exit deadline, write the reason, let
 * `prepare` answer clients and end what must not be terminated, terminate the other threads, exit.
 */

import type { Worker } from "node:worker_threads";
import { ExitDeadline } from "@perpgate/journal";
import { startWorker } from "@perpgate/journal/worker";
import { StartError } from "../../cli/start-error.js";
import { writeError } from "./write-error.js";

/** For `prepare`. */
const PREPARE_MS = 1_500;
/** For terminated threads and requests of the thread pool to end. */
const TERMINATE_MS = 500;
const POLL_MS = 10;

/** Names, in `process.getActiveResourcesInfo`, of requests that occupy a thread of the pool. */
const POOL_REQUEST = /^(FSReq|GetAddrInfo|GetNameInfo|.*Request$|.*Job$)/;

type Prepare = () => Promise<unknown>;

export class ProcessExit {
  readonly deadline = new ExitDeadline();
  private readonly threads = new Set<Worker>();
  private readonly prepares: Prepare[] = [];
  private hasFailed = false;
  private isEnding = false;

  /** Handles every failure of this process from now on. */
  static install(): ProcessExit {
    const exit = new ProcessExit();
    const { worker: watchdog, exited } = startWorker(
      "watchdog",
      "./watchdog-thread.js",
      import.meta.url,
      { workerData: exit.deadline.memory },
    );
    void exited.then((error) => exit.fail(error));
    watchdog.unref();
    process.on("worker", (thread) => {
      if (thread === watchdog) return;
      exit.threads.add(thread);
      // The event comes a tick after the start; a failure within that tick is here before it.
      if (exit.isEnding) void thread.terminate();
      thread.once("exit", () => exit.threads.delete(thread));
    });
    // Unhandled rejections arrive here too.
    process.on("uncaughtException", (error) => exit.fail(error));
    return exit;
  }

  /** Runs on a failure, or a stop during the start, before threads are terminated, for at most `PREPARE_MS`. */
  onFailure(prepare: Prepare): void {
    this.prepares.push(prepare);
  }

  /** Ends the process with a non-zero code. Only the first failure counts. */
  fail(error: unknown): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    const failure = error instanceof Error ? error : new Error(String(error));
    // First: every later step can block.
    this.deadline.fail(failure.message);
    const isKnown = failure instanceof StartError;
    writeError(isKnown ? failure.text : `${failure.stack ?? failure.message}\n`);
    this.prepareAndEnd(isKnown ? failure.exitCode : 1);
  }

  /** Ends a process that has not finished its start, with code 0. Later failures do not count. */
  stopStart(): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    this.deadline.endWithin(PREPARE_MS + 2 * TERMINATE_MS);
    writeError("perpgate: stopped before the start had finished\n");
    this.prepareAndEnd(0);
  }

  /** Runs an orderly stop within a time limit. A failure during it sets the exit code. */
  stop(work: () => Promise<void>, withinMs: number): void {
    const late = new StartError(`the drain did not end within ${withinMs} ms`);
    const timer = setTimeout(() => this.fail(late), withinMs);
    // Later than the timer, so that the main thread can write the reason.
    this.deadline.endWithin(withinMs + PREPARE_MS + 2 * TERMINATE_MS);
    work().then(
      () => {
        clearTimeout(timer);
        if (!this.hasFailed) void this.end(0);
      },
      (error) => this.fail(error),
    );
  }

  private prepareAndEnd(code: number): void {
    const prepared = Promise.allSettled(this.prepares.map((prepare) => prepare()));
    void within(PREPARE_MS, prepared).then(() => this.end(code));
  }

  private async end(code: number): Promise<void> {
    this.isEnding = true;
    for (const thread of this.threads) void thread.terminate();
    const isIdle = () => this.threads.size === 0 && !isPoolBusy();
    for (let waited = 0; waited < TERMINATE_MS && !isIdle(); waited += POLL_MS) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    if (isIdle()) process.exit(code);
    process.kill(process.pid, "SIGKILL");
    // The kernel protects process 1 of a container from SIGKILL, but not from a fault of its own.
    process.abort();
  }
}

function isPoolBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => POOL_REQUEST.test(name));
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, new Promise((resolve) => setTimeout(resolve, ms))]);
}
