/**
 * Runs the crowd in a worker thread of the venue's process: quoting and signing must not delay the
 * event loop, and an error or a full heap of the bots must not end the venue.
 *
 * A thread that ends is started again, with backoff. It never keeps the process alive.
 */

import { startWorker, stopWorker, type WorkerThread } from "@perpgate/journal/worker";
import type { BotLog, BotSettings, BotVenue } from "../bot-settings.js";
import { backoffMs } from "../sleep.js";
import type { FromThread, ThreadData, ToThread } from "./crowd-thread.js";

/** A thread that ran this long resets the backoff. */
const RESET_AFTER_MS = 60_000;
const HEAP_MB = 256;
/** Between the deadline of the crowd's stop and that of its thread. */
const SLACK_MS = 500;

export class BotsThread {
  private thread: WorkerThread | undefined;
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
    this.thread = startWorker("bots", "./crowd-thread.js", import.meta.url, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    const { worker, exited } = this.thread;
    worker.on("message", ({ level, message, fields }: FromThread) => {
      this.log[level](message, fields);
    });
    void exited.then(({ message }) => {
      if (performance.now() - startedAtMs > RESET_AFTER_MS) this.failures = 0;
      this.onExit(message);
    });
    worker.unref();
  }

  /** Cancels the orders, signs out and ends the thread, within the given time. */
  async stop(withinMs: number): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    if (this.thread === undefined) return;
    const stop: ToThread = { kind: "stop", withinMs: Math.max(0, withinMs - SLACK_MS) };
    await stopWorker(this.thread, stop, withinMs);
  }

  private onExit(reason: string): void {
    this.thread = undefined;
    if (this.isStopping) return;
    const waitMs = backoffMs(this.failures);
    this.failures++;
    this.log.warn("the bots ended and are started again", { reason, waitMs });
    this.restart = setTimeout(() => this.start(), waitMs);
    this.restart.unref();
  }
}
