import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AppliedWaits } from "./positions.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A log with 7 commands; of this gateway's 5 batches the last has not come back. */
function setUp() {
  const log = { seq: 7, published: 5, returned: 4 };
  return { log, positions: new AppliedWaits(log) };
}

test("reached: once the position is applied, and false after a second", async () => {
  const { log, positions } = setUp();
  expect(await positions.reached(7)).toBe(true);
  const applied = positions.reached(8);
  const late = positions.reached(9);
  Object.assign(log, { seq: 8, published: 6, returned: 6 });
  positions.onBatchEnd();
  expect(await applied).toBe(true);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await late).toBe(false);
});

test("reachedIfAnswered: true once a batch has come back that was published after the call", async () => {
  const { log, positions } = setUp();
  let isOver = false;
  const answered = positions.reachedIfAnswered(1_000).finally(() => {
    isOver = true;
  });
  // Published before the call: another gateway may have answered since.
  Object.assign(log, { seq: 8, published: 6, returned: 5 });
  positions.onBatchEnd();
  await vi.advanceTimersByTimeAsync(1_500);
  expect(isOver).toBe(false);
  Object.assign(log, { seq: 9, returned: 6 });
  positions.onBatchEnd();
  expect(await answered).toBe(true);
});

test("reachedIfAnswered: the position is applied: true; nothing comes for two seconds: false", async () => {
  const { log, positions } = setUp();
  const applied = positions.reachedIfAnswered(8);
  const late = positions.reachedIfAnswered(9);
  log.seq = 8;
  positions.onBatchEnd();
  expect(await applied).toBe(true);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await late).toBe(false);
});
