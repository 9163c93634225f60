/**
 * The venue's side of the checkpoint thread: tells it how far it may read, hears of checkpoints,
 * and compares the last block of each with its own, so that two replicas that differ are noticed by
 * the first checkpoint after. It never waits for the thread, except to close it.
 */
import { startWorker, type WorkerThread } from "@perpgate/journal/worker";
import type { History } from "../history/history.js";
import type { DataFolder } from "../recovery/data-folder.js";
import type { CheckpointOptions, VenueLogger } from "../venue-options.js";
import type { Checkpoint } from "./checkpoint-file.js";
import type { FromThread, ThreadData, ToThread } from "./messages.js";

export interface CheckpointerParts {
  readonly folder: DataFolder;
  readonly logId: Uint8Array;
  readonly options: CheckpointOptions;
  readonly history: History;
  readonly logger: VenueLogger;
  readonly onFault: (error: Error) => void;
  readonly exitDeadline: SharedArrayBuffer | undefined;
}

/** The second replica failed, or came to another result than the first. */
export class CheckpointFault extends Error {
  override readonly name = "CheckpointFault";
}

export class Checkpointer {
  /** The newest checkpoint of this life. */
  latest: Checkpoint | undefined;
  private readonly thread: WorkerThread;
  private isOver = false;

  constructor(private readonly parts: CheckpointerParts) {
    const { folder, logId, options, history, exitDeadline } = parts;
    const { batch } = history.durable;
    const workerData: ThreadData = { folder, logId, options, batch, exitDeadline };
    this.thread = startWorker("checkpoint", "./checkpoint-thread.js", import.meta.url, {
      workerData,
    });
    const { worker, exited } = this.thread;
    worker.on("message", (message: FromThread) => this.onMessage(message));
    void exited.then(({ message }) => this.fail(message));
    // The venue's own work keeps the process alive, not this.
    worker.unref();
  }

  /** The history is on disk up to there. */
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
        this.latest = checkpoint;
        logger.info({ checkpoint, bytes, elapsedMs }, "snapshot taken");
        this.compare(checkpoint);
        return;
      }
      case "unwritten":
        logger.error({ reason: message.message }, "no snapshot could be written");
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
