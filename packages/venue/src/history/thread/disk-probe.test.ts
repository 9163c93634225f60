import { rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "../../testing/test-venue.js";
import { DiskProbe } from "./disk-probe.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

/** A closed venue whose disk, as the probe finds it, has no room from now on. */
async function filledUp(): Promise<string> {
  const driver = await TestVenue.open(folder);
  await driver.venue.close();
  const history = join(folder, "history");
  rmSync(join(history, "probe"));
  symlinkSync("/dev/full", join(history, "probe"));
  return history;
}

test("a disk that takes writes: nothing is thrown, and nothing stays of it", async () => {
  const driver = await TestVenue.open(folder);
  await driver.venue.close();
  const history = join(folder, "history");
  const probe = new DiskProbe(history);
  probe.check();
  probe.close();
  expect(statSync(join(history, "probe")).size).toBe(0);
});

test("a disk without room: the venue stops and says why, before lmdb writes anything", async () => {
  const history = await filledUp();
  const before = statSync(join(history, "data.mdb"), { bigint: true }).mtimeNs;
  const { venue } = await TestVenue.open(folder);
  expect((await venue.failed).message).toBe(
    "the history cannot be written: ENOSPC: no space left on device, write",
  );
  await venue.close();
  expect(statSync(join(history, "data.mdb"), { bigint: true }).mtimeNs).toBe(before);
});
