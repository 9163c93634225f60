/** What may be cut from the end of a log, what is refused instead, and what is kept of it. */

import { describe, expect, test } from "vitest";
import { MAX_COMMIT_BYTES } from "./commit-ring.js";
import { crc32c } from "./crc32c.js";
import type { LogProof } from "./errors.js";
import { KEPT_TORN_FILES } from "./log-repair.js";
import { type Loss, openJournal } from "./open-journal.js";
import { SEGMENT_HEADER_BYTES } from "./segment-format.js";
import { appendMany, readAll, text } from "./testing/contract.js";
import { FakeDisk } from "./testing/fake-disk.js";

const DIRECTORY = "/log";
const FIRST = "/log/0000000001.log";
const SECOND = "/log/0000000002.log";
const THIRD = "/log/0000000003.log";
/** An encoded batch of the contract's tests. */
const BATCH_BYTES = 72;

const open = (disk: FakeDisk, segmentBytes = 512) =>
  openJournal({ directory: DIRECTORY, disk, segmentBytes });

/** A closed log of `batches` batches, one commit each. */
async function logOf(batches: number, segmentBytes = 512): Promise<FakeDisk> {
  const disk = new FakeDisk(1);
  const journal = await open(disk, segmentBytes);
  for (let counter = 0; counter < batches; counter++) {
    await appendMany(journal, counter, counter + 1);
  }
  await journal.close();
  return disk;
}

function write(disk: FakeDisk, path: string, bytes: Uint8Array, offset: number): void {
  const file = disk.open(path, "write");
  file.write(bytes, offset);
  file.sync();
}

function everything(disk: FakeDisk): Record<string, string> {
  const files = disk.paths().filter((path) => !path.endsWith("/lock"));
  return Object.fromEntries(
    files.map((path) => [path, Buffer.from(disk.contents(path)).toString("latin1")]),
  );
}

const tornFiles = (disk: FakeDisk) => disk.paths().filter((path) => path.includes("/torn-"));

describe("open: what is no torn commit", () => {
  const end = SEGMENT_HEADER_BYTES + 2 * BATCH_BYTES;

  test("more bytes than the largest commit has: refused, and nothing is changed", async () => {
    const disk = await logOf(2, 6 * 1024 * 1024);
    write(disk, FIRST, Buffer.alloc(MAX_COMMIT_BYTES + 1, 0xa5), end);
    const before = everything(disk);
    await expect(open(disk)).rejects.toMatchObject({
      code: "journal_damaged",
      file: FIRST,
      offset: end,
      message: expect.stringContaining(`${MAX_COMMIT_BYTES + 1} bytes follow the last batch`),
    });
    expect(everything(disk)).toEqual(before);
  });

  test("as many bytes as the largest commit has: cut", async () => {
    const disk = await logOf(2, 6 * 1024 * 1024);
    write(disk, FIRST, Buffer.alloc(MAX_COMMIT_BYTES, 0xa5), end);
    const journal = await open(disk);
    expect(journal.recovery.cut).toMatchObject([{ file: FIRST, bytes: MAX_COMMIT_BYTES }]);
    expect(await readAll(journal)).toHaveLength(2);
  });

  test("a batch of a later format: refused by its name", async () => {
    const disk = await logOf(2);
    write(disk, FIRST, Buffer.from("PGB3 and what a later release wrote"), end);
    await expect(open(disk)).rejects.toThrow(/a batch of format PGB3; this release reads PGB2/);
  });

  test("a last segment of a later version: refused by its version", async () => {
    // Eight batches fill the first segment; the ninth begins the second.
    const disk = await logOf(9);
    const header = Buffer.from(disk.contents(SECOND).subarray(0, SEGMENT_HEADER_BYTES));
    header.writeUInt32LE(2, 4);
    header.writeUInt32LE(crc32c(header.subarray(0, 60)), 60);
    write(disk, SECOND, header, 0);
    const before = everything(disk);
    await expect(open(disk)).rejects.toMatchObject({
      code: "journal_damaged",
      file: SECOND,
      message: expect.stringContaining("format version 2; this release reads 1"),
    });
    expect(everything(disk)).toEqual(before);
  });

  test("a begun segment whose bytes are all zero, before a spare one: refused", async () => {
    const disk = await logOf(9);
    expect(disk.paths()).toContain(THIRD);
    write(disk, SECOND, new Uint8Array(512), 0);
    await expect(open(disk)).rejects.toMatchObject({ code: "journal_damaged", file: SECOND });
  });
});

