/** When an edge that does not answer is taken for one that hangs. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { HangWatch, PING_MS, processorQueueMs } from "./edges.js";

/** The tick at which a process that no longer answers is found to hang, if it is in the queue this long each. */
function foundAt(queuedMsPerTick: number, ticks = 1_000): number | undefined {
  let queuedMs = 7_000;
  const watch = new HangWatch(() => queuedMs);
  for (let tick = 0; tick < ticks; tick++) {
    if (watch.tick()) return tick;
    queuedMs += queuedMsPerTick;
  }
  return undefined;
}

test("a process that is in no queue and answers nothing: hangs after four pings", () => {
  expect(foundAt(0)).toBe(4);
});

test("time in the queue for a processor does not count, the rest does", () => {
  expect(foundAt(0.75 * PING_MS)).toBe(16);
  expect(foundAt(PING_MS)).toBeUndefined();
  // A tick of the supervisor, which waits for a processor as well, may take longer.
  expect(foundAt(3 * PING_MS)).toBeUndefined();
});

test("an answer: counted from the beginning again", () => {
  const watch = new HangWatch(() => 0);
  const ticks = (count: number) => Array.from({ length: count }, () => watch.tick());
  expect(ticks(4)).not.toContain(true);
  watch.answered();
  expect(ticks(4)).not.toContain(true);
  expect(watch.tick()).toBe(true);
});

test("the queue of a process: grows, and is 0 for one that has ended", () => {
  const before = processorQueueMs(process.pid);
  expect(before).toBeGreaterThanOrEqual(0);
  expect(processorQueueMs(process.pid)).toBeGreaterThanOrEqual(before);
  expect(processorQueueMs(spawnSync(process.execPath, ["--version"]).pid)).toBe(0);
  expect(processorQueueMs(undefined)).toBe(0);
});
