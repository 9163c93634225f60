/**
 * Commits in a separate thread. The journal's thread encodes into the shared ring and waits for the
 * ring's durable count to change; no message is sent and nothing is copied between them. A second
 * thread creates segments in advance.
 *
 * If either thread ends, for any reason, the log has failed.
 */

import { MessageChannel, Worker } from "node:worker_threads";
import type { CommitRing } from "../commit-ring.js";
import type { CommitEvents, Committer } from "../committer.js";
import type { WriterState } from "../segment-writer.js";
import {
  type AllocateReport,
  type AllocateThreadData,
  type CommitThreadData,
  type CommitThreadMessage,
  fromFailure,
} from "./messages.js";

export class ThreadCommitter implements Committer {
  private readonly threads: readonly Worker[];
  private readonly exited: Promise<unknown>;
  private seen: number;
  private over = false;

  private constructor(
    private readonly ring: CommitRing,
    private readonly events: CommitEvents,
    commit: Worker,
    allocate: Worker,
  ) {
    this.threads = [commit, allocate];
    this.seen = ring.durable();
    this.exited = new Promise((resolve) => commit.once("exit", resolve));
    commit.on("message", (message: CommitThreadMessage) => {
      if (message.kind === "failed") this.fail(fromFailure(message.failure));
    });
    for (const thread of this.threads) {
      thread.on("error", (error) => this.fail(error));
      thread.on("exit", () => this.fail(new Error("a thread of the journal ended")));
    }
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
    const allocate = new Worker(threadFile("allocate-thread"), {
      workerData: allocateData,
      transferList: [requests],
    });
    // Registered immediately: a report without a listener is lost.
    allocate.on("message", ({ failure }: AllocateReport) =>
      events.spareAttempted(failure === undefined ? undefined : fromFailure(failure)),
    );
    const commit = new Worker(threadFile("commit-thread"), {
      workerData: commitData,
      transferList: [allocator],
    });
    await isReady(commit).catch(async (error: unknown) => {
      await Promise.all([commit.terminate(), allocate.terminate()]);
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
    await this.exited;
    await Promise.all(this.threads.map((thread) => thread.terminate()));
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
    for (const thread of this.threads) void thread.terminate();
  }
}

function isReady(commit: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    commit.once("error", reject);
    commit.once("exit", () => reject(new Error("the committing thread ended")));
    commit.once("message", (message: CommitThreadMessage) => {
      commit.off("error", reject);
      if (message.kind === "ready") resolve();
      else reject(fromFailure(message.failure));
    });
  });
}

/** Threads run built code, also when this module is run from its sources by a test. */
function threadFile(name: string): URL {
  const built = import.meta.url.endsWith(".ts") ? "../../dist/thread" : ".";
  return new URL(`${built}/${name}.js`, import.meta.url);
}
