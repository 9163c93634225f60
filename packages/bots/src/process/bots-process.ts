/**
 * Runs the crowd in a process next to the venue's: quoting and signing must not take the venue's
 * processor time or heap, and a fault of the bots must not end it.
 *
 * A process that ends is started again, with backoff.
 */

import { type ChildProgram, startChild, stopChild } from "@perpgate/journal/child";
import type { BotLog, BotSettings, BotVenue } from "../bot-settings.js";
import { retryWaitMs } from "../sleep.js";
import type { CrowdData, FromCrowd, ToCrowd } from "./crowd-process.js";

/** A process that ran this long resets the backoff. */
const RESET_AFTER_MS = 60_000;
const HEAP_MB = 256;
/** Between the deadline of the crowd's stop and that of its process. */
const SLACK_MS = 500;

export class BotsProcess {
  private process: ChildProgram | undefined;
  private restart: NodeJS.Timeout | undefined;
  private failures = 0;
  private isStopping = false;

  constructor(
    private readonly venue: BotVenue,
    private readonly settings: BotSettings,
    private readonly log: BotLog,
  ) {}

  start(): void {
    const data: CrowdData = { venue: this.venue, settings: this.settings };
    const startedAtMs = performance.now();
    this.process = startChild<FromCrowd>("bots", "./crowd-process.js", import.meta.url, {
      data,
      heapMb: HEAP_MB,
      onMessage: ({ level, message, fields }) => this.log[level](message, fields),
    });
    void this.process.exited.then(({ message }) => {
      if (performance.now() - startedAtMs > RESET_AFTER_MS) this.failures = 0;
      this.onExit(message);
    });
  }

  /** Cancels the orders, signs out and ends the process, within the given time. */
  async stop(withinMs: number): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    if (this.process === undefined) return;
    const stop: ToCrowd = { withinMs: Math.max(0, withinMs - SLACK_MS) };
    await stopChild(this.process, stop, withinMs);
  }

  private onExit(reason: string): void {
    this.process = undefined;
    if (this.isStopping) return;
    const waitMs = retryWaitMs(this.failures);
    this.failures++;
    this.log.warn("the bots ended and are started again", { reason, waitMs });
    this.restart = setTimeout(() => this.start(), waitMs);
    this.restart.unref();
  }
}
