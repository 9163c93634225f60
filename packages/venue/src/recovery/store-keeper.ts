/**
 * The venue's side of the thread that makes the store's rows (store-follower.ts): says how far the log may be
 * read, and once the store is near the venue's end, has it become live there. No order waits: the history keeps
 * the batches after that one, which the thread gets then.
 */
import type { LogSeq } from "@perpgate/journal";
import { startWorker } from "@perpgate/journal/worker";
import { ApiError } from "@perpgate/protocol/core";
import type { SnapshotNotice } from "../checkpoint/snapshot-taker.js";
import type { PackedBatches } from "../history/batch-packer.js";
import type { FollowedHistory, RowMaker } from "../history/followed-history.js";
import { FoundHistory } from "../history/found-history.js";
import type { Held } from "../history/history-environment.js";
import { adoptHistory } from "../history/history-store.js";
import { StoreReader } from "../history/thread/store-reader.js";
import { HistoryLost } from "../venue-errors.js";
import type { VenueLogger } from "../venue-options.js";
import {
  type FollowerData,
  type FromFollower,
  StoreFollower,
  type ToFollower,
} from "./store-follower.js";

/** Batches behind the venue's end at which the store becomes live. */
const NEAR_BATCHES = 2_000;
const FOLLOW_EVERY_MS = 50;
const LOG_EVERY_MS = 5_000;

export class StoreKeeper implements RowMaker {
  /** Resolves once the history has its store; rejects if it fails before. */
  readonly live: Promise<void>;
  private readonly post: (message: ToFollower, transfer?: ArrayBuffer[]) => void;
  private readonly ended: Promise<unknown>;
  private readonly terminate: () => Promise<unknown>;
  private readonly timer: NodeJS.Timeout;
  private becomeLive: () => void = () => undefined;
  private refuse: (error: Error) => void = () => undefined;
  private end: LogSeq;
  /** Batches of the log on disk, where it may deliver batches before they are. */
  private onDisk = Number.POSITIVE_INFINITY;
  private isNear = false;
  private isNamed = false;
  private isLive = false;
  private isOver = false;
  /** Why it could not write everything while it was closed. */
  private closeFailure: Error | undefined;
  private loggedAtMs = performance.now();

  /** The history has applied the log up to `data.batch`. */
  constructor(
    private readonly data: FollowerData,
    private readonly history: FollowedHistory,
    private readonly logger: VenueLogger,
    private readonly onSnapshot: (notice: SnapshotNotice) => void,
  ) {
    this.end = { batch: data.batch, record: data.record };
    this.live = new Promise((resolve, reject) => {
      this.becomeLive = resolve;
      this.refuse = reject;
    });
    // Who does not wait for it hears of a failure from the history.
    this.live.catch(() => undefined);
    if (data.commit === "inline") {
      const follower = new StoreFollower(data, (message) => this.onMessage(message));
      this.post = (message) => follower.take(message);
      this.ended = follower.run();
      this.terminate = () => this.ended;
    } else {
      const { worker, exited } = startWorker("store", "./store-thread.js", import.meta.url, {
        workerData: data,
      });
      worker.on("message", (message: FromFollower) => this.onMessage(message));
      void exited.then(({ message }) => this.fail(message, false));
      // Must not keep the process alive, unless that waits for it.
      worker.unref();
      this.post = (message, transfer) => {
        if (message.kind === "close" || message.kind === "flush") worker.ref();
        worker.postMessage(message, transfer);
      };
      this.ended = exited;
      this.terminate = () => worker.terminate();
    }
    this.timer = setInterval(() => this.follow(), FOLLOW_EVERY_MS);
    this.timer.unref();
    history.use(this);
  }

  /** Has it become live where the log ends now. */
  hurry(): void {
    this.isNear = true;
    this.onBatchEnd(this.end);
  }

  /** After each batch that the venue applies. */
  onBatchEnd(end: LogSeq): void {
    this.end = end;
    if (!this.isNear || this.isNamed || this.isOver) return;
    this.isNamed = true;
    this.history.pass();
    this.follow();
    this.post({ kind: "live", batch: end.batch });
  }

  onLogOnDisk(batches: number): void {
    this.onDisk = batches;
    if (this.isLive) this.post({ kind: "onDisk", batches });
  }

  make(batches: PackedBatches): void {
    this.post({ kind: "make", batches }, [batches.records.buffer]);
  }

  flush(): void {
    this.post({ kind: "flush" });
  }

  /**
   * Once it is live, it ends when it has written everything, or rejects. Otherwise the next start goes on where
   * it was.
   */
  async close(): Promise<void> {
    if (this.isOver) return;
    this.stop();
    this.post({ kind: "close" });
    await this.ended;
    if (this.closeFailure !== undefined) throw this.closeFailure;
  }

  /** For a process that has failed: ends the thread, whatever it does. */
  async abandon(): Promise<void> {
    if (this.isOver) return;
    this.stop();
    this.post({ kind: "close" });
    await this.terminate();
  }

  private follow(): void {
    if (this.isOver || this.isLive) return;
    this.post({ kind: "follow", batch: Math.min(this.end.batch, this.onDisk) });
  }

  private onMessage(message: FromFollower): void {
    if (this.isOver) {
      if (message.kind === "failed") this.closeFailure = new Error(message.message);
      return;
    }
    switch (message.kind) {
      case "progress":
        this.onProgress(message);
        return;
      case "discarded": {
        const { reason, movedTo } = message;
        this.logger.warn({ reason, movedTo }, "the history is rebuilt from the log");
        return;
      }
      case "live":
        this.begin(message.held);
        return;
      case "made":
        this.history.onMade(message);
        return;
      case "written":
        this.history.onWritten(message.held, message.walBytes);
        return;
      case "snapshot":
        this.onSnapshot(message.notice);
        return;
      case "failed":
        this.fail(message.message, message.isLost);
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

  private begin(held: Held): void {
    clearInterval(this.timer);
    const { folder, logId, record } = this.data;
    try {
      const found = FoundHistory.find(folder.history);
      // A log that begins later: a store that is not there now must not be made again.
      const { store } = adoptHistory(found, logId, { batch: 1, record }, 0);
      if (store.held.position !== held.position) {
        store.environment.close();
        throw new Error(`the rebuilt history ends at position ${store.held.position}`);
      }
      this.isLive = true;
      const reader = this.data.commit === "thread" ? this.openReader() : undefined;
      if (Number.isFinite(this.onDisk)) this.post({ kind: "onDisk", batches: this.onDisk });
      this.history.begin(store, reader);
      this.becomeLive();
    } catch (error) {
      this.fail(error instanceof Error ? error.message : String(error), false);
    }
  }

  private openReader(): StoreReader {
    const { data, history } = this;
    return new StoreReader(data.folder.history, {
      onLate: () => history.lagging(),
      onStopped: () => new ApiError("stopped", {}),
      onFailure: (error) => this.fail(error.message, false),
    });
  }

  private fail(message: string, isLost: boolean): void {
    if (this.isOver) return;
    this.stop();
    const error = isLost ? new HistoryLost(this.data.first, message) : new Error(message);
    this.refuse(error);
    this.history.fail(error);
  }

  private stop(): void {
    this.isOver = true;
    clearInterval(this.timer);
    this.refuse(new Error("the history is closed"));
  }
}
