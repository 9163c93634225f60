import { expect, test } from "vitest";
import { encodeBatch, encodedBytes } from "./batch-format.js";
import { CommitRing, newRingMemory } from "./commit-ring.js";
import { id } from "./testing/contract.js";
import { SeededRandom } from "./testing/random.js";

/** Puts a batch of one record into the ring if there is room. */
function put(ring: CommitRing, counter: number, length: number): boolean {
  const records = [new Uint8Array(length).fill(counter)];
  const bytes = encodedBytes(records);
  const at = ring.reserve(bytes);
  if (at === undefined) return false;
  encodeBatch(ring.view, at, bytes, id(counter), records);
  return true;
}

test("ring: what goes in comes out in order, over many rounds and the wrap of its counts", () => {
  const random = new SeededRandom(4);
  const ring = new CommitRing(newRingMemory(1024));
  const counters = new Int32Array(ring.memory.control);
  let next = 0;
  let expected = 0;
  for (let round = 0; round < 20_000; round++) {
    for (let tries = random.below(6); tries > 0; tries--) {
      if (put(ring, next, random.below(900))) next += 1;
    }
    ring.publish();
    const run = ring.take();
    if (run === undefined) continue;
    let batches = 0;
    for (let at = run.start; at < run.end; at += run.view.getUint32(at + 4, true)) {
      expect(run.view.getUint32(at + 24, true)).toBe(expected);
      expected += 1;
      batches += 1;
    }
    ring.release(run.end - run.start, batches);
  }
  expect(expected).toBeGreaterThan(20_000);
  expect(counters[2]).toBe(expected);
});

test("ring: a full ring takes nothing until something is released", () => {
  const ring = new CommitRing(newRingMemory(1024));
  let count = 0;
  while (put(ring, count, 900)) count += 1;
  expect(count).toBe(4);
  ring.publish();
  const run = ring.take();
  expect(put(ring, count, 900)).toBe(false);
  ring.release((run?.end ?? 0) - (run?.start ?? 0), count);
  expect(put(ring, count, 900)).toBe(true);
});

test("ring: what is reserved and not published is not taken", () => {
  const ring = new CommitRing(newRingMemory(1024));
  put(ring, 1, 10);
  expect(ring.take()).toBeUndefined();
  ring.publish();
  expect(ring.take()).toBeDefined();
});
