import { describe, expect, test } from "vitest";
import { JournalStopped } from "./errors.js";
import { LOG_START } from "./journal.js";
import { openJournal } from "./open-journal.js";
import { appendMany, id, readAll, text } from "./testing/contract.js";
import { FakeDisk, type Fault } from "./testing/fake-disk.js";

const open = (disk: FakeDisk) => openJournal({ directory: "/log", disk, segmentBytes: 4096 });

describe("append: the disk fails", () => {
  test.each<[string, number, Fault]>([
    ["a write fails with EIO", 1, { kind: "error", code: "EIO" }],
    ["a write fails half way with ENOSPC", 1, { kind: "error", code: "ENOSPC", bytesWritten: 20 }],
    ["a sync fails", 2, { kind: "failed_sync" }],
  ])("%s: nothing is acknowledged or shown, then or later", async (_, ahead, fault) => {
    const disk = new FakeDisk(1);
    const journal = await open(disk);
    const shown: number[] = [];
    await journal.read(LOG_START, (batch) => shown.push(batch.id.counter)).live;
    await appendMany(journal, 0, 2);
    disk.plan = { operation: disk.operations + ahead, fault };
    const outcomes = await Promise.allSettled(
      [2, 3].map((n) => journal.append(id(n), [text("x")])),
    );
    const operations = disk.operations;
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(JournalStopped) });
    }
    await expect(journal.append(id(4), [text("later")])).rejects.toThrow(JournalStopped);
    expect(await journal.stopped).toBeInstanceOf(JournalStopped);
    expect(disk.operations, "no write or sync is tried again").toBe(operations);
    expect(shown).toEqual([0, 1]);
    await journal.close();
  });

  test("a short write is continued", async () => {
    const disk = new FakeDisk(1);
    const journal = await open(disk);
    disk.plan = { operation: disk.operations + 1, fault: { kind: "short_write", bytesWritten: 7 } };
    await appendMany(journal, 0, 3);
    disk.restart("power_cut");
    expect(await readAll(await open(disk))).toHaveLength(3);
  });

  test("a full disk: appends go on while the prepared segments last, then the journal stops", async () => {
    const disk = new FakeDisk(1);
    const journal = await open(disk);
    disk.capacityBytes = 2.5 * 4096;
    let acknowledged = 0;
    let stopped: unknown;
    while (stopped === undefined) {
      await journal.append(id(acknowledged), [new Uint8Array(500)]).then(
        () => acknowledged++,
        (error: unknown) => {
          stopped = error;
        },
      );
    }
    expect(stopped).toMatchObject({ code: "journal_stopped", cause: { code: "ENOSPC" } });
    expect(acknowledged).toBe(14);
    disk.restart("power_cut");
    disk.capacityBytes = Number.POSITIVE_INFINITY;
    expect(await readAll(await open(disk))).toHaveLength(acknowledged);
  });

  test("a failed sync that the kernel forgets: what the next process shows survives a power cut", async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const disk = new FakeDisk(seed);
      const journal = await open(disk);
      disk.plan = { operation: disk.operations + 2, fault: { kind: "failed_sync" } };
      const records = [new Uint8Array(1500).fill(seed)];
      await expect(journal.append(id(0), records)).rejects.toThrow(JournalStopped);
      disk.restart("kill");
      const shown = await readAll(await open(disk));
      disk.restart("power_cut");
      expect(await readAll(await open(disk)), `seed ${seed}`).toEqual(shown);
    }
  });
});

describe("read: the reader fails", () => {
  test("an exception while catching up rejects the reading and no other", async () => {
    const journal = await open(new FakeDisk(1));
    await appendMany(journal, 0, 3);
    const reading = journal.read(LOG_START, () => {
      throw new Error("cannot apply");
    });
    await expect(reading.live).rejects.toThrow("cannot apply");
    expect(await readAll(journal)).toHaveLength(3);
  });
});

describe("open: the lock", () => {
  test("a second journal on the same directory is refused until the first is closed", async () => {
    const disk = new FakeDisk(1);
    const journal = await open(disk);
    await expect(open(disk)).rejects.toMatchObject({ code: "journal_locked" });
    await journal.close();
    await (await open(disk)).close();
  });

  test("an open that fails releases the lock", async () => {
    const disk = new FakeDisk(1);
    disk.plan = { operation: 1, fault: { kind: "error", code: "EIO" } };
    await expect(open(disk)).rejects.toMatchObject({ code: "EIO" });
    disk.plan = undefined;
    await (await open(disk)).close();
  });
});
