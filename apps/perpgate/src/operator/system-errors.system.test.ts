/** Errors of the system while an operator's command runs: one line, or one document with --json. */

import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { TestVenue } from "@perpgate/venue/testing";
import { afterAll, expect, test } from "vitest";
import { commandHere } from "../testing/command-here.js";
import { compileFaultLibrary, FaultControl } from "../testing/faulty-disk.js";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";

const library = compileFaultLibrary(afterAll);

test.each([
  ["verify", ["verify"]],
  ["backup", ["backup", "--to", "never-made"]],
  ["prune", ["prune"]],
])("%s of a folder that cannot be read: one line, code 1", async (_, words) => {
  const data = temporaryFolder();
  writeFileSync(join(data, "journal"), "");
  const args = [...words, "--data", data];
  const [text, json] = await Promise.all([commandHere(args), commandHere([...args, "--json"])]);
  expect(text).toMatchObject({ code: 1, stdout: "" });
  expect(text.stderr).toMatch(/^perpgate: ENOTDIR: .*\n$/);
  expect(json).toMatchObject({ code: 1, stdout: "" });
  expect(JSON.parse(json.stderr)).toMatchObject({
    error: { code: "failed", message: expect.stringContaining("ENOTDIR") },
  });
});

/** The folder of a venue that has written checkpoints. */
async function folderWithCheckpoints(): Promise<string> {
  const folder = join(temporaryFolder(), "data");
  const checkpoints = { everyCommands: 100, everyMs: 3_600_000, keep: 2 };
  const driver = await TestVenue.open(folder, { checkpoints, segmentBytes: 1 << 20 });
  await driver.index();
  const session = await driver.signIn(1);
  for (let nonce = 1; nonce <= 150; nonce++) await driver.order(session, nonce, "long", 640_000);
  const written = () => statSync(join(folder, "checkpoints.jsonl"), { throwIfNoEntry: false });
  await until(() => (written()?.size ?? 0) > 0);
  await driver.venue.close();
  return folder;
}

test.skipIf("missing" in library)(
  "backup to a disk without room: one line, and the same call succeeds once there is room",
  async () => {
    const data = await folderWithCheckpoints();
    const copy = join(temporaryFolder(), "copy");
    const disk = new FaultControl("path" in library ? library.path : "", temporaryFolder());
    const backup = () =>
      new PerpgateProcess(["backup", "--data", data, "--to", copy], disk.environment).ended;
    for (const path of ["copy/journal/", "copy/checkpoints.jsonl"]) {
      disk.trigger({ call: "write", error: "ENOSPC", path });
      const failed = await backup();
      expect(failed).toMatchObject({ code: 1, stdout: "" });
      // After progress, which a slow machine gets to see.
      expect(failed.stderr).toMatch(
        /^(?:copied \d+ bytes\n)*perpgate: ENOSPC: no space left on device, .*\n$/,
      );
      disk.clear();
    }
    const done = await backup();
    expect([done.code, done.stderr.match(/perpgate:.*/)]).toEqual([0, null]);
  },
);

test.skipIf(process.platform !== "linux")(
  "backup to a place where no folder can be made: one line",
  async () => {
    const data = await folderWithCheckpoints();
    const words = ["backup", "--data", data, "--to", "/proc/nowhere/copy"];
    const { code, stderr } = await commandHere(words);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^perpgate: ENOENT: .* mkdir .*\n$/)]);
  },
);
