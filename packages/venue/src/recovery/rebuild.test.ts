/** A store that is rebuilt while the venue runs; with threads and locks: rebuild.system.test.ts. */
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { pastOf, presentOf, rebuilt, trade, traded } from "../testing/traded-venue.js";
import { verify } from "../verify/verify.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

/** No history is waited for. */
const NOTHING_WAITED = { waitedRecords: 0 };

test("closed in the middle of a rebuild, and opened again: goes on, and ends with all rows once", async () => {
  const first = await TestVenue.open(folder);
  const { sessions } = await traded(first);
  await first.venue.close();
  rmSync(join(folder, "history"), { recursive: true });
  for (let start = 0; start < 4; start++) {
    const driver = await TestVenue.open(folder, NOTHING_WAITED);
    await trade(driver, sessions, 200 + 50 * start);
    await driver.venue.close();
  }
  const driver = await TestVenue.open(folder, NOTHING_WAITED);
  await rebuilt(driver);
  await driver.venue.close();
  expect((await verify(folder)).fault).toBeNull();
});

test("rebuilt with snapshots: the venue begins with the newest, the store with the log", async () => {
  const checkpoints = { everyCommands: 20, everyMs: 3_600_000, keep: 2 };
  const first = await TestVenue.open(folder, { checkpoints });
  await traded(first);
  await until(() =>
    readdirSync(join(folder, "journal")).some((name) => name.endsWith(".snapshot")),
  );
  const present = presentOf(first);
  await first.venue.close();
  rmSync(join(folder, "history"), { recursive: true });
  const driver = await TestVenue.open(folder, NOTHING_WAITED);
  expect(driver.venue.recovery.snapshotSeq).toBeGreaterThan(0);
  expect(presentOf(driver)).toEqual(present);
  await rebuilt(driver);
  await driver.venue.close();
  expect((await verify(folder)).fault).toBeNull();
});

test("a history that another log has: set aside, and rebuilt while the venue runs", async () => {
  const other = await temporaryFolder();
  const stranger = await TestVenue.open(other);
  await stranger.tick();
  await stranger.venue.close();
  const first = await TestVenue.open(folder);
  await traded(first);
  const past = await pastOf(first);
  await first.venue.close();
  rmSync(join(folder, "history"), { recursive: true });
  cpSync(join(other, "history"), join(folder, "history"), { recursive: true });
  await removeFolder(other);
  const driver = await TestVenue.open(folder, NOTHING_WAITED);
  await rebuilt(driver);
  expect(await pastOf(driver)).toEqual(past);
  await driver.venue.close();
});
