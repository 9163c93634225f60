import { describe, expect, test } from "vitest";
import { segmentsBelow } from "./log-prune.js";
import { CLAIM_WINDOW, mirroredId } from "./mirrored.js";
import { openJournal } from "./open-journal.js";
import { FileSnapshots } from "./snapshots.js";
import { appendMany, readAll, text } from "./testing/contract.js";
import { FakeDisk } from "./testing/fake-disk.js";

const LOG_ID = Buffer.alloc(16, 9);
const at = (batch: number) => ({ batch, record: batch * 2 });

function bodyOf(snapshots: FileSnapshots): string | undefined {
  const { snapshot } = snapshots.newest();
  return snapshot && Buffer.from(snapshot.body).toString();
}

describe("snapshots", () => {
  test("newest: a flipped bit anywhere: the file is skipped for the one before", () => {
    const disk = new FakeDisk(1);
    const snapshots = new FileSnapshots(disk, "/log", LOG_ID);
    snapshots.write(at(1), [text("older")]);
    const { file } = snapshots.write(at(2), [text("newer")]);
    const size = disk.contents(file).length;
    for (let offset = 0; offset < size; offset++) {
      disk.flipBit(file, offset, offset % 8);
      expect(snapshots.newest().damaged, `offset ${offset}`).toEqual([file]);
      expect(bodyOf(snapshots), `offset ${offset}`).toBe("older");
      disk.flipBit(file, offset, offset % 8);
    }
    expect(bodyOf(snapshots)).toBe("newer");
  });

  test("newest: a snapshot of another log is skipped", () => {
    const disk = new FakeDisk(1);
    new FileSnapshots(disk, "/log", Buffer.alloc(16, 8)).write(at(5), [text("foreign")]);
    expect(bodyOf(new FileSnapshots(disk, "/log", LOG_ID))).toBeUndefined();
  });

  test("write: a crash before any operation leaves the old set or the new", () => {
    for (let operation = 1; ; operation++) {
      const disk = new FakeDisk(operation);
      const snapshots = new FileSnapshots(disk, "/log", LOG_ID);
      snapshots.write(at(1), [text("old")]);
      disk.plan = { operation: disk.operations + operation, fault: { kind: "crash" } };
      let finished = true;
      try {
        snapshots.write(at(2), [text("n"), text("ew")]);
      } catch {
        finished = false;
      }
      disk.restart("power_cut");
      expect(snapshots.newest().damaged, `operation ${operation}`).toEqual([]);
      if (finished) {
        expect(bodyOf(snapshots)).toBe("new");
        return;
      }
      expect(["old", "new"]).toContain(bodyOf(snapshots));
      snapshots.write(at(2), [text("again")]);
      expect(bodyOf(snapshots)).toBe("again");
    }
  });

  test("write: too little room for the snapshot: nothing is written", () => {
    const disk = new FakeDisk(1);
    const snapshots = new FileSnapshots(disk, "/log", LOG_ID);
    const { file } = snapshots.write(at(1), [text("old")]);
    // Room for the first piece and a part of the second.
    disk.capacityBytes = disk.contents(file).length + 64 + 1_500;
    const pieces = [new Uint8Array(1_000), new Uint8Array(1_000)];
    const { operations } = disk;
    expect(() => snapshots.write(at(2), pieces)).toThrow(
      expect.objectContaining({ code: "ENOSPC" }),
    );
    expect(disk.operations).toBe(operations);
    expect(disk.paths()).toEqual([file]);
    expect(bodyOf(snapshots)).toBe("old");
    snapshots.write(at(3), [new Uint8Array(1_400)]);
    expect(snapshots.list().map((one) => one.seq.batch)).toEqual([3, 1]);
  });

  test.each(["list", "newest"] as const)("%s: while another thread removes the oldest", (call) => {
    const disk = new FakeDisk(1);
    const taker = new FileSnapshots(disk, "/log", LOG_ID);
    taker.write(at(1), [text("1")]);
    // Another thread replaces the set just after ours has read the names.
    const namesRead = disk.list.bind(disk);
    let turns = 3;
    const raced = Object.create(disk, {
      open: { value: disk.open.bind(disk) },
      list: {
        value: (directory: string) => {
          const names = namesRead(directory);
          if (turns-- > 0) {
            taker.write(at(9 - turns), [text(String(9 - turns))]);
            taker.keepNewest(1);
          }
          return names;
        },
      },
    });
    const reader = new FileSnapshots(raced, "/log", LOG_ID);
    if (call === "list") expect(reader.list().map((one) => one.seq.batch)).toEqual([9]);
    else expect(bodyOf(reader)).toBe("9");
  });

  test("list: a name without a file: throws, does not retry for ever", () => {
    const disk = new FakeDisk(1);
    const astray = Object.create(disk, {
      list: { value: () => ["0000000000000001.snapshot"] },
      open: { value: disk.open.bind(disk) },
    });
    expect(() => new FileSnapshots(astray, "/log", LOG_ID).list()).toThrow(/ENOENT/);
  });

  test("keepNewest: the older ones are removed", () => {
    const snapshots = new FileSnapshots(new FakeDisk(1), "/log", LOG_ID);
    for (const batch of [1, 2, 3, 4]) snapshots.write(at(batch), [text(String(batch))]);
    expect(snapshots.keepNewest(2)).toBe(2);
    expect(snapshots.list().map((one) => one.seq.batch)).toEqual([4, 3]);
  });
});

