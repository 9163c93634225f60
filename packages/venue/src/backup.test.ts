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
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { backUp } from "./backup.js";
import { TestVenue } from "./testing/test-venue.js";
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

test("segments that the venue prunes during the copy: the copy has no gap, and verifies", async () => {
  const folder = join(root, "data");
  const copy = join(root, "copy");
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
  backUp(folder, copy, {
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
});

test("a folder that is not empty, or no log: refused, nothing touched", () => {
  const data = join(root, "data");
  const full = join(root, "full");
  mkdirSync(full);
  cpSync(new URL(import.meta.url), join(full, "precious"));
  expect(() => backUp(data, full)).toThrow(/is not empty/);
  expect(() => backUp(data, join(full, "new"))).toThrow(/there is no log in/);
  expect(readdirSync(full)).toEqual(["precious"]);
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
  backUp(data, copy);
  expect(readFileSync(join(copy, "checkpoints.jsonl"), "utf8")).toBe(`${good}\n${good}\n`);
});
