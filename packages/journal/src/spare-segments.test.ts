/** Segments on a disk that is full when they are prepared, and perhaps not when they are needed. */
import { MessageChannel, Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { openJournal } from "./open-journal.js";
import { segmentPath } from "./segment-format.js";
import { allocateSegment, InlineSpareSegments } from "./spare-segments.js";
import { id, readAll } from "./testing/contract.js";
import { FakeDisk } from "./testing/fake-disk.js";
import type { AllocateAnswer } from "./thread/messages.js";
import { threadSpares } from "./thread/thread-spares.js";

const SEGMENT_BYTES = 4096;
const FULL = expect.objectContaining({ code: "ENOSPC" });

describe("prepare: the disk is full", () => {
  test("too little room for the segment: nothing is written, the room stays for other writes", () => {
    const disk = new FakeDisk(1);
    disk.capacityBytes = SEGMENT_BYTES - 1;
    expect(() => allocateSegment(disk, "/log", 1, SEGMENT_BYTES)).toThrow(FULL);
    expect(disk.operations).toBe(0);
  });

  test("a write fails: the partial segment is removed", () => {
    const disk = new FakeDisk(1);
    const fault = { kind: "error", code: "ENOSPC", bytesWritten: SEGMENT_BYTES / 2 } as const;
    disk.plan = { operation: 2, fault };
    expect(() => allocateSegment(disk, "/log", 1, SEGMENT_BYTES)).toThrow(FULL);
    expect(disk.operations).toBeGreaterThan(2);
    expect(disk.paths()).toEqual([]);
  });

  test("take: the segment is created again, if there is room by then", () => {
    const disk = new FakeDisk(1);
    const spares = new InlineSpareSegments(disk, "/log", SEGMENT_BYTES);
    disk.capacityBytes = SEGMENT_BYTES / 2;
    spares.prepare(1);
    disk.capacityBytes = SEGMENT_BYTES;
    spares.take(1);
    expect(disk.contents(segmentPath("/log", 1))).toHaveLength(SEGMENT_BYTES);
    // The failure does not affect the next one.
    spares.prepare(2);
    expect(() => spares.take(2)).toThrow(FULL);
    expect(disk.paths()).toEqual([segmentPath("/log", 1)]);
  });

  test("take: any other failure is not retried", () => {
    const disk = new FakeDisk(1);
    const spares = new InlineSpareSegments(disk, "/log", SEGMENT_BYTES);
    disk.plan = { operation: 3, fault: { kind: "failed_sync" } };
    spares.prepare(1);
    const { operations } = disk;
    expect(() => spares.take(1)).toThrow(expect.objectContaining({ code: "EIO" }));
    expect(disk.operations).toBe(operations);
  });

  test("a journal continues in the next segment once there is room again", async () => {
    const disk = new FakeDisk(1);
    const open = () => openJournal({ directory: "/log", disk, segmentBytes: SEGMENT_BYTES });
    const journal = await open();
    disk.capacityBytes = 2.5 * SEGMENT_BYTES;
    const append = (n: number) => journal.append(id(n), [new Uint8Array(500)]);
    // Seven fill the first segment; the eighth begins the second, and the third finds no room.
    for (let n = 0; n < 10; n++) await append(n);
    expect(disk.paths().filter((path) => path.endsWith(".new"))).toEqual([]);
    disk.capacityBytes = Number.POSITIVE_INFINITY;
    for (let n = 10; n < 30; n++) await append(n);
    await journal.close();
    expect(await readAll(await open())).toHaveLength(30);
  });
});

describe("take: from the allocating thread", () => {
  /** An allocating thread that answers with these failures in order, then with none. */
  function allocatorOf(failures: readonly AllocateAnswer["failure"][]) {
    const { port1: allocator, port2: requests } = new MessageChannel();
    const allocated = new SharedArrayBuffer(4);
    const source = `
      const { requests, allocated, failures } = require("node:worker_threads").workerData;
      const answers = new Int32Array(allocated);
      requests.on("message", ({ number }) => {
        const failure = failures.shift();
        requests.postMessage(failure === undefined ? { number } : { number, failure });
        Atomics.add(answers, 0, 1);
        Atomics.notify(answers, 0);
      });`;
    const thread = new Worker(source, {
      eval: true,
      workerData: { requests, allocated, failures },
      transferList: [requests],
    });
    return { thread, answered: new Int32Array(allocated), allocator, allocated };
  }

  const noRoom = { message: "no room", code: "ENOSPC" };
  const broken = { message: "broken", code: "EIO" };

  test.each([
    ["no room, then some", [noRoom], null, 2],
    ["no room, and none later", [noRoom, noRoom], "no room", 2],
    ["another failure", [broken], "broken", 1],
    ["in place", [], null, 1],
  ])("%s", async (_, failures, thrown, requests) => {
    const { thread, answered, ...ports } = allocatorOf(failures);
    try {
      const spares = threadSpares(ports);
      // Nothing was asked for: the segment was there from the start.
      spares.take(7);
      spares.prepare(8);
      if (thrown === null) spares.take(8);
      else expect(() => spares.take(8)).toThrow(thrown);
      expect(answered[0]).toBe(requests);
    } finally {
      await thread.terminate();
    }
  });
});
