/**
 * One short sequence of commands, run once for every disk operation at which it can fail and for
 * every kind of failure: the seeds try these at random, this test tries all of them (the short form
 * a third of them, see places.ts).
 */

import type { Fault } from "@perpgate/journal/testing";
import { describe, expect, test } from "vitest";
import type { Misfortune } from "./faults.js";
import { FREE_BYTES_APART, isTriedPair, OF_WRITE, operationsFor, placesIn } from "./places.js";
import { DIRECTORY } from "./venue-process.js";
import { World, type WorldOptions } from "./world.js";

/** With several segments, the first of them pruned, and two snapshots. */
const STORY = 50;
const BURSTS = 10;
const SMALL: Partial<WorldOptions> = { segmentBytes: 4096, traders: 3 };
const RESTARTS = ["kill", "power_cut"] as const;

/** The story up to the fault, then a restart, then its end.  */
async function tell(fault: Fault, operation: number, options: Partial<WorldOptions>) {
  for (const after of RESTARTS) {
    const world = new World(STORY, { ...SMALL, diskSeed: operation, ...options });
    const misfortune: Misfortune = { kind: "fault", fault, afterOperations: operation };
    await named(`${fault.kind} at operation ${operation}, ${after}`, async () => {
      await world.live(misfortune, BURSTS);
      world.restart(after);
      await world.finish();
    });
  }
}

async function named(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (cause) {
    throw new Error(name, { cause });
  }
}

/** How many operations the story has when nothing happens. */
async function operations(options: Partial<WorldOptions>, bursts = BURSTS): Promise<number> {
  const world = new World(STORY, { ...SMALL, ...options });
  expect(await world.live({ kind: "none" }, bursts)).toBe(true);
  return world.disk.operations;
}

const FAULTS: readonly (readonly [string, Fault])[] = [
  ["the process dies before it", { kind: "crash" }],
  ["the process dies half way through a write", { kind: "crash", bytesWritten: 37 }],
  ["it fails with EIO", { kind: "error", code: "EIO" }],
  ["it finds the disk full half way", { kind: "error", code: "ENOSPC", bytesWritten: 100 }],
  ["a sync fails and the kernel forgets", { kind: "failed_sync" }],
  ["a write is short", { kind: "short_write", bytesWritten: 5 }],
];

describe("a story with rotations, checkpoints", () => {
  test("without a fault: it has the files it is meant to have", async () => {
    const world = new World(STORY, { ...SMALL, checkpoints: true });
    expect(await world.live({ kind: "none" }, BURSTS)).toBe(true);
    const names = world.disk.paths().map((path) => path.slice(DIRECTORY.length + 1));
    expect(names.filter((name) => name.endsWith(".snapshot"))).toHaveLength(2);
    expect(names.filter((name) => name.endsWith(".log"))).toEqual([
      "0000000002.log",
      "0000000003.log",
      "0000000004.log",
    ]);
  });

  test.each(FAULTS)("at each operation of the disk: %s", async (name, fault) => {
    const options = { checkpoints: true };
    const count = await operations(options);
    expect(count).toBeGreaterThan(60);
    for (const operation of operationsFor(
      count,
      FAULTS.findIndex(([title]) => title === name),
    )) {
      await tell(fault, operation, options);
    }
  });

  test(`the disk is full after each ${FREE_BYTES_APART} bytes`, async () => {
    for (let freeBytes = 0; freeBytes < 4 * 4096; freeBytes += FREE_BYTES_APART) {
      await named(`${freeBytes} bytes free`, async () => {
        const world = new World(STORY, { ...SMALL, checkpoints: true });
        await world.live({ kind: "full_disk", freeBytes }, BURSTS);
        world.restart("kill");
        await world.finish();
      });
    }
  });

  test("a second crash at each operation of the recovery from each crash", async () => {
    const bursts = 3;
    const count = await operations({ checkpoints: false }, bursts);
    expect(count).toBeGreaterThan(20);
    for (let first = 1; first <= count; first++) {
      for (let second = 1; second <= 9; second++) {
        if (!isTriedPair(first, second)) continue;
        await named(`crash at ${first}, then at ${second} of the next life`, async () => {
          const world = new World(STORY, { ...SMALL, checkpoints: false, diskSeed: second });
          await world.live(crashAfter(first, 200), bursts);
          world.restart("power_cut");
          await world.live(crashAfter(second, 3), 0);
          world.restart("power_cut");
          await world.finish();
        });
      }
    }
  });
});

function crashAfter(afterOperations: number, bytesWritten: number): Misfortune {
  return { kind: "fault", fault: { kind: "crash", bytesWritten }, afterOperations };
}

describe("the last batch of a short log", () => {
  // One segment holds it all: the last batch is one write.
  const options = { traders: 2, segmentBytes: 16_384, checkpoints: false };
  const bursts = 4;

  /** Bytes of the last batch: header, and a length before each record. */
  async function lastBatch(): Promise<{ readonly records: number; readonly bytes: number }> {
    const world = new World(STORY, options);
    await world.live({ kind: "none" }, bursts);
    const records = world.auditor.transcript.batches.at(-1)?.records ?? [];
    return {
      records: records.length,
      bytes: records.reduce((sum, { length }) => sum + 4 + length, 56),
    };
  }

  test.each(RESTARTS)("the process dies after some of its bytes, then %s", async (after) => {
    const { records, bytes } = await lastBatch();
    expect(records).toBeGreaterThan(1);
    const padded = (bytes + 7) & ~7;
    const lost = new Set<number>();
    for (const bytesWritten of placesIn(padded, OF_WRITE)) {
      await named(`after ${bytesWritten} bytes`, async () => {
        const world = new World(STORY, { ...options, diskSeed: bytesWritten });
        await world.live({ kind: "dies_writing", bytesWritten }, bursts);
        world.restart(after);
        await world.finish();
        const { lost: count } = world.auditor.counts;
        lost.add(count);
        // Padding is zeros on a disk of zeros: a killed process needs no more than the bytes.
        if (after === "kill") expect(count).toBe(bytesWritten < bytes ? records : 0);
      });
    }
    expect([...lost].sort(), "all of the batch or nothing").toEqual([0, records]);
  });
});
