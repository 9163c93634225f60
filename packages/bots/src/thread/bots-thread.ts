/**
 * The crowd beside the venue: a thread of its own, because quoting and signing would take turns
 * from orders, and a heap of its own, because a fault of a bot must not be one of the venue.
 *
 * A thread that ends by itself is started again after a pause that grows while it keeps ending. It
 * never keeps the process alive.
 */

import { Worker } from "node:worker_threads";
import type { BotLog, BotSettings, BotVenue } from "../bot-settings.js";
import type { FromThread, ThreadData, ToThread } from "./messages.js";

const BACKOFF = { firstMs: 1_000, longestMs: 60_000 };
/** A thread that ran this long before it ended was well. */
const WELL_AFTER_MS = 60_000;
const HEAP_MB = 256;
/** Between the crowd's own goodbye and the end of its thread. */
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
      // Without the flags of the process: they are the venue's.
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
        if (performance.now() - startedAtMs > WELL_AFTER_MS) this.failures = 0;
        this.onExit(reason);
        resolve();
      });
    });
    worker.unref();
  }

  /** Orders canceled, signed out, no thread left; no later than told. */
  async stop(withinMs: number): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    const { worker } = this;
    if (worker === undefined) return;
    worker.ref();
    const goodbye: ToThread = { kind: "stop", withinMs: Math.max(0, withinMs - SLACK_MS) };
    worker.postMessage(goodbye);
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

/** Threads run built code, also when this module is run from its sources by a test. */
function threadFile(): URL {
  const built = import.meta.url.endsWith(".ts") ? "../../dist/thread" : ".";
  return new URL(`${built}/crowd-thread.js`, import.meta.url);
}
