import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { JournalDamaged } from "./errors.js";
import type { Batch } from "./journal.js";
import { inspectLog } from "./log-state.js";
import { openJournal } from "./open-journal.js";
import { SEGMENT_HEADER_BYTES, segmentPath } from "./segment-format.js";
import { appendMany, id, readAll, text } from "./testing/contract.js";
import { FakeDisk } from "./testing/fake-disk.js";

const SEGMENT_BYTES = 752;

const open = (disk: FakeDisk) =>
  openJournal({ directory: "/log", disk, segmentBytes: SEGMENT_BYTES });

interface SmallLog {
  readonly disk: FakeDisk;
  readonly batches: readonly Batch[];
  /** How many batches precede the last commit. */
  readonly beforeLastCommit: number;
}

/** Two segments and a spare; the last commit holds `lastCommit` batches. */
async function smallLog(lastCommit: number): Promise<SmallLog> {
  const disk = new FakeDisk(1);
  const journal = await open(disk);
  for (let counter = 0; counter < 14; counter++) await appendMany(journal, counter, counter + 1);
  await appendMany(journal, 14, 14 + lastCommit);
  const batches = await readAll(journal);
  await journal.close();
  return { disk, batches, beforeLastCommit: 14 };
}

/** Opens a changed copy of the log: its batches, or the damage it was refused for. */
async function tryOpen(disk: FakeDisk) {
  try {
    const journal = await open(disk);
    return { found: await readAll(journal), cut: journal.recovery.cut };
  } catch (error) {
    if (error instanceof JournalDamaged) return error;
    throw error;
  }
}

describe("open: a flipped bit", () => {
  test.each([1, 3])(
    "at every byte, last commit of %i batches: refused by file and offset, or cut from the last commit",
    async (lastCommit) => {
      const { disk, batches, beforeLastCommit } = await smallLog(lastCommit);
      const seen = { refused: 0, cut: 0 };
      for (const path of disk.paths()) {
        for (let offset = 0; offset < disk.contents(path).length; offset++) {
          const copy = disk.clone(offset);
          copy.flipBit(path, offset, offset % 8);
          const outcome = await tryOpen(copy);
          const where = `${path} at ${offset}`;
          if (outcome instanceof JournalDamaged) {
            expect(outcome.file, where).toBe(path);
            expect(outcome.offset, where).toBeLessThanOrEqual(offset);
            seen.refused += 1;
          } else {
            expect(outcome.cut.length, where).toBe(1);
            expect(outcome.found.length, where).toBeGreaterThanOrEqual(beforeLastCommit);
            expect(outcome.found, where).toEqual(batches.slice(0, outcome.found.length));
            seen.cut += 1;
          }
        }
      }
      expect(seen.refused).toBeGreaterThan(900);
      expect(seen.cut).toBeGreaterThan(64);
    },
  );
});

/** A log whose last commit is written between the walk along its chain and the look behind it. */
function growing(disk: FakeDisk, path: string, lastCommitStart: number): FakeDisk {
  const live = disk.clone(1);
  const open = live.open.bind(live);
  let isWritten = false;
  live.open = (opened, mode) => {
    const file = open(opened, mode);
    if (opened !== path) return file;
    const read = file.read.bind(file);
    file.read = (into, offset) => {
      const count = read(into, offset);
      isWritten ||= offset >= lastCommitStart;
      if (!isWritten) into.fill(0, lastCommitStart - offset);
      return count;
    };
    return file;
  };
  return live;
}

test("a log that grows during the inspection: is not reported as damaged", async () => {
  const { disk } = await smallLog(1);
  const state = inspectLog(disk, "/log", "tail");
  if (state === undefined) throw new Error("no log");
  expect(state.lastCommitStart).toBeGreaterThan(SEGMENT_HEADER_BYTES);
  const live = growing(disk, segmentPath("/log", state.segment), state.lastCommitStart);
  expect(inspectLog(live, "/log", "tail")).toEqual(state);
});

test("a log whose next segment is started during the inspection: is not reported as damaged", async () => {
  const { disk } = await smallLog(1);
  const state = inspectLog(disk, "/log", "tail");
  if (state === undefined) throw new Error("no log");
  const path = segmentPath("/log", state.segment);
  const live = disk.clone(1);
  const open = live.open.bind(live);
  let looks = 0;
  live.open = (opened, mode) => {
    const file = open(opened, mode);
    // It has no header when `boundsOf` and `look` read it first; then it has one.
    if (opened === path && ++looks <= 2) file.read = (into) => into.fill(0).length;
    return file;
  };
  expect(inspectLog(live, "/log", "tail")).toEqual(state);
});

