/**
 * Feeds the archive of this venue, if a setting names one, in a process next to the venue's. It is started
 * again, with backoff, when it ends; the venue goes on without it.
 */

import { type ChildProgram, startChild, stopChild } from "@perpgate/journal/child";
import type { Logger } from "pino";
import type { FromArchive, ToArchive } from "./archive-process.js";
import type { IndexerSettings } from "./indexer.js";

/** A replica of the venue's state, and the rows of a transaction. */
const HEAP_MB = 4_096;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** A process that ran this long resets the backoff. */
const RESET_AFTER_MS = 60_000;
/** For the end of a transaction; what it does not write is written after the next start. */
const STOP_WITHIN_MS = 3_000;

export class VenueArchive {
  private process: ChildProgram | undefined;
  private restart: NodeJS.Timeout | undefined;
  private waitMs = FIRST_WAIT_MS;
  private isStopping = false;

  private constructor(
    private readonly settings: IndexerSettings,
    private readonly log: Logger,
  ) {}

  static start(settings: IndexerSettings, log: Logger): VenueArchive {
    const archive = new VenueArchive(settings, log);
    archive.start();
    return archive;
  }

  async stop(withinMs: number): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.restart);
    const { process } = this;
    const stop: ToArchive = { kind: "stop" };
    if (process !== undefined) await stopChild(process, stop, Math.min(STOP_WITHIN_MS, withinMs));
  }

  private start(): void {
    const startedAtMs = performance.now();
    const process = startChild<FromArchive>("archive", "./archive-process.js", import.meta.url, {
      data: this.settings,
      heapMb: HEAP_MB,
      onMessage: ({ level, message, fields }) => this.log[level]({ ...fields }, message),
    });
    this.process = process;
    void process.exited.then(({ message: reason }) => {
      this.process = undefined;
      if (this.isStopping) return;
      if (performance.now() - startedAtMs > RESET_AFTER_MS) this.waitMs = FIRST_WAIT_MS;
      const { waitMs } = this;
      this.waitMs = Math.min(LONGEST_WAIT_MS, 2 * waitMs);
      this.log.warn({ reason, waitMs }, "the archive's process ended and is started again");
      this.restart = setTimeout(() => this.start(), waitMs);
      this.restart.unref();
    });
  }
}
