/**
 * The venue's side of a rebuild: says how far the log may be read, and once the store is near the venue's
 * end, has it finished there and goes on with it. No order waits: from the batch at which the store is
 * finished on, the history keeps the rows of the venue's own commands, which it then writes.
 */
import type { LogSeq } from "@perpgate/journal";
import { startWorker } from "@perpgate/journal/worker";
import { FoundHistory } from "../history/found-history.js";
import type { History } from "../history/history.js";
import type { Held } from "../history/history-environment.js";
import { adoptHistory } from "../history/history-store.js";
import type { VenueLogger } from "../venue-options.js";
import { type FromRebuild, Rebuild, type RebuildData, type ToRebuild } from "./rebuild.js";

/** Batches behind the venue's end at which the store is finished. */
const NEAR_BATCHES = 2_000;
const FOLLOW_EVERY_MS = 50;
const LOG_EVERY_MS = 5_000;

interface RebuilderEvents {
  /** The history has its store. */
  onRebuilt(): void;
  onFailure(error: Error): void;
}

export class Rebuilder {
  private readonly post: (message: ToRebuild) => void;
  private readonly ended: Promise<unknown>;
  private readonly timer: NodeJS.Timeout;
  private readonly terminate: () => Promise<unknown>;
  private end: LogSeq;
  /** Batches of the log on disk, where it may deliver batches before they are. */
  private onDisk = Number.POSITIVE_INFINITY;
  private isNear = false;
  private isFinishing = false;
  private retained: Held | undefined;
  private isOver = false;
  private loggedAtMs = performance.now();

  constructor(
    private readonly data: RebuildData,
    private readonly history: History,
    private readonly events: RebuilderEvents,
    private readonly logger: VenueLogger,
  ) {
    this.end = { batch: data.batch, record: data.record };
    if (data.commit === "inline") {
      const rebuild = new Rebuild(data, (message) => this.onMessage(message));
      this.post = (message) => rebuild.take(message);
      this.ended = rebuild.run();
      this.terminate = () => this.ended;
    } else {
      const { worker, exited } = startWorker("rebuild", "./rebuild-thread.js", import.meta.url, {
        workerData: data,
      });
      worker.on("message", (message: FromRebuild) => this.onMessage(message));
      void exited.then(({ message }) => this.fail(message));
      // Must not keep the process alive, unless that waits for it.
      worker.unref();
      this.post = (message) => {
        if (message.kind === "close") worker.ref();
        worker.postMessage(message);
      };
      this.ended = exited;
      this.terminate = () => worker.terminate();
    }
    this.timer = setInterval(() => this.follow(), FOLLOW_EVERY_MS);
    this.timer.unref();
  }

  /** After each batch that the venue applies. */
  onBatchEnd(end: LogSeq): void {
    this.end = end;
    if (!this.isNear || this.isFinishing || this.isOver) return;
    this.isFinishing = true;
    this.retained = this.history.retain();
    this.follow();
    this.post({ kind: "finish", batch: end.batch });
  }

  onLogOnDisk(batches: number): void {
    this.onDisk = batches;
  }

  /** The next start goes on where this one was. */
  async close(): Promise<void> {
    if (this.isOver) return;
    this.stop();
    this.post({ kind: "close" });
    await this.ended;
  }

  /** For a process that has failed: ends the thread, whatever it does. */
  async abandon(): Promise<void> {
    if (this.isOver) return;
    this.stop();
    this.post({ kind: "close" });
    await this.terminate();
  }

  private follow(): void {
    if (this.isOver) return;
    this.post({ kind: "follow", batch: Math.min(this.end.batch, this.onDisk) });
  }

  private onMessage(message: FromRebuild): void {
    if (this.isOver) return;
    switch (message.kind) {
      case "progress":
        this.onProgress(message);
        return;
      case "discarded": {
        const { reason, movedTo } = message;
        this.logger.warn({ reason, movedTo }, "the history is rebuilt from the log");
        return;
      }
      case "finished":
        this.finish();
        return;
      case "failed":
        this.fail(message.message);
    }
  }

  private onProgress({ batch, record }: LogSeq): void {
    const { end, history, logger } = this;
    history.rebuilt = Math.min(1, record / Math.max(1, end.record));
    this.isNear = batch >= Math.min(end.batch, this.onDisk) - NEAR_BATCHES;
    // A venue without commands has no further batch end.
    if (this.isNear) this.onBatchEnd(end);
    const nowMs = performance.now();
    if (nowMs - this.loggedAtMs < LOG_EVERY_MS) return;
    this.loggedAtMs = nowMs;
    logger.info({ record, records: end.record }, "rebuilding the history");
  }

  private finish(): void {
    this.stop();
    const { folder, logId, record } = this.data;
    try {
      const found = FoundHistory.find(folder.history);
      const first = { batch: 1, record };
      // A log that begins later: a store that is not there now must not be made again.
      const { store } = adoptHistory(found, logId, first, 0);
      if (store.held.position !== this.retained?.position) {
        store.environment.close();
        throw new Error(`the rebuilt history ends at position ${store.held.position}`);
      }
      this.history.attach(store);
    } catch (error) {
      this.events.onFailure(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.logger.info({ position: this.history.seq }, "the history is rebuilt");
    this.events.onRebuilt();
  }

  private fail(reason: string): void {
    if (this.isOver) return;
    this.stop();
    this.events.onFailure(new Error(`the history cannot be rebuilt: ${reason}`));
  }

  private stop(): void {
    this.isOver = true;
    clearInterval(this.timer);
  }
}
