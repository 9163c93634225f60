/**
 * The committing thread: waits for the ring and commits what is published. While there is nothing to
 * commit it does its other work in short steps: it makes the next segment and prunes old ones. It runs
 * no event loop: a request to prune is a message, and its sender wakes the wait for the ring.
 *
 * A failure is reported once and ends the thread.
 */

import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { CommitRing } from "../commit-ring.js";
import type { PruneRequest } from "../committer.js";
import type { Steps } from "../disk.js";
import { ExitDeadline } from "../exit-deadline.js";
import { pruneSteps } from "../log-prune.js";
import { nodeDisk } from "../node-disk.js";
import { SegmentWriter } from "../segment-writer.js";
import { FileSnapshots } from "../snapshots.js";
import { SpareSegments } from "../spare-segments.js";
import { type CommitThreadData, type CommitThreadMessage, toFailure } from "./messages.js";

/** After a commit, so that the next one of a client that waits for each finds the thread free. */
const REST_MS = 20;

type Tell = (message: CommitThreadMessage) => void;

function run(data: CommitThreadData, tell: Tell): void {
  const ring = new CommitRing(data.ring);
  const { directory } = data.state;
  const spares = new SpareSegments(nodeDisk, directory, data.segmentBytes, (failure) =>
    tell({ kind: "spare", failure: failure && toFailure(failure) }),
  );
  const pruning = new Pruning(data, tell);
  try {
    const writer = new SegmentWriter(nodeDisk, data.state, spares, (bytes, batches) =>
      ring.release(bytes, batches),
    );
    tell({ kind: "ready" });
    let calls = ring.calls();
    let restMs = 0;
    while (ring.wait(calls, pruning.isDue ? 0 : Math.max(restMs, spares.dueInMs()))) {
      const isCalled = calls !== ring.calls();
      calls = ring.calls();
      for (let run = ring.take(); run !== undefined; run = ring.take()) writer.commit(run);
      restMs = isCalled ? REST_MS : 0;
      if (!isCalled && spares.dueInMs() === 0) spares.step();
      pruning.step();
    }
    writer.close();
  } catch (error) {
    const failure = toFailure(error);
    // Set before the message is sent: the main thread may be too busy to read messages.
    if (data.exitDeadline !== undefined) {
      new ExitDeadline(data.exitDeadline).fail(`the log cannot be written: ${failure.message}`);
    }
    tell({ kind: "failed", failure });
  }
}

/** Answers requests to prune, one after the other. */
class Pruning {
  private steps: Steps<number> | undefined;

  constructor(
    private readonly data: CommitThreadData,
    private readonly tell: Tell,
  ) {}

  get isDue(): boolean {
    return this.steps !== undefined;
  }

  /** Takes a request, or one step of the one that was taken. */
  step(): void {
    if (this.steps === undefined) {
      this.steps = this.requested();
      return;
    }
    try {
      const { done, value } = this.steps.next();
      if (done === true) this.finish(value);
    } catch (error) {
      this.finish(toFailure(error));
    }
  }

  private requested(): Steps<number> | undefined {
    const request: PruneRequest | undefined =
      parentPort === null ? undefined : receiveMessageOnPort(parentPort)?.message;
    if (request === undefined) return undefined;
    const { directory, logId } = this.data.state;
    const { below, readers, end } = request;
    const snapshots = new FileSnapshots(nodeDisk, directory, logId);
    return pruneSteps(nodeDisk, directory, below, { snapshots, readers, end });
  }

  private finish(removed: Extract<CommitThreadMessage, { kind: "pruned" }>["removed"]): void {
    this.steps = undefined;
    this.tell({ kind: "pruned", removed });
  }
}

run(workerData, (message) => parentPort?.postMessage(message));
