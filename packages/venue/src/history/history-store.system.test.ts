import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { inspectLog, nodeDisk } from "@perpgate/journal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { editStore, runSql } from "../testing/edit-store.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import type { VenueLogger } from "../venue-options.js";
import { openForReading } from "./history-store.js";
import { prepare, STORE_FILE } from "./sqlite.js";

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
  const data = (): string => join(folder, "history", STORE_FILE);

  test("unchanged: used as it is", async () => {
    const shown = await firstLife();
    expect(await secondLife()).toEqual({ shown, warnings: [] });
  });

  test.each<[string, () => void, RegExp]>([
    ["garbage", () => writeFileSync(data(), Buffer.alloc(20_000, 0xa5)), /not a database/],
    ["an empty file", () => truncateSync(data(), 0), /no such table/],
    ["a file cut short", () => truncateSync(data(), 12_288), /malformed/],
    ["a missing table", () => runSql(folder, "DROP TABLE fill_rows"), /no such table/],
    ["a missing header", () => runSql(folder, "DELETE FROM store"), /header row is missing/],
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
    expect(existsSync(join(folder, aside, STORE_FILE))).toBe(true);
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

test.each<[string, () => void]>([
  ["LMDB, of release 0.2", () => writeFileSync(join(folder, "history", "data.mdb"), "lmdb")],
  ["another format", () => runSql(folder, "UPDATE store SET format = 8")],
])("a history of %s: removed, and rebuilt the same", async (kind, change) => {
  const shown = await firstLife();
  if (kind.startsWith("LMDB")) rmSync(join(folder, "history", STORE_FILE));
  change();
  const second = await secondLife();
  expect(second.shown).toEqual(shown);
  expect(second.warnings).toEqual([
    { reason: expect.stringMatching(/earlier release|format 8/), movedTo: undefined },
  ]);
  expect(asideFolders()).toEqual([]);
  expect(existsSync(join(folder, "history", "data.mdb"))).toBe(false);
});

test("a history whose tables cannot be opened for reading: damaged, with SQLite's reason", async () => {
  await firstLife();
  const { logId } = inspectLog(nodeDisk, join(folder, "journal"), "tail")!;
  runSql(folder, "DROP TABLE fill_rows");
  expect(openForReading(join(folder, "history"), logId)).toEqual({
    kind: "damaged",
    reason: expect.stringMatching(/^it cannot be read: no such table/),
  });
});

test("any tool reads the views while the venue runs", async () => {
  const driver = await TestVenue.open(folder);
  await driver.index();
  const session = await driver.signIn(1);
  await driver.order(session, 1, "long", 640_000);
  await driver.venue.history.flush();
  const [row] = editStore(folder, (database) =>
    prepare(database, "SELECT account, symbol, side, price, status FROM orders").all(),
  );
  expect(row).toEqual([1, "BTCUSD", "long", 64_000, "resting"]);
  await driver.venue.close();
});
