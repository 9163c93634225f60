/**
 * Tests of the auditor: the world breaks each promise once, by a faulty disk or by interference in
 * the venue, and the auditor must report which one.
 */

import { GENESIS_WRITER } from "@perpgate/engine";
import type { Disk, DiskFile } from "@perpgate/journal";
import { FakeDisk } from "@perpgate/journal/testing";
import { type Applied, NO_EVIDENCE, Replica } from "@perpgate/venue";
import { describe, expect, test } from "vitest";
import { GENESIS, START_MS } from "../listing.js";
import { DIRECTORY, VenueProcess } from "../venue-process.js";
import { World, type WorldOptions } from "../world.js";
import { Auditor } from "./auditor.js";
import { AuditedSubmissions } from "./submissions.js";
import { Violation } from "./violation.js";

const SMALL: Partial<WorldOptions> = { segmentBytes: 4096, checkpoints: false };
const OPTIONS = { segmentBytes: 4096 };
const WRITER = "a".repeat(32);
const TICK = { kind: "Tick", slot: 1 } as const;

/** A disk whose segments are handled by `change`. */
function lying(change: (file: DiskFile) => Partial<DiskFile>): (disk: Disk) => Disk {
  return (disk) => ({
    open: (path, mode) => {
      const file = disk.open(path, mode);
      const plain: DiskFile = {
        size: () => file.size(),
        read: (into, offset) => file.read(into, offset),
        write: (bytes, offset) => file.write(bytes, offset),
        sync: () => file.sync(),
        close: () => file.close(),
      };
      return path.endsWith(".log") ? { ...plain, ...change(file) } : plain;
    },
    rename: (from, to) => disk.rename(from, to),
    remove: (path) => disk.remove(path),
    list: (directory) => disk.list(directory),
    makeDirectory: (directory) => disk.makeDirectory(directory),
    syncDirectory: (directory) => disk.syncDirectory(directory),
    roomBytes: (directory) => disk.roomBytes(directory),
    lock: (path) => disk.lock(path),
  });
}

describe("a faulty disk", () => {
  test("a sync that does nothing: what is shown is not durable", async () => {
    const between = lying(() => ({ sync: () => undefined }));
    const world = new World(1, { ...SMALL, between });
    await expect(world.live({ kind: "none" }, 3)).rejects.toThrow(/was shown and is not durable/);
  });

  test("a write that loses its last byte: what is shown is not durable", async () => {
    const between = lying((file) => ({
      write: (bytes, offset) => file.write(bytes.subarray(0, -1), offset) + 1,
    }));
    const world = new World(6, { ...SMALL, between });
    await expect(world.live({ kind: "none" }, 3)).rejects.toThrow(/was shown and is not durable/);
  });

  test("a failed sync that is hidden from the journal: it continues after the log failed", async () => {
    const between = lying((file) => ({
      sync: () => {
        try {
          file.sync();
        } catch {
          // Hidden from the journal.
        }
      },
    }));
    let objections = 0;
    for (let operation = 8; operation < 80; operation++) {
      const world = new World(1, { ...SMALL, between, diskSeed: operation });
      const fault = { kind: "failed_sync" } as const;
      const life = world.live({ kind: "fault", fault, afterOperations: operation }, 24);
      const objected = await life.then(() => false).catch((error) => error instanceof Violation);
      if (objected) objections += 1;
    }
    // Half of the operations are writes; and a sync that fails may have written all the same.
    expect(objections).toBeGreaterThan(3);
  });
});

describe("interference in the venue", () => {
  test("an acknowledged command is gone from the log: missed at the next recovery", async () => {
    const world = new World(1, SMALL);
    await world.live({ kind: "none" }, 0);
    world.restart("kill");
    // Damage in the last commit is cut as a torn write, and was acknowledged.
    const path = `${DIRECTORY}/0000000001.log`;
    world.disk.flipBit(
      path,
      world.disk.contents(path).findLastIndex((byte) => byte !== 0),
      1,
    );
    await expect(world.finish()).rejects.toThrow(/promised, \d+ found/);
  });

  test("an engine that took one command more: its seq and its hash differ", async () => {
    const disk = new FakeDisk(1);
    const auditor = new Auditor(disk, DIRECTORY);
    const venue = await VenueProcess.start(disk, auditor, OPTIONS);
    await venue.begin(START_MS);
    await venue.burst((gateway) => gateway.submit(TICK, NO_EVIDENCE, () => undefined));
    venue.engine.apply(TICK);
    expect(() => auditor.idle(venue.engine)).toThrow(/the engine is at 4, the log at 3/);
    expect(() => auditor.checkEngine(venue.engine)).toThrow(/a replay of the log gives/);
  });

  test("an answer for something that is not in the log, or a second answer: refused", () => {
    const applied = anApplied();
    const unwritten = new Auditor(new FakeDisk(1), DIRECTORY);
    const submission = unwritten.submitted(1, TICK, NO_EVIDENCE);
    unwritten.answered(submission, applied);
    expect(() => unwritten.check()).toThrow(/acknowledged and is not durable/);
    const twice = new Auditor(new FakeDisk(1), DIRECTORY);
    const once = twice.submitted(1, TICK, NO_EVIDENCE);
    twice.answered(once, null);
    twice.check();
    twice.answered(once, null);
    expect(() => twice.check()).toThrow(/answered twice/);
  });

  test("a batch with half of a burst: refused, at either end", () => {
    const submissions = new AuditedSubmissions();
    const records = [1, 2, 3].map(() => submissions.add(1, TICK, NO_EVIDENCE).record);
    const seq = { batch: 0, record: 0 };
    const batch = { id: { writer: WRITER, counter: 0 }, seq, end: { batch: 1, record: 3 } };
    const half = { ...batch, records: records.slice(0, 2) };
    expect(() => submissions.match(half, 1)).toThrow(/ends in the middle of a burst/);
    submissions.rewind();
    submissions.match({ ...batch, records }, 1);
  });
});

function anApplied(): Applied {
  const seen: Applied[] = [];
  const replica = new Replica(undefined, [{ onCommand: (applied) => seen.push(applied) }]);
  const submissions = new AuditedSubmissions();
  const genesis = submissions.add(1, GENESIS, NO_EVIDENCE);
  const id = { writer: GENESIS_WRITER, counter: 0 };
  const ends = { seq: { batch: 0, record: 0 }, end: { batch: 1, record: 1 } };
  replica.applyBatch({ id, ...ends, records: [genesis.record] });
  const [applied] = seen;
  if (applied === undefined) throw new Error("nothing was applied");
  return applied;
}
