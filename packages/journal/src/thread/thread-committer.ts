/**
 * Commits in a separate thread. The journal's thread encodes into the shared ring and waits for the
 * ring's durable count to change; no message is sent and nothing is copied between them. A second
 * thread creates segments in advance.
 *
 * If either thread ends, for any reason, the log has failed.
 */

import { MessageChannel } from "node:worker_threads";
import type { CommitRing } from "../commit-ring.js";
import type { CommitEvents, Committer } from "../committer.js";
import type { WriterState } from "../segment-writer.js";
import { firstMessage, startWorker, type WorkerThread } from "../worker.js";
import {
  type AllocateReport,
  type AllocateThreadData,
  type CommitThreadData,
  type CommitThreadMessage,
  fromFailure,
} from "./messages.js";

export class ThreadCommitter implements Committer {
  private readonly threads: readonly WorkerThread[];
  private seen: number;
  private over = false;

  private constructor(
    private readonly ring: CommitRing,
    private readonly events: CommitEvents,
    private readonly commit: WorkerThread,
    allocate: WorkerThread,
  ) {
    this.threads = [commit, allocate];
    this.seen = ring.durable();
    commit.worker.on("message", (message: CommitThreadMessage) => {
      if (message.kind === "failed") this.fail(fromFailure(message.failure));
    });
    for (const { exited } of this.threads) void exited.then((error) => this.fail(error));
  }

  /** Resolves once the committing thread has its segment open. */
  static async start(
    state: WriterState,
    segmentBytes: number,
    ring: CommitRing,
    events: CommitEvents,
    exitDeadline?: SharedArrayBuffer,
  ): Promise<ThreadCommitter> {
    const { port1: allocator, port2: requests } = new MessageChannel();
    const allocated = new SharedArrayBuffer(4);
    const commitData: CommitThreadData = {
      ring: ring.memory,
      state,
      allocator,
      allocated,
      exitDeadline,
    };
    const allocateData: AllocateThreadData = {
      directory: state.directory,
      segmentBytes,
      requests,
      allocated,
    };
    const allocate = startWorker("allocate", "./allocate-thread.js", import.meta.url, {
      workerData: allocateData,
      transferList: [requests],
    });
    // Registered immediately: a report without a listener is lost.
    allocate.worker.on("message", ({ failure }: AllocateReport) =>
      events.spareAttempted(failure === undefined ? undefined : fromFailure(failure)),
    );
    const commit = startWorker("commit", "./commit-thread.js", import.meta.url, {
      workerData: commitData,
      transferList: [allocator],
    });
    await isReady(commit).catch(async (error: unknown) => {
      await Promise.all([commit.worker.terminate(), allocate.worker.terminate()]);
      throw error;
    });
    const committer = new ThreadCommitter(ring, events, commit, allocate);
    void committer.watch();
    return committer;
  }

  /** Publishing has woken the thread already. */
  wake(): void {}

  async close(): Promise<void> {
    this.over = true;
    this.ring.requestClose();
    this.ring.wakeWatcher();
    await this.commit.exited;
    await Promise.all(this.threads.map(({ worker }) => worker.terminate()));
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
    this.ring.wakeWatcher();
    for (const { worker } of this.threads) void worker.terminate();
  }
}

async function isReady(commit: WorkerThread): Promise<void> {
  const message = await firstMessage<CommitThreadMessage>(commit);
  if (message.kind === "failed") throw fromFailure(message.failure);
}