test("keepNewest: one at or before the batch that a reader has reached stays, too", () => {
  const snapshots = new FileSnapshots(new FakeDisk(1), "/log", LOG_ID);
  for (const batch of [1, 2, 3, 4, 5]) snapshots.write(at(batch), [text(String(batch))]);
  expect(snapshots.keepNewest(2, 2)).toBe(2);
  expect(snapshots.list().map((one) => one.seq.batch)).toEqual([5, 4, 2]);
  expect(snapshots.keepNewest(2, 4)).toBe(1);
  expect(snapshots.list().map((one) => one.seq.batch)).toEqual([5, 4]);
});

describe("prune", () => {
  const open = (disk: FakeDisk) => openJournal({ directory: "/log", disk, segmentBytes: 512 });

  test("whole segments below it are removed, and reading from there still works", async () => {
    const disk = new FakeDisk(1);
    const journal = await open(disk);
    await appendMany(journal, 0, 30);
    const place = { batch: 20, record: 20 };
    journal.snapshots.write(place, [text("state")]);
    expect(journal.prune(place)).toBe(3);
    expect(await readAll(journal, place)).toHaveLength(10);
    await expect(readAll(journal)).rejects.toMatchObject({ code: "position_unavailable" });
    await journal.close();
    const { recovery } = await open(disk);
    expect(recovery.first.batch).toBeGreaterThan(0);
    expect(recovery.first.batch).toBeLessThanOrEqual(20);
    expect(recovery.end.batch).toBe(30);
  });

  test("a mirror keeps the messages that a claim may name", async () => {
    const disk = new FakeDisk(1);
    const journal = await open(disk);
    for (let sequence = 1; sequence <= 30; sequence++) {
      await journal.append(mirroredId(sequence), [text(`message ${sequence}`)]);
    }
    const below = { batch: 20, record: 20 };
    journal.snapshots.write(below, [text("state")]);
    expect(journal.prune(below)).toBe(0);
    const later = (batches: number) => ({ batch: CLAIM_WINDOW + batches, record: 0 });
    expect(segmentsBelow(disk, "/log", below, later(0))).toHaveLength(0);
    const removable = segmentsBelow(disk, "/log", below, later(20)).length;
    expect(removable).toBeGreaterThan(1);
    expect(segmentsBelow(disk, "/log", below, later(10)).length).toBeLessThan(removable);
  });

  test("refused while a reading is below it", async () => {
    const journal = await open(new FakeDisk(1));
    await appendMany(journal, 0, 30);
    journal.snapshots.write(journal.end, [text("state")]);
    const reading = journal.read({ batch: 0, record: 0 }, () => undefined);
    expect(() => journal.prune(journal.end)).toThrow(/a reading is still at batch 0/);
    await reading.live;
    expect(journal.prune(journal.end)).toBeGreaterThan(0);
  });

  test("refused when the only snapshot is damaged", async () => {
    const disk = new FakeDisk(1);
    const journal = await open(disk);
    await appendMany(journal, 0, 30);
    const { file } = journal.snapshots.write(journal.end, [text("state")]);
    disk.flipBit(file, 66, 0);
    expect(() => journal.prune(journal.end)).toThrow(/no valid snapshot/);
  });
});
