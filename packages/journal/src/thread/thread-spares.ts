/**
 * Spare segments as the committing thread gets them: asked of the allocating thread by message, one
 * at a time, and waited for on a shared word, since the committing thread runs no event loop.
 */

import { receiveMessageOnPort } from "node:worker_threads";
import { isNoRoom } from "../disk.js";
import type { SpareSegments } from "../spare-segments.js";
import {
  type AllocateAnswer,
  type AllocateRequest,
  type CommitThreadData,
  fromFailure,
} from "./messages.js";

export function threadSpares({
  allocator,
  allocated,
}: Pick<CommitThreadData, "allocator" | "allocated">): SpareSegments {
  const answers = new Int32Array(allocated);
  let asked = 0;

  const prepare = (number: number): void => {
    asked += 1;
    const request: AllocateRequest = { number };
    allocator.postMessage(request);
  };
  /** Waits for all that was asked; answers what kept the last from being made, if anything did. */
  const failure = (): Error | undefined => {
    for (let seen = Atomics.load(answers, 0); seen < asked; seen = Atomics.load(answers, 0)) {
      Atomics.wait(answers, 0, seen);
    }
    let last: AllocateAnswer | undefined;
    for (let got = receiveMessageOnPort(allocator); got; got = receiveMessageOnPort(allocator)) {
      last = got.message;
    }
    return last?.failure === undefined ? undefined : fromFailure(last.failure);
  };
  return {
    prepare,
    take(number) {
      const first = failure();
      if (first === undefined) return;
      if (!isNoRoom(first)) throw first;
      prepare(number);
      const second = failure();
      if (second !== undefined) throw second;
    },
  };
}
