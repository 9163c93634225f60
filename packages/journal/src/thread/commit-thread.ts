/**
 * The committing thread: blocks on the ring, commits what it finds, and does nothing else, so that
 * a write and its sync wait for no other work and hold up none. It runs no event loop: requests to
 * the allocating thread go out by message, and the answer is waited for on a shared word.
 *
 * A failure is reported once and ends the thread; it never goes on after one.
 */

import { parentPort, workerData } from "node:worker_threads";
import { CommitRing } from "../commit-ring.js";
import { ExitDeadline } from "../exit-deadline.js";
import { nodeDisk } from "../node-disk.js";
import { SegmentWriter } from "../segment-writer.js";
import { type CommitThreadData, type CommitThreadMessage, toFailure } from "./messages.js";
import { threadSpares } from "./thread-spares.js";

function run(data: CommitThreadData, tell: (message: CommitThreadMessage) => void): void {
  const ring = new CommitRing(data.ring);
  try {
    const writer = new SegmentWriter(nodeDisk, data.state, threadSpares(data), (bytes, batches) =>
      ring.release(bytes, batches),
    );
    tell({ kind: "ready" });
    while (ring.waitForRun()) {
      for (let taken = ring.take(); taken !== undefined; taken = ring.take()) writer.commit(taken);
    }
    writer.close();
  } catch (error) {
    const failure = toFailure(error);
    // Before the message: the main thread may be too busy to read it.
    if (data.exitDeadline !== undefined) {
      new ExitDeadline(data.exitDeadline).fail(`the log cannot be written: ${failure.message}`);
    }
    tell({ kind: "failed", failure });
  }
}

run(workerData, (message) => parentPort?.postMessage(message));
