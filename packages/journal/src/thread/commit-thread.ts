/**
 * The committing thread: blocks on the ring, commits what it finds, and does nothing else, so that
 * a write and its sync wait for no other work and hold up none. It runs no event loop: requests to
 * the allocating thread go out by message, and the answer is waited for on a shared word.
 *
 * A failure is reported once and ends the thread; it never goes on after one.
 */

import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { CommitRing } from "../commit-ring.js";
import { nodeDisk } from "../node-disk.js";
import { SegmentWriter } from "../segment-writer.js";
import type { SpareSegments } from "../spare-segments.js";
import {
  type AllocateAnswer,
  type AllocateRequest,
  type CommitThreadData,
  type CommitThreadMessage,
  fromFailure,
  toFailure,
} from "./messages.js";

/** Spares from the allocating thread, one request at a time. */
function threadSpares({ allocator, allocated }: CommitThreadData): SpareSegments {
  const answers = new Int32Array(allocated);
  let asked = 0;
  return {
    prepare(number) {
      asked += 1;
      const request: AllocateRequest = { number };
      allocator.postMessage(request);
    },
    take() {
      if (asked === 0) return;
      for (let seen = Atomics.load(answers, 0); seen < asked; seen = Atomics.load(answers, 0)) {
        Atomics.wait(answers, 0, seen);
      }
      for (let got = receiveMessageOnPort(allocator); got; got = receiveMessageOnPort(allocator)) {
        const answer: AllocateAnswer = got.message;
        if (answer.failure !== undefined) throw fromFailure(answer.failure);
      }
    },
  };
}

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
    tell({ kind: "failed", failure: toFailure(error) });
  }
}

run(workerData, (message) => parentPort?.postMessage(message));
