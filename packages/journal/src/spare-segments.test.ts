/** Segments on a disk that is full when they are prepared, and perhaps not when they are needed. */
import { describe, expect, test } from "vitest";
import { openJournal } from "./open-journal.js";
import { segmentPath } from "./segment-format.js";
import { allocateSegment, SpareSegments, UNFINISHED_SUFFIX } from "./spare-segments.js";
import { id, readAll } from "./testing/contract.js";
import { FakeDisk } from "./testing/fake-disk.js";

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
    const attempts: unknown[] = [];
    const spares = new SpareSegments(disk, "/log", SEGMENT_BYTES, (failure) =>
      attempts.push(failure),
    );
    disk.capacityBytes = SEGMENT_BYTES / 2;
    spares.prepare(1);
    spares.step();
    expect(spares.dueInMs()).toBeGreaterThan(0);
    spares.keepUp(SEGMENT_BYTES);
    expect(attempts).toEqual([FULL]);
    disk.capacityBytes = SEGMENT_BYTES;
    spares.take();
    expect(disk.contents(segmentPath("/log", 1))).toHaveLength(SEGMENT_BYTES);
    expect(attempts).toEqual([FULL, undefined]);
    // The failure does not affect the next one.
    spares.prepare(2);
    expect(() => spares.take()).toThrow(FULL);
    expect(disk.paths()).toEqual([segmentPath("/log", 1)]);
  });

  test("take: any other failure is not retried", () => {
    const disk = new FakeDisk(1);
    const spares = new SpareSegments(disk, "/log", SEGMENT_BYTES);
    disk.plan = { operation: 3, fault: { kind: "failed_sync" } };
    spares.prepare(1);
    spares.step();
    expect(spares.dueInMs()).toBe(Number.POSITIVE_INFINITY);
    const { operations } = disk;
    expect(() => spares.take()).toThrow(expect.objectContaining({ code: "EIO" }));
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

describe("step: a segment of many pieces", () => {
  const LARGE_BYTES = 2 * 1024 * 1024;
  const unfinished = `${segmentPath("/log", 1)}${UNFINISHED_SUFFIX}`;

  function prepared() {
    const disk = new FakeDisk(1);
    const spares = new SpareSegments(disk, "/log", LARGE_BYTES);
    spares.prepare(1);
    return { disk, spares };
  }

  test("keepUp: twice as far as the current segment is full, and no further", () => {
    const { disk, spares } = prepared();
    spares.keepUp(0);
    expect(disk.paths()).toEqual([]);
    for (const used of [100, LARGE_BYTES / 8, LARGE_BYTES / 4]) {
      spares.keepUp(used);
      const made = disk.contents(unfinished).length;
      expect(made).toBeGreaterThanOrEqual(2 * used);
      const { operations } = disk;
      spares.keepUp(used);
      expect(disk.operations).toBe(operations);
    }
    spares.keepUp(LARGE_BYTES / 2 + 1);
    expect(disk.contents(segmentPath("/log", 1))).toHaveLength(LARGE_BYTES);
    expect(spares.dueInMs()).toBe(Number.POSITIVE_INFINITY);
  });

  test("take: what is missing is made immediately", () => {
    const { disk, spares } = prepared();
    spares.step();
    expect(disk.paths()).toEqual([unfinished]);
    spares.take();
    expect(disk.contents(segmentPath("/log", 1))).toHaveLength(LARGE_BYTES);
  });

  test("close: what is not complete is removed", () => {
    const { disk, spares } = prepared();
    spares.step();
    spares.close();
    expect(disk.paths()).toEqual([]);
  });
});
