import { execFile } from "node:child_process";
import { rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "../../testing/test-venue.js";
import { DiskProbe } from "./disk-probe.js";

const BUILT = fileURLToPath(new URL("../../../dist/history/thread/disk-probe.js", import.meta.url));

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

/** A closed venue whose disk reports no free space from now on. */
async function filledUp(): Promise<string> {
  const driver = await TestVenue.open(folder);
  await driver.venue.close();
  const history = join(folder, "history");
  rmSync(join(history, "probe"));
  symlinkSync("/dev/full", join(history, "probe"));
  return history;
}

test("a working disk: does not throw, and leaves nothing behind", async () => {
  const driver = await TestVenue.open(folder);
  await driver.venue.close();
  const history = join(folder, "history");
  const probe = new DiskProbe(history);
  probe.check(0);
  probe.check(10_000_000);
  probe.close();
  expect(statSync(join(history, "probe")).size).toBe(0);
});

test("a transaction larger than the free space: refused", async () => {
  const driver = await TestVenue.open(folder);
  await driver.venue.close();
  const probe = new DiskProbe(join(folder, "history"));
  expect(() => probe.check(2 ** 50)).toThrow(/^no room for \d+ bytes past the first \d+$/);
  probe.check(0);
  probe.close();
});

test("a transaction past the file size limit: refused", async () => {
  const driver = await TestVenue.open(folder);
  await driver.venue.close();
  const history = join(folder, "history");
  const script = `
    import { DiskProbe } from ${JSON.stringify(BUILT)};
    const probe = new DiskProbe(${JSON.stringify(history)});
    probe.check(0);
    try { probe.check(1_000_000); } catch (error) { console.log(error.code ?? error.message); }
  `;
  const limit = statSync(join(history, "data.mdb")).size + 1_000_000;
  const node = [process.execPath, "--input-type=module", "-e", script];
  const { stdout } = await promisify(execFile)("prlimit", [`--fsize=${limit}`, ...node]);
  expect(stdout.trim()).toBe("EFBIG");
});

test("a full disk: the start is refused with the reason, before lmdb writes", async () => {
  const history = await filledUp();
  const before = statSync(join(history, "data.mdb"), { bigint: true }).mtimeNs;
  await expect(TestVenue.open(folder)).rejects.toThrow("ENOSPC: no space left on device, write");
  expect(statSync(join(history, "data.mdb"), { bigint: true }).mtimeNs).toBe(before);
});
