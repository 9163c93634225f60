import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backUp } from "./backup.js";
import { newLogKey } from "./receipts/log-key.js";
import { dataFolder } from "./recovery/data-folder.js";
import { TestVenue } from "./testing/test-venue.js";
import { succeed } from "./tlog/successor-store.js";
import { verify } from "./verify/verify.js";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "perpgate-backup-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const segmentsIn = (folder: string): string[] =>
  readdirSync(join(folder, "journal"))
    .filter((name) => name.endsWith(".log"))
    .sort();

/** A venue with a log of many small segments and `keep` snapshots. */
async function liveVenue(folder: string, keep: number) {
  const driver = await TestVenue.open(folder, {
    checkpoints: { everyCommands: 100, everyMs: 3_600_000, keep },
    segmentBytes: 8_192,
  });
  await driver.index();
  const session = await driver.signIn(1);
  for (let nonce = 1; nonce <= 300; nonce++) await driver.order(session, nonce, "long", 640_000);
  await driver.venue.history.flush();
  await until(
    () =>
      readdirSync(join(folder, "journal")).filter((name) => name.endsWith(".snapshot")).length >=
      keep,
  );
  return { driver, session };
}

test("segments that the venue prunes during the copy: the copy has no gap, verifies and starts", async () => {
  const folder = join(root, "data");
  const copy = join(root, "copy");
  const { driver } = await liveVenue(folder, 2);
  const before = segmentsIn(folder);
  let pruned = 0;
  await backUp(folder, copy, {
    onCopied: (file) => {
      if (file.endsWith(".log") && pruned === 0) pruned = driver.venue.prune();
    },
  });
  expect(pruned).toBeGreaterThan(1);
  // The copy started over: it has the remaining segments, except those not yet written to.
  const left = segmentsIn(folder);
  expect(left.length).toBeLessThan(before.length);
  expect(left.slice(0, segmentsIn(copy).length)).toEqual(segmentsIn(copy));
  const report = await verify(copy);
  expect(report.fault).toBeNull();
  expect(report.from).toBeGreaterThan(0);
  await driver.venue.close();
  await (await TestVenue.open(copy)).venue.close();
});

test("a pruned log: the copy has the history, starts, and serves the same state", async () => {
  const folder = join(root, "data");
  const copy = join(root, "copy");
  const { driver } = await liveVenue(folder, 2);
  expect(driver.venue.prune()).toBeGreaterThan(1);
  await driver.venue.close();
  await backUp(folder, copy);
  expect(await verify(copy)).toMatchObject({ fault: null });
  const [original, restored] = [await TestVenue.open(folder), await TestVenue.open(copy)];
  expect(restored.venue.seq).toBe(original.venue.seq);
  expect(restored.venue.views.orders(1)).toEqual(original.venue.views.orders(1));
  expect(restored.venue.views.block(1)).toEqual(original.venue.views.block(1));
  await original.venue.close();
  await restored.venue.close();
});

test("a pruned log that keeps one snapshot, during traffic and prunes: each copy verifies and starts", async () => {
  const folder = join(root, "data");
  const { driver, session } = await liveVenue(folder, 1);
  expect(driver.venue.prune()).toBeGreaterThan(1);
  let nonce = 300;
  let isOn = true;
  const trading = (async () => {
    while (isOn) {
      await driver.order(session, ++nonce, "long", 640_000);
      if (nonce % 50 === 0) driver.venue.prune();
      // An inline commit never yields to the event loop.
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  for (let count = 1; count <= 5; count++) {
    const copy = join(root, `copy-${count}`);
    const { seq } = driver.venue;
    await backUp(folder, copy);
    expect(await verify(copy)).toMatchObject({ fault: null });
    const restored = await TestVenue.open(copy);
    expect(restored.venue.recovery.snapshotSeq).toBeGreaterThan(0);
    expect(restored.venue.seq).toBeGreaterThanOrEqual(seq);
    await restored.venue.close();
  }
  isOn = false;
  await trading;
  await driver.venue.close();
});

test("a pruned log without a usable history: refused, and no copy is left; verify names it", async () => {
  const folder = join(root, "data");
  const copy = join(root, "copy");
  const { driver } = await liveVenue(folder, 2);
  expect(driver.venue.prune()).toBeGreaterThan(1);
  await driver.venue.close();
  rmSync(join(folder, "history"), { recursive: true });
  await expect(backUp(folder, copy)).rejects.toThrow(
    /^the log begins at batch \d+, so a copy needs the history, but there is none; .*the whole folder$/,
  );
  expect(readdirSync(copy)).toEqual([]);
  expect((await verify(folder)).fault?.reason).toMatch(
    /^the log begins at batch \d+, so the history cannot be rebuilt, but there is none$/,
  );
});

test("a folder that is not empty, or no log: refused, nothing touched", async () => {
  const data = join(root, "data");
  const full = join(root, "full");
  mkdirSync(full);
  cpSync(new URL(import.meta.url), join(full, "precious"));
  await expect(backUp(data, full)).rejects.toThrow(/is not empty/);
  await expect(backUp(data, join(full, "new"))).rejects.toThrow(/there is no log in/);
  expect(readdirSync(full)).toEqual(["precious"]);
});

test("successors of the log key: copied, so that clients who pinned an earlier one follow", async () => {
  const folder = join(root, "data");
  const { venue } = await TestVenue.open(folder);
  await venue.close();
  const file = dataFolder(folder).logSuccessors;
  await succeed(file, newLogKey().key, newLogKey().key);
  await backUp(folder, join(root, "copy"));
  const copied = readFileSync(dataFolder(join(root, "copy")).logSuccessors, "utf8");
  expect(copied).toBe(readFileSync(file, "utf8"));
});

test("bad lines in checkpoints.jsonl: left out, the others are copied", async () => {
  const data = join(root, "data");
  const copy = join(root, "copy");
  const { venue } = await TestVenue.open(data);
  await venue.close();
  const hash = "00".repeat(32);
  const place = { position: 1, batch: 1, record: 1 };
  const good = JSON.stringify({ ...place, stateHash: hash, format: 1, block: 0, blockHash: "" });
  const text = `not JSON\n${good}\n{"position":1}\n\0\0\0\n${good}\n{"posi`;
  writeFileSync(join(data, "checkpoints.jsonl"), text);
  await backUp(data, copy);
  expect(readFileSync(join(copy, "checkpoints.jsonl"), "utf8")).toBe(`${good}\n${good}\n`);
});
