/** A backup of a log that its venue gives up from the beginning, between two files of the copy. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { verify } from "@perpgate/venue";
import { TestVenue } from "@perpgate/venue/testing";
import { expect, test, vi } from "vitest";
import { backUp } from "./backup.js";
import { temporaryFolder } from "./testing/perpgate-process.js";

const segmentsIn = (folder: string): string[] =>
  readdirSync(join(folder, "journal"))
    .filter((name) => name.endsWith(".log"))
    .sort();

test("segments that go while others are copied: the copy has no gap, and verifies", async () => {
  const folder = join(temporaryFolder(), "data");
  const copy = join(temporaryFolder(), "copy");
  const driver = await TestVenue.open(folder, {
    checkpoints: { everyCommands: 100, everyMs: 3_600_000, keep: 2 },
    segmentBytes: 8_192,
  });
  await driver.index();
  const session = await driver.signIn(1);
  for (let nonce = 1; nonce <= 300; nonce++) await driver.order(session, nonce, "long", 640_000);
  await driver.venue.history.flush();
  await vi.waitUntil(
    () =>
      readdirSync(join(folder, "journal")).filter((name) => name.endsWith(".snapshot")).length > 1,
    { timeout: 50_000 },
  );
  const before = segmentsIn(folder);
  let pruned = 0;
  backUp(folder, copy, (file) => {
    if (file.endsWith(".log") && pruned === 0) pruned = driver.venue.prune();
  });
  expect(pruned).toBeGreaterThan(1);
  // Begun again: the segments that are left, those that are not begun excepted.
  const left = segmentsIn(folder);
  expect(left.length).toBeLessThan(before.length);
  expect(left.slice(0, segmentsIn(copy).length)).toEqual(segmentsIn(copy));
  const report = await verify(copy);
  expect(report.fault).toBeNull();
  expect(report.from).toBeGreaterThan(0);
  await driver.venue.close();
});
