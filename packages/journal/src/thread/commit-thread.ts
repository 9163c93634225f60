/**
 * The committing thread: waits for the ring, commits what is published, and does nothing else, so
 * that a write and its sync neither wait for other work nor delay it. It runs no event loop: it sends
 * requests to the allocating thread as messages and waits for the answer on a shared word.
 *
 * A failure is reported once and ends the thread.
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
    // Set before the message is sent: the main thread may be too busy to read messages.
    if (data.exitDeadline !== undefined) {
      new ExitDeadline(data.exitDeadline).fail(`the log cannot be written: ${failure.message}`);
    }
    tell({ kind: "failed", failure });
  }
}

run(workerData, (message) => parentPort?.postMessage(message));
