/**
 * Runs the crowd in a worker thread of the venue's process: quoting and signing must not delay the
 * event loop, and an error or a full heap of the bots must not end the venue.
 *
 * A thread that ends is started again, with backoff. It never keeps the process alive.
 */

import { Worker } from "node:worker_threads";
import type { BotLog, BotSettings, BotVenue } from "../bot-settings.js";
import type { FromThread, ThreadData, ToThread } from "./crowd-thread.js";

const BACKOFF = { firstMs: 1_000, longestMs: 60_000 };
/** A thread that ran this long resets the backoff. */
const RESET_AFTER_MS = 60_000;
const HEAP_MB = 256;
/** Between the deadline of the crowd's stop and that of its thread. */
const SLACK_MS = 500;

export class BotsThread {
  private worker: Worker | undefined;
  private exited: Promise<void> = Promise.resolve();
  private restart: NodeJS.Timeout | undefined;
  private failures = 0;
  private isStopping = false;

  constructor(
    private readonly venue: BotVenue,
    private readonly settings: BotSettings,
    private readonly log: BotLog,
  ) {}

  start(): void {
    const workerData: ThreadData = { venue: this.venue, settings: this.settings };
    const startedAtMs = performance.now();
    const worker = new Worker(threadFile(), {
      workerData,
      // The flags of the process are meant for the venue.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    this.worker = worker;
    let reason = "it exited";
    worker.on("message", ({ level, message, fields }: FromThread) => {
      this.log[level](message, fields);
    });
    worker.on("error", (error) => {
      reason = error.message;
    });
    this.exited = new Promise((resolve) => {
      worker.once("exit", () => {
        if (performance.now() - startedAtMs > RESET_AFTER_MS) this.failures = 0;
        this.onExit(reason);
        resolve();
      });
    });
    worker.unref();
  }

  /** Cancels the orders, signs out and ends the thread, within the given time. */
  async stop(withinMs: number): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    const { worker } = this;
    if (worker === undefined) return;
    worker.ref();
    const stop: ToThread = { kind: "stop", withinMs: Math.max(0, withinMs - SLACK_MS) };
    worker.postMessage(stop);
    const timer = setTimeout(() => void worker.terminate(), withinMs);
    await this.exited;
    clearTimeout(timer);
  }

  private onExit(reason: string): void {
    this.worker = undefined;
    if (this.isStopping) return;
    const waitMs = Math.min(BACKOFF.longestMs, BACKOFF.firstMs * 2 ** Math.min(this.failures, 10));
    this.failures++;
    this.log.warn("the bots ended and are started again", { reason, waitMs });
    this.restart = setTimeout(() => this.start(), waitMs);
    this.restart.unref();
  }
}

/** Threads run built code, also when a test runs this module from its source. */
function threadFile(): URL {
  const built = import.meta.url.endsWith(".ts") ? "../../dist/thread" : ".";
  return new URL(`${built}/crowd-thread.js`, import.meta.url);
}
