import { Random } from "@perpgate/protocol/random";
import { expect, test } from "vitest";
import { batchLength, encodeBatch, encodedBytes } from "./batch-format.js";
import { CommitRing, newRingMemory, type Run } from "./commit-ring.js";
import { id, range } from "./testing/contract.js";

/** Puts a batch of one record into the ring if there is room. */
function put(ring: CommitRing, counter: number, length: number): boolean {
  const records = [new Uint8Array(length).fill(counter)];
  const bytes = encodedBytes(records);
  const at = ring.reserve(bytes);
  if (at === undefined) return false;
  encodeBatch(ring.view, at, bytes, id(counter), records);
  return true;
}

/** A ring whose byte counts start at `count`, as if that many bytes had passed through it. */
function ringAt(count: number): CommitRing {
  const memory = newRingMemory(1024);
  new Int32Array(memory.control).fill(count, 0, 2);
  return new CommitRing(memory);
}

/** The counters of a run's batches. */
function countersOf({ view, start, end }: Run): number[] {
  const counters: number[] = [];
  for (let at = start; at < end; at += batchLength(view, at)) {
    counters.push(view.getUint32(at + 24, true));
  }
  return counters;
}

test.each([
  ["from zero", 0],
  ["past 2^31", 2 ** 31 - 2 ** 16],
  ["past 2^32", -(2 ** 16)],
])("ring: what goes in comes out in order over many rounds, %s", (_, count) => {
  const random = new Random(4);
  const ring = ringAt(count);
  const out: number[] = [];
  let next = 0;
  for (let round = 0; round < 1_000; round++) {
    for (let tries = random.below(6); tries > 0; tries--) {
      if (put(ring, next, random.below(900))) next += 1;
    }
    ring.publish();
    const run = ring.take();
    if (run === undefined) continue;
    const counters = countersOf(run);
    out.push(...counters);
    ring.release(run.end - run.start, counters.length);
  }
  expect(out.length).toBeGreaterThan(1_000);
  expect(out).toEqual(range(0, out.length));
  expect(ring.durable()).toBe(out.length);
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
