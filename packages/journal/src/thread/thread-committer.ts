/**
 * Commits in a separate thread. The journal's thread encodes into the shared ring and waits for the
 * ring's durable count to change; no message is sent and nothing is copied between them for a commit.
 *
 * If the thread ends, for any reason, the log has failed.
 */

import type { CommitRing } from "../commit-ring.js";
import type { CommitEvents, Committer, PruneRequest } from "../committer.js";
import { firstMessage, startWorker, type WorkerThread } from "../worker.js";
import { type CommitThreadData, type CommitThreadMessage, fromFailure } from "./messages.js";

interface Pruned {
  readonly resolve: (removed: number) => void;
  readonly reject: (reason: Error) => void;
}

export class ThreadCommitter implements Committer {
  private seen: number;
  private over = false;
  private pruned: Pruned | undefined;

  private constructor(
    private readonly ring: CommitRing,
    private readonly events: CommitEvents,
    private readonly thread: WorkerThread,
  ) {
    this.seen = ring.durable();
    thread.worker.on("message", (message: CommitThreadMessage) => this.onMessage(message));
    void thread.exited.then((error) => this.fail(error));
  }

  /** Resolves once the thread has its segment open. */
  static async start(
    data: Omit<CommitThreadData, "ring">,
    ring: CommitRing,
    events: CommitEvents,
  ): Promise<ThreadCommitter> {
    const workerData: CommitThreadData = { ...data, ring: ring.memory };
    const thread = startWorker("commit", "./commit-thread.js", import.meta.url, { workerData });
    // Registered immediately: a message without a listener is lost.
    const committer = new ThreadCommitter(ring, events, thread);
    try {
      const message = await firstMessage<CommitThreadMessage>(thread);
      if (message.kind === "failed") throw fromFailure(message.failure);
    } catch (error) {
      committer.over = true;
      await thread.worker.terminate();
      throw error;
    }
    void committer.watch();
    return committer;
  }

  /** Publishing has woken the thread already. */
  wake(): void {}

  prune(request: PruneRequest): Promise<number> {
    return new Promise((resolve, reject) => {
      this.pruned = { resolve, reject };
      this.thread.worker.postMessage(request);
      this.ring.wake();
    });
  }

  async close(): Promise<void> {
    this.over = true;
    this.ring.requestClose();
    this.ring.wakeWatcher();
    await this.thread.exited;
  }

  private onMessage(message: CommitThreadMessage): void {
    if (message.kind === "failed") this.fail(fromFailure(message.failure));
    if (message.kind === "spare") {
      this.events.spareAttempted(message.failure && fromFailure(message.failure));
    }
    if (message.kind === "pruned") {
      const { removed } = message;
      if (typeof removed === "number") this.pruned?.resolve(removed);
      else this.pruned?.reject(fromFailure(removed));
    }
  }

  private async watch(): Promise<void> {
    while (!this.over) {
      this.report();
      await this.ring.durableBeyond(this.seen);
    }
  }

  private report(): void {
    const durable = this.ring.durable();
    const batches = (durable - this.seen) >>> 0;
    this.seen = durable;
    if (batches > 0) this.events.durable(batches);
  }

  /** Reports the batches that became durable before the failure, then the failure. */
  private fail(cause: Error): void {
    if (this.over) return;
    this.over = true;
    this.report();
    this.events.failed(cause);
    this.pruned?.reject(cause);
    this.ring.wakeWatcher();
    void this.thread.worker.terminate();
  }
}
