/**
 * Spare segments for the committing thread: it requests them from the allocating thread by message
 * and waits on a shared word, since it runs no event loop.
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
  /** Waits until every request is answered; returns the failure of the last one, if it failed. */
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