test("a log whose oldest segment is pruned during the inspection: the rest", async () => {
  const { disk } = await smallLog(1);
  const state = inspectLog(disk, "/log", "tail");
  const oldest = segmentPath("/log", 1);
  const pruned = disk.clone(1);
  pruned.remove(oldest);
  const live = disk.clone(1);
  const open = live.open.bind(live);
  live.open = (opened, mode) => {
    if (opened === oldest && live.list("/log").includes(basename(oldest))) live.remove(oldest);
    return open(opened, mode);
  };
  expect(inspectLog(live, "/log", "tail")).toEqual(inspectLog(pruned, "/log", "tail"));
  expect(inspectLog(live, "/log", "tail")?.end).toEqual(state?.end);
});

describe("open: other damage", () => {
  const first = "/log/0000000001.log";
  const second = "/log/0000000002.log";

  test("a segment in the middle is missing: refused by its name", async () => {
    const { disk } = await smallLog(1);
    disk.remove(second);
    await expect(open(disk)).rejects.toMatchObject({ code: "journal_damaged", file: second });
  });

  test("a batch is zeroed in the middle: refused at its offset", async () => {
    const { disk } = await smallLog(1);
    disk.open(first, "write").write(new Uint8Array(72), 64 + 72);
    await expect(open(disk)).rejects.toMatchObject({ file: first, offset: 64 + 72 });
  });

  test("a segment is replaced by an earlier one: refused", async () => {
    const { disk } = await smallLog(1);
    disk.open(second, "write").write(disk.contents(first), 0);
    await expect(open(disk)).rejects.toMatchObject({ file: second, offset: 24 });
  });

  test("a segment of another log: refused", async () => {
    const { disk } = await smallLog(1);
    const other = await smallLog(1);
    disk.open(second, "write").write(other.disk.contents(second), 0);
    await expect(open(disk)).rejects.toMatchObject({ file: second, offset: 8 });
  });

  test("all segments are gone and a snapshot is left: refused, no new log is created", async () => {
    const { disk } = await smallLog(1);
    const journal = await open(disk);
    journal.snapshots.write(journal.end, [text("state")]);
    await journal.close();
    for (const path of disk.paths()) if (path.endsWith(".log")) disk.remove(path);
    await expect(open(disk)).rejects.toThrow(/snapshots but no log/);
  });

  test("a record that looks like a batch does not turn a torn tail into damage", async () => {
    const disk = new FakeDisk(1);
    const journal = await open(disk);
    await appendMany(journal, 0, 1);
    // The bytes of a whole batch of this very segment, its checksum included.
    const stored = disk.contents(first).subarray(64, 64 + 72);
    disk.plan = { operation: disk.operations + 1, fault: { kind: "crash", bytesWritten: 104 } };
    await expect(journal.append(id(1), [stored, text("more")])).rejects.toThrow();
    disk.restart("kill");
    expect((await open(disk)).recovery.cut).toMatchObject([{ file: first, offset: 64 + 72 }]);
  });
});

describe("open: verify the tail only", () => {
  test("damage further back is refused when it is read, and only then", async () => {
    const { disk } = await smallLog(1);
    disk.flipBit("/log/0000000001.log", 100, 0);
    await expect(open(disk)).rejects.toMatchObject({ code: "journal_damaged" });
    const options = { directory: "/log", disk, segmentBytes: SEGMENT_BYTES } as const;
    const journal = await openJournal({ ...options, verify: "tail" });
    expect(await readAll(journal, { batch: 9, record: 9 })).toHaveLength(6);
    await expect(readAll(journal)).rejects.toMatchObject({ code: "journal_damaged", offset: 64 });
  });

  test("damage in the last segment is refused", async () => {
    const { disk } = await smallLog(1);
    disk.flipBit("/log/0000000002.log", 64 + 2 * 72, 0);
    const options = { directory: "/log", disk, segmentBytes: SEGMENT_BYTES } as const;
    await expect(openJournal({ ...options, verify: "tail" })).rejects.toMatchObject({
      code: "journal_damaged",
      offset: 64 + 2 * 72,
    });
  });
});
