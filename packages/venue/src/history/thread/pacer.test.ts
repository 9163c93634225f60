import { expect, test, vi } from "vitest";
import { BlockingPacer, endRests } from "./pacer.js";

const WORK_MS = 5;

/** Works for some milliseconds and pauses wherever it may; returns how long that took. */
function paced(pacer: BlockingPacer): number {
  const begun = performance.now();
  pacer.begin();
  for (let worked = 0; worked < WORK_MS; ) {
    const from = performance.now();
    while (performance.now() - from < 0.1);
    worked += performance.now() - from;
    pacer.pause();
  }
  return performance.now() - begun;
}

test("work is spread by rests, until somebody is in a hurry, and again once that is over", () => {
  const signal = new SharedArrayBuffer(4);
  const pacer = new BlockingPacer(signal);
  expect(paced(pacer)).toBeGreaterThan(2 * WORK_MS);
  endRests(signal);
  // Nothing waits: what is left is the work.
  const wait = vi.spyOn(Atomics, "wait");
  paced(pacer);
  expect(wait).not.toHaveBeenCalled();
  wait.mockRestore();
  pacer.calm();
  expect(paced(pacer)).toBeGreaterThan(2 * WORK_MS);
});

test("work that has taken 200 ms goes on without rests", () => {
  const pacer = new BlockingPacer(new SharedArrayBuffer(4));
  pacer.begin();
  const begun = performance.now();
  while (performance.now() - begun < 210) pacer.pause();
  expect(pacer.restMs()).toBe(0);
});
