/**
 * The allocating thread: makes each segment that the committing thread asks for, while that one
 * goes on committing. Every request is answered, if only by the error that kept it from being met.
 *
 * It stays when the committing thread ends, and is ended with the committer: so its end is always a
 * fault of its own, and never heard before the reason why the committing thread has failed.
 */

import { parentPort, workerData } from "node:worker_threads";
import { nodeDisk } from "../node-disk.js";
import { allocateSegment } from "../spare-segments.js";
import {
  type AllocateAnswer,
  type AllocateRequest,
  type AllocateThreadData,
  toFailure,
} from "./messages.js";

function serve({ directory, segmentBytes, requests, allocated }: AllocateThreadData): void {
  const answers = new Int32Array(allocated);
  requests.on("message", ({ number }: AllocateRequest) => {
    requests.postMessage(attempt(directory, number, segmentBytes));
    Atomics.add(answers, 0, 1);
    Atomics.notify(answers, 0);
  });
}

function attempt(directory: string, number: number, segmentBytes: number): AllocateAnswer {
  try {
    allocateSegment(nodeDisk, directory, number, segmentBytes);
    return { number };
  } catch (error) {
    return { number, failure: toFailure(error) };
  }
}

// Nothing is ever said on this port; listening to it is what keeps the thread.
parentPort?.on("message", () => undefined);
serve(workerData);
