import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { FileSnapshots, inspectLog, nodeDisk } from "@perpgate/journal";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HISTORY_FORMAT, readHeldRow } from "../history/history-environment.js";
import { STORE_FILE } from "../history/sqlite.js";
import { planPrune } from "../prune-plan.js";
import { editStore, runSql } from "../testing/edit-store.js";
import {
  removeFolder,
  TestVenue,
  temporaryFolder,
  writeForeignSnapshot,
} from "../testing/test-venue.js";
import { verify } from "../verify/verify.js";
import { readCheckpointLines } from "./checkpoint-file.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

const EVERY = { everyCommands: 40, everyMs: 3_600_000, keep: 2 };
/** A venue whose log has several segments and checkpoints after few orders. */
const OFTEN = { checkpoints: { ...EVERY, everyCommands: 15 }, segmentBytes: 8_192 };
const OFTEN_ORDERS = 120;
const OFTEN_CHECKPOINTS = 8;

async function snapshots(): Promise<string[]> {
  const names = await readdir(join(folder, "journal"));
  return names.filter((name) => name.endsWith(".snapshot")).sort();
}

/** Polls until it has written `count` checkpoints; it reports nothing to wait on. */
async function checkpointed(count: number, directory = folder): Promise<void> {
  while (readCheckpointLines(join(directory, "checkpoints.jsonl")).lines.length < count) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function trade(driver: TestVenue, first: number, count: number): Promise<void> {
  const session = driver.venue.views.sessions(1)[0]?.number;
  const maker = session ?? (await driver.signIn(1));
  if (session === undefined) await driver.index();
  for (let nonce = first; nonce < first + count; nonce++) {
    await driver.order(maker, nonce, nonce % 2 === 0 ? "long" : "short", 650_000, 5);
    if (nonce % 7 === 0) await driver.tick();
  }
}

describe("snapshots", () => {
  test("commands: snapshots are taken, old ones removed, and a restart uses the newest", async () => {
    const before = await TestVenue.open(folder, { checkpoints: EVERY });
    await trade(before, 1, 200);
    await checkpointed(5);
    const { seq } = before.venue;
    const orders = before.venue.views.orders(1);
    const block = before.venue.views.block(20);
    await before.venue.close();
    expect(await snapshots()).toHaveLength(2);
    const after = await TestVenue.open(folder, { checkpoints: EVERY });
    expect(after.venue.recovery.snapshotSeq).toBeGreaterThanOrEqual(200);
    // With the WriterLeft of the close.
    expect(after.venue.recovery.applied).toBe(seq + 1 - after.venue.recovery.snapshotSeq);
    expect(after.venue.views.orders(1)).toEqual(orders);
    expect(after.venue.views.block(20)).toEqual(block);
    await trade(after, 1_001, 100);
    await checkpointed(7);
    await after.venue.close();
    const report = await verify(folder);
    expect(report.fault).toBeNull();
    expect(report.checkpoints).toBeGreaterThanOrEqual(7);
    expect(report.snapshots).toBe(2);
  });

  test("rows in a thread: it takes them while it makes rows, and a restart uses the newest", async () => {
    const inThread = { checkpoints: EVERY, commit: "thread" } as const;
    const before = await TestVenue.open(folder, inThread);
    await trade(before, 1, 150);
    await checkpointed(1);
    await trade(before, 151, 100);
    await checkpointed(2);
    const { views, history, seq } = before.venue;
    await history.reached();
    const orders = views.orders(1);
    await before.venue.close();
    const after = await TestVenue.open(folder, inThread);
    const { snapshotSeq, applied } = after.venue.recovery;
    expect(snapshotSeq).toBeGreaterThan(40);
    // With the WriterLeft of the close.
    expect(snapshotSeq + applied).toBe(seq + 1);
    expect(after.venue.views.orders(1)).toEqual(orders);
    await after.venue.close();
    expect((await verify(folder)).fault).toBeNull();
  });

  test("a history behind every snapshot: a restart replays from the beginning and shows the same", async () => {
    const [history, older] = [join(folder, "history"), join(folder, "older")];
    const before = await TestVenue.open(folder, { checkpoints: EVERY });
    await trade(before, 1, 20);
    await before.venue.history.flush();
    cpSync(history, older, { recursive: true });
    await trade(before, 21, 100);
    await checkpointed(2);
    const orders = before.venue.views.orders(1);
    await before.venue.close();
    await removeFolder(history);
    renameSync(older, history);
    const after = await TestVenue.open(folder);
    expect(after.venue.recovery.snapshotSeq).toBe(0);
    expect(after.venue.views.orders(1)).toEqual(orders);
    await after.venue.close();
    expect((await verify(folder)).fault).toBeNull();
  });

  test("time: a snapshot is taken after few commands", async () => {
    const driver = await TestVenue.open(folder, {
      checkpoints: { everyCommands: 1e9, everyMs: 20, keep: 3 },
    });
    await trade(driver, 1, 5);
    await checkpointed(1);
    await driver.venue.close();
    expect((await verify(folder)).checkpoints).toBeGreaterThanOrEqual(1);
  });

  test("prune: removes what the snapshot and the history cover; the venue restarts and verifies", async () => {
    const driver = await TestVenue.open(folder, OFTEN);
    await trade(driver, 1, OFTEN_ORDERS);
    await checkpointed(OFTEN_CHECKPOINTS);
    await driver.venue.history.flush();
    expect(driver.venue.prune()).toBeGreaterThan(0);
    await driver.venue.close();
    const again = await TestVenue.open(folder, OFTEN);
    expect(again.venue.views.orders(1)).toHaveLength(OFTEN_ORDERS);
    await again.venue.close();
    const report = await verify(folder);
    expect(report.fault).toBeNull();
    expect(report.from).toBeGreaterThan(0);
  });

  test("pruneBelow: the thread of the log removes the segments, and a close waits for all that was asked", async () => {
    const segments = (): string[] =>
      readdirSync(join(folder, "journal")).filter((name) => name.endsWith(".log"));
    const driver = await TestVenue.open(folder, OFTEN);
    const { venue } = driver;
    await trade(driver, 1, OFTEN_ORDERS);
    await checkpointed(OFTEN_CHECKPOINTS);
    await venue.history.flush();
    const { below, files } = await planPrune(folder, 1);
    expect(files.length).toBeGreaterThan(2);
    const refused = venue.pruneBelow({ batch: 1e9, record: 1e9 });
    await expect(refused).rejects.toThrow("nothing was pruned: the history on disk ends at");
    const before = segments().length;
    const pruned = Promise.allSettled([venue.pruneBelow(below), venue.pruneBelow(below)]);
    expect(segments()).toHaveLength(before);
    // The first has begun; the second waits for it, and finds nothing left.
    await new Promise((resolve) => setImmediate(resolve));
    await venue.close();
    expect(files.filter((file) => existsSync(file))).toEqual([]);
    const removed = (value: number) => ({ status: "fulfilled", value });
    expect(await pruned).toEqual([removed(files.length), removed(0)]);
    expect((await verify(folder)).fault).toBeNull();
  });

  test("a snapshot of another release: skipped, and new ones are taken", async () => {
    const before = await TestVenue.open(folder);
    await trade(before, 1, 30);
    const { seq } = before.venue;
    await before.venue.close();
    writeForeignSnapshot(folder);
    const after = await TestVenue.open(folder, { checkpoints: EVERY });
    // With the WriterLeft of the close.
    expect(after.venue.recovery).toMatchObject({ snapshotSeq: 0, applied: seq + 1 });
    expect(after.venue.recovery.damagedSnapshots).toHaveLength(1);
    await trade(after, 1_001, 100);
    await checkpointed(2);
    expect(after.venue.isStopped).toBe(false);
    await after.venue.close();
  });

  describe("a pruned log", () => {
    let pruned = "";
    /** Its journal as a backup has it. */
    let backup = "";

    beforeAll(async () => {
      pruned = await temporaryFolder();
      backup = await temporaryFolder();
      const driver = await TestVenue.open(pruned, OFTEN);
      await trade(driver, 1, OFTEN_ORDERS);
      await checkpointed(OFTEN_CHECKPOINTS, pruned);
      await driver.venue.history.flush();
      cpSync(join(pruned, "journal"), backup, { recursive: true });
      expect(driver.venue.prune()).toBeGreaterThan(0);
      await driver.venue.close();
    });
    afterAll(() => Promise.all([removeFolder(pruned), removeFolder(backup)]));
    beforeEach(() => cpSync(pruned, folder, { recursive: true }));

    test("state of format 4: refused with both releases' versions", async () => {
      const journal = join(folder, "journal");
      const files = new FileSnapshots(nodeDisk, journal, inspectLog(nodeDisk, journal)!.logId);
      const { body, seq } = files.newest(Number.MAX_SAFE_INTEGER).snapshot!;
      const bytes = Buffer.from(body);
      // After the prefix, the description, the events and the projections.
      const lengths = [4, 8, 12].map((at) => bytes.readUInt32LE(at));
      bytes.writeDoubleLE(
        4,
        lengths.reduce((sum, length) => sum + length, 16),
      );
      files.write(seq, [bytes]);
      await expect(TestVenue.open(folder)).rejects.toThrow(
        "the log was pruned and its snapshots are those of another release, state format 4, which",
      );
    });

    test("history missing: refused with HistoryLost", async () => {
      await removeFolder(join(folder, "history"));
      await expect(TestVenue.open(folder)).rejects.toMatchObject({
        name: "HistoryLost",
        message: expect.stringContaining("there is none"),
      });
      expect(existsSync(join(folder, "history"))).toBe(false);
    });

    test("history of release 0.2: rebuilt once the pruned segments are put back", async () => {
      const history = join(folder, "history");
      await removeFolder(history);
      mkdirSync(history);
      writeFileSync(join(history, "data.mdb"), "LMDB");
      await expect(TestVenue.open(folder)).rejects.toThrow(
        /it is of an earlier release; .* put the removed files of the journal back/,
      );
      expect(readdirSync(history)).toEqual(["data.mdb"]);
      cpSync(backup, join(folder, "journal"), { recursive: true, force: false });
      const driver = await TestVenue.open(folder);
      expect(driver.venue.views.ordersNamed(1, { nonce: 1 }).rows).toHaveLength(1);
      await driver.venue.close();
      expect(await verify(folder)).toMatchObject({ fault: null, from: 0 });
    });

    test("history damaged: refused, and the only copy stays", async () => {
      const file = join(folder, "history", STORE_FILE);
      const intact = readFileSync(file);
      const damaged = Buffer.alloc(intact.length, 0xa5);
      writeFileSync(file, damaged);
      for (let attempt = 1; attempt <= 2; attempt++) {
        await expect(TestVenue.open(folder)).rejects.toMatchObject({
          name: "HistoryLost",
          message: expect.stringMatching(/file is not a database.*nothing was removed/),
        });
      }
      expect(readFileSync(file).equals(damaged)).toBe(true);
      writeFileSync(file, intact);
      const driver = await TestVenue.open(folder);
      expect(driver.venue.views.orders(1).length).toBeGreaterThan(0);
      await driver.venue.close();
    });

    test("history in another format: refused, and the release that wrote it can still start", async () => {
      runSql(folder, `UPDATE store SET format = ${HISTORY_FORMAT + 1}`);
      await expect(TestVenue.open(folder)).rejects.toMatchObject({
        name: "HistoryLost",
        message: expect.stringContaining(
          `it has format ${HISTORY_FORMAT + 1}; nothing was removed`,
        ),
      });
      const kept = editStore(folder, readHeldRow);
      expect(kept?.format).toBe(HISTORY_FORMAT + 1);
    });
  });
});
