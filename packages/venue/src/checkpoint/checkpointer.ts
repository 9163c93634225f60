/**
 * The venue's side of the checkpoint thread: sends how far the thread may read, and compares the last
 * block of each checkpoint with its own, so the first checkpoint after two replicas diverge shows it.
 * It waits for the thread only in `close`.
 */
import { startWorker, type WorkerThread } from "@perpgate/journal/worker";
import type { History } from "../history/history.js";
import type { DataFolder } from "../recovery/data-folder.js";
import type { ReservesNotice } from "../reserves/counter.js";
import type { CheckpointOptions, VenueLogger } from "../venue-options.js";
import type { Checkpoint } from "./checkpoint-file.js";

export interface CheckpointThreadData {
  readonly folder: DataFolder;
  readonly logId: Uint8Array;
  readonly options: CheckpointOptions;
  /** Batches that are durable in the log and in the history. */
  readonly batch: number;
  /** Key of the salts; undefined: what the venue owes is not counted. */
  readonly reservesKey: Uint8Array | undefined;
  /** Memory of an `ExitDeadline`, if a failure ends the process. */
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

export type ToThread =
  /** The log may be read up to this batch. */
  { readonly kind: "follow"; readonly batch: number } | { readonly kind: "close" };

export type FromThread =
  | {
      readonly kind: "checkpoint";
      readonly checkpoint: Checkpoint;
      readonly bytes: number;
      readonly elapsedMs: number;
    }
  /** The snapshot could not be written; the thread tries again later. */
  | { readonly kind: "unwritten"; readonly message: string }
  | ReservesNotice
  /** The replica failed; the thread ends. */
  | { readonly kind: "fault"; readonly message: string };

interface CheckpointerParts {
  readonly folder: DataFolder;
  readonly logId: Uint8Array;
  readonly options: CheckpointOptions;
  readonly history: History;
  readonly logger: VenueLogger;
  readonly onFault: (error: Error) => void;
  readonly reservesKey: Uint8Array | undefined;
  readonly onReserves: (notice: ReservesNotice) => void;
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

/** The second replica failed, or has another state than the first. */
class CheckpointFault extends Error {
  override readonly name = "CheckpointFault";
}

export class Checkpointer {
  private readonly thread: WorkerThread;
  private isOver = false;

  constructor(private readonly parts: CheckpointerParts) {
    const { folder, logId, options, history, exitDeadline, reservesKey } = parts;
    const { batch } = history.durable;
    const workerData: CheckpointThreadData = {
      folder,
      logId,
      options,
      batch,
      exitDeadline,
      reservesKey,
    };
    this.thread = startWorker("checkpoint", "./checkpoint-thread.js", import.meta.url, {
      workerData,
    });
    const { worker, exited } = this.thread;
    worker.on("message", (message: FromThread) => this.onMessage(message));
    void exited.then(({ message }) => this.fail(message));
    // Must not keep the process alive.
    worker.unref();
  }

  /** Lets the thread read up to `batch`: the history is on disk up to there. */
  follow({ batch }: { readonly batch: number }): void {
    if (this.isOver) return;
    const message: ToThread = { kind: "follow", batch };
    this.thread.worker.postMessage(message);
  }

  async close(): Promise<void> {
    if (!this.isOver) {
      this.isOver = true;
      const message: ToThread = { kind: "close" };
      this.thread.worker.postMessage(message);
    }
    this.thread.worker.ref();
    await this.thread.exited;
  }

  private onMessage(message: FromThread): void {
    const { logger } = this.parts;
    switch (message.kind) {
      case "checkpoint": {
        const { checkpoint, bytes, elapsedMs } = message;
        logger.info({ checkpoint, bytes, elapsedMs }, "snapshot taken");
        this.compare(checkpoint);
        return;
      }
      case "unwritten":
        logger.error({ reason: message.message }, "no snapshot could be written");
        return;
      case "counted":
      case "uncountable":
      case "differs":
        this.parts.onReserves(message);
        return;
      case "fault":
        this.fail(message.message);
        return;
    }
  }

  private compare({ position, block, blockHash }: Checkpoint): void {
    if (block === 0) return;
    const own = this.parts.history.block(block)?.hash.toString("hex");
    if (own === blockHash) return;
    this.fail(`at position ${position} block ${block} is ${blockHash} here and ${own} there`);
  }

  private fail(reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.parts.onFault(new CheckpointFault(`the second replica stopped: ${reason}`));
  }
}
