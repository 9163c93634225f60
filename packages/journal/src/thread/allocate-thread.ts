/**
 * The allocating thread: makes each segment that the committing thread asks for, while that one
 * goes on committing. Every request is answered, if only by the error that kept it from being met.
 *
 * A segment that found no room is tried again, after a pause that doubles, until it is made: the
 * committing thread asks once more when it needs the segment, and then finds it there. The journal's
 * thread learns how every attempt went.
 *
 * It stays when the committing thread ends, and is ended with the committer: so its end is always a
 * fault of its own, and never heard before the reason why the committing thread has failed.
 */

import { parentPort, workerData } from "node:worker_threads";
import { isNoRoom } from "../disk.js";
import { nodeDisk } from "../node-disk.js";
import { allocateSegment } from "../spare-segments.js";
import {
  type AllocateAnswer,
  type AllocateReport,
  type AllocateRequest,
  type AllocateThreadData,
  toFailure,
} from "./messages.js";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

function serve({ directory, segmentBytes, requests, allocated }: AllocateThreadData): void {
  const answers = new Int32Array(allocated);
  let made = 0;
  let retry: NodeJS.Timeout | undefined;

  const attempt = (number: number, pauseMs: number): AllocateAnswer => {
    clearTimeout(retry);
    if (number === made) return { number };
    let answer: AllocateAnswer = { number };
    try {
      allocateSegment(nodeDisk, directory, number, segmentBytes);
      made = number;
    } catch (error) {
      answer = { number, failure: toFailure(error) };
      if (isNoRoom(error)) {
        const longer = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        retry = setTimeout(() => attempt(number, longer), pauseMs);
      }
    }
    const report: AllocateReport = { number, failure: answer.failure };
    parentPort?.postMessage(report);
    return answer;
  };

  requests.on("message", ({ number }: AllocateRequest) => {
    requests.postMessage(attempt(number, FIRST_PAUSE_MS));
    Atomics.add(answers, 0, 1);
    Atomics.notify(answers, 0);
  });
}

// Nothing comes in on this port; listening to it is what keeps the thread.
parentPort?.on("message", () => undefined);
serve(workerData);