describe("open: a torn commit is kept", () => {
  const TORN = Buffer.from("half a commit");

  async function tornLog(): Promise<FakeDisk> {
    const disk = await logOf(2);
    write(disk, FIRST, TORN, SEGMENT_HEADER_BYTES + 2 * BATCH_BYTES);
    return disk;
  }

  test("its bytes are copied to a file named by segment and offset", async () => {
    const disk = await tornLog();
    const journal = await open(disk);
    const [cut] = journal.recovery.cut;
    expect(cut?.copy).toBe("/log/torn-00000001-segment-0000000001-offset-208.bin");
    expect(Buffer.from(disk.contents(cut?.copy ?? ""))).toEqual(TORN);
  });

  test("a crash at any step: the bytes are in the log or in a file, also after a power cut", async () => {
    for (let operation = 1; ; operation++) {
      const disk = await tornLog();
      disk.plan = { operation: disk.operations + operation, fault: { kind: "crash" } };
      const isOver = await open(disk).then(
        () => true,
        () => false,
      );
      disk.restart("power_cut", "none");
      const kept = Object.values(everything(disk)).some((bytes) => bytes.includes(String(TORN)));
      expect(kept, `operation ${operation}`).toBe(true);
      const journal = await open(disk);
      expect(await readAll(journal)).toHaveLength(2);
      expect(tornFiles(disk)).toHaveLength(1);
      if (isOver) break;
    }
  });

  test("one torn commit after another: the newest copies stay", async () => {
    const disk = await logOf(1);
    for (let round = 1; round <= KEPT_TORN_FILES + 3; round++) {
      write(disk, FIRST, Buffer.from(`torn ${round}`), SEGMENT_HEADER_BYTES + BATCH_BYTES);
      const journal = await open(disk);
      await journal.close();
    }
    const copies = tornFiles(disk);
    expect(copies).toHaveLength(KEPT_TORN_FILES);
    expect(Buffer.from(disk.contents(copies.at(-1) ?? "")).toString()).toBe(
      `torn ${KEPT_TORN_FILES + 3}`,
    );
  });
});

describe("open: something shows that the end is missing", () => {
  const proof: LogProof = { source: "the history", batch: 5, record: 5 };
  const proven = (disk: FakeDisk, giveUp?: (loss: Loss) => Promise<void>) =>
    openJournal({
      directory: DIRECTORY,
      disk,
      segmentBytes: 512,
      proofs: async () => [proof],
      ...(giveUp === undefined ? {} : { giveUp }),
    });

  test("refused with both positions, and the torn tail is not changed", async () => {
    const disk = await logOf(3);
    write(disk, FIRST, Buffer.from("torn"), SEGMENT_HEADER_BYTES + 3 * BATCH_BYTES);
    const before = everything(disk);
    await expect(proven(disk)).rejects.toMatchObject({
      code: "log_behind",
      end: { batch: 3, record: 3 },
      proofs: [proof],
      message: expect.stringMatching(/ends at position 3 .*the history shows position 5/),
    });
    expect(everything(disk)).toEqual(before);
  });

  test("proofs that the log has reached: accepted", async () => {
    const disk = await logOf(5);
    expect((await proven(disk)).end).toEqual({ batch: 5, record: 5 });
  });

  test("no log, but a proof of one: refused, no new log is created", async () => {
    const disk = new FakeDisk(1);
    await expect(proven(disk)).rejects.toThrow(/there is no log, but the history shows position 5/);
    expect(disk.paths().filter((path) => path.endsWith(".log"))).toEqual([]);
  });

  test("giveUp: called before anything changes, then the log continues from its end", async () => {
    const disk = await logOf(3);
    write(disk, FIRST, Buffer.from("torn"), SEGMENT_HEADER_BYTES + 3 * BATCH_BYTES);
    const before = everything(disk);
    const journal = await proven(disk, async (loss) => {
      expect(loss).toMatchObject({ end: { batch: 3, record: 3 }, tailFiles: [FIRST] });
      expect(everything(disk)).toEqual(before);
    });
    await appendMany(journal, 3, 4);
    expect(await readAll(journal)).toHaveLength(4);
  });

  test("the log ends before its snapshot: the snapshot's file is named", async () => {
    const disk = new FakeDisk(1);
    const journal = await open(disk);
    await appendMany(journal, 0, 2);
    journal.snapshots.write(journal.end, [text("state")]);
    await journal.close();
    disk.flipBit(FIRST, 64 + 60, 0);
    await expect(open(disk)).rejects.toMatchObject({
      code: "log_behind",
      message: expect.stringContaining("0000000000000002.snapshot shows position 2"),
    });
  });
});
