/**
 * The allocating thread: creates each segment that the committing thread requests, while that thread
 * continues to commit. It answers every request, with an error if the segment could not be created.
 *
 * If the disk was full it retries, after a pause that doubles, until it succeeds. The committing
 * thread asks again when it needs the segment, and then finds it. Every attempt is reported to the
 * journal's thread.
 *
 * It does not end when the committing thread ends; the committer terminates it. So its exit is always
 * its own failure, and is never reported before the reason of a failed committing thread.
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

// No message arrives on this port; the listener keeps the thread alive.
parentPort?.on("message", () => undefined);
serve(workerData);
