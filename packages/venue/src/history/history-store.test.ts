import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { inspectLog, nodeDisk } from "@perpgate/journal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import type { VenueLogger } from "../venue-options.js";
import { openForReading, type ReadStore } from "./history-store.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

/** Makes a venue with a few orders; returns what the history shows of them. */
async function firstLife(): Promise<unknown> {
  const driver = await TestVenue.open(folder);
  await driver.index();
  const session = await driver.signIn(1);
  for (let nonce = 1; nonce <= 9; nonce++) await driver.order(session, nonce, "long", 640_000);
  await driver.tick();
  const shown = driver.venue.views.orders(1);
  await driver.venue.close();
  return shown;
}

const asideFolders = (): string[] =>
  readdirSync(folder).filter((name) => name.startsWith("history.set-aside-"));

async function secondLife(): Promise<{ shown: unknown; warnings: unknown[] }> {
  const warnings: unknown[] = [];
  const logger: VenueLogger = {
    info: () => undefined,
    warn: (fields) => warnings.push(fields),
    error: () => undefined,
  };
  const { venue } = await TestVenue.open(folder, { logger });
  const shown = venue.views.orders(1);
  await venue.close();
  return { shown, warnings };
}

describe("a damaged history: set aside, and rebuilt the same", () => {
  const data = (): string => join(folder, "history", "data.mdb");

  test("unchanged: used as it is", async () => {
    const shown = await firstLife();
    expect(await secondLife()).toEqual({ shown, warnings: [] });
  });

  test.each<[string, () => void, RegExp]>([
    ["garbage", () => writeFileSync(data(), Buffer.alloc(20_000, 0xa5)), /not an lmdb file/],
    ["an empty file", () => truncateSync(data(), 0), /not an lmdb file/],
    ["a file cut short", () => truncateSync(data(), 12_288), /bytes and needs/],
    [
      "the marker of two starts that did not return",
      () => writeFileSync(join(folder, "history", "opening"), "2"),
      /did not return/,
    ],
    [
      "the marker of an earlier release's start that did not return",
      () => writeFileSync(join(folder, "history", "opening"), ""),
      /did not return/,
    ],
  ])("%s", async (_, harm, reason) => {
    const shown = await firstLife();
    harm();
    const second = await secondLife();
    expect(second.shown).toEqual(shown);
    expect(second.warnings).toEqual([
      { reason: expect.stringMatching(reason), movedTo: expect.stringContaining("set-aside") },
    ]);
    const [aside = ""] = asideFolders();
    expect(readFileSync(join(folder, aside, "reason.txt"), "utf8")).toMatch(reason);
    expect(existsSync(join(folder, aside, "data.mdb"))).toBe(true);
    expect(existsSync(join(folder, "history", "opening"))).toBe(false);
  });

  test("the marker of one killed start: used as it is", async () => {
    const shown = await firstLife();
    writeFileSync(join(folder, "history", "opening"), "1");
    expect(await secondLife()).toEqual({ shown, warnings: [] });
    expect(existsSync(join(folder, "history", "opening"))).toBe(false);
  });

  test("several: the newest two stay", async () => {
    await firstLife();
    for (let round = 0; round < 4; round++) {
      writeFileSync(data(), Buffer.alloc(20_000, round + 1));
      await secondLife();
    }
    const asides = asideFolders();
    expect(asides).toHaveLength(2);
  });

  test("a history of another log", async () => {
    const shown = await firstLife();
    const other = await temporaryFolder();
    try {
      const { venue } = await TestVenue.open(other);
      await venue.close();
      await removeFolder(join(folder, "history"));
      cpSync(join(other, "history"), join(folder, "history"), { recursive: true });
    } finally {
      await removeFolder(other);
    }
    const second = await secondLife();
    expect(second.shown).toEqual(shown);
    expect(second.warnings).toMatchObject([{ reason: "it is of another log" }]);
    expect(asideFolders()).toHaveLength(1);
  });
});

test("a history that has no place for another reader: a system error, not damaged", async () => {
  await firstLife();
  const { logId } = inspectLog(nodeDisk, join(folder, "journal"), "tail")!;
  const readers: ReadStore[] = [];
  const openAnother = async (): Promise<void> => {
    const opened = await openForReading(join(folder, "history"), logId);
    expect(opened).not.toHaveProperty("kind");
    readers.push(opened as ReadStore);
  };
  try {
    // The places of lmdb's lock file.
    while (readers.length < 126) await openAnother();
    await expect(openAnother()).rejects.toMatchObject({
      code: -30790,
      syscall: "open",
      message: expect.stringMatching(/^cannot open .*history: MDB_READERS_FULL/),
    });
  } finally {
    for (const reader of readers) await reader.close();
  }
  await openAnother();
  await readers.at(-1)!.close();
});

test("a history whose tables cannot be opened for reading: damaged, with lmdb's reason", async () => {
  await firstLife();
  const file = join(folder, "history", "data.mdb");
  const bytes = readFileSync(file);
  const pageBytes = bytes.readUInt32LE(48);
  // The root page of the list of tables, in both meta pages: one that the file does not have.
  for (const meta of [0, pageBytes]) bytes.writeBigUInt64LE(2n ** 40n, meta + 136);
  writeFileSync(file, bytes);
  expect(await openForReading(join(folder, "history"), new Uint8Array(16))).toEqual({
    kind: "damaged",
    reason: expect.stringMatching(/^it cannot be read: ./),
  });
});
