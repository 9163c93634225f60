/** A followed copy of a log, and folders restored from it up to any position. */
import { closeSync, cpSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backUp, inspect } from "./backup.js";
import { LogFollower } from "./follow.js";
import { restore } from "./restore.js";
import { START_MS, TestVenue } from "./testing/test-venue.js";
import { verify } from "./verify/verify.js";

let root = "";
let [data, copy] = ["", ""];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "perpgate-restore-"));
  [data, copy] = [join(root, "data"), join(root, "copy")];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function segmentPath(journal: string, segment: number): string {
  const name = readdirSync(journal).find((each) => Number.parseInt(each, 10) === segment);
  return join(journal, name ?? "");
}

/** Many small segments, so that a copy follows over their ends. */
const openVenue = () => TestVenue.open(data, { segmentBytes: 8_192 });

async function trade(driver: TestVenue, session: number, from: number, to: number): Promise<void> {
  for (let nonce = from; nonce <= to; nonce++) await driver.order(session, nonce, "long", 640_000);
}

async function verified(folder: string): Promise<number> {
  const { fault, commands } = await verify(folder);
  expect(fault).toBeNull();
  return commands;
}

test("follow: after each update the copy verifies and has everything, over ends of segments", async () => {
  const driver = await openVenue();
  const session = await driver.signIn(1);
  await backUp(data, copy);
  const follower = new LogFollower(data, copy);
  for (let round = 0; round < 5; round++) {
    await trade(driver, session, 30 * round + 1, 30 * round + 30);
    expect(follower.update().bytes).toBeGreaterThan(0);
    expect(await verified(copy)).toBe(driver.venue.seq);
    expect(follower.update().bytes).toBe(0);
  }
  // Another process goes on with the copy, of which a kill left a part of the last addition.
  await trade(driver, session, 151, 200);
  follower.update();
  const { segment, offset } = inspect(join(copy, "journal"));
  const open = openSync(segmentPath(join(copy, "journal"), segment), "r+");
  writeSync(open, Buffer.alloc(10), 0, 10, offset - 10);
  closeSync(open);
  expect((await verify(copy)).commands).toBeLessThan(driver.venue.seq);
  await trade(driver, session, 201, 203);
  const again = new LogFollower(data, copy);
  again.update();
  expect(await verified(copy)).toBe(driver.venue.seq);
  await driver.venue.close();
  expect(readdirSync(join(copy, "journal")).filter((name) => name.endsWith(".part"))).toEqual([]);
  const restored = await TestVenue.open(copy);
  expect(restored.venue.seq).toBeGreaterThanOrEqual(202);
  await restored.venue.close();
});

test("follow: a log that lost its end, and another log, are refused, and the copy stays", async () => {
  const driver = await openVenue();
  const session = await driver.signIn(1);
  await trade(driver, session, 1, 5);
  await driver.venue.close();
  const before = join(root, "before");
  cpSync(data, before, { recursive: true });
  const again = await openVenue();
  await trade(again, session, 6, 12);
  await again.venue.close();
  await backUp(data, copy);
  const commands = await verified(copy);
  expect(() => new LogFollower(before, copy).update()).toThrow(/does not continue the copy/);
  const other = await TestVenue.open(join(root, "other"));
  await other.venue.close();
  expect(() => new LogFollower(join(root, "other"), copy)).toThrow(/of another log/);
  expect(await verified(copy)).toBe(commands);
});

test("restore: every position, and a time: that log and no more, which a venue continues", async () => {
  const driver = await openVenue();
  await driver.index();
  const session = await driver.signIn(1);
  const last = driver.venue.seq;
  await trade(driver, session, 1, 40);
  await driver.tick();
  const tickedAt = driver.venue.seq;
  await trade(driver, session, 41, 44);
  const end = driver.venue.seq;
  await driver.venue.close();
  for (const position of [last, last + 1, last + 17, end]) {
    const to = join(root, `at-${position}`);
    expect(await restore(data, to, { position })).toMatchObject({ position });
    expect(await verified(to)).toBe(position);
  }
  const all = await restore(data, join(root, "all"), {});
  expect(await verified(join(root, "all"))).toBe(all.position);
  expect(all.position).toBeGreaterThanOrEqual(end);
  const then = join(root, "then");
  const { position, timeMs } = await restore(data, then, { timeMs: START_MS });
  expect(position).toBeLessThan(tickedAt);
  expect(timeMs).toBeLessThanOrEqual(START_MS);
  const restored = await TestVenue.open(join(root, `at-${last + 17}`));
  await trade(restored, session, 100, 101);
  expect(restored.venue.seq).toBeGreaterThan(last + 18);
  await restored.venue.close();
  expect((await verify(join(root, `at-${last + 17}`))).fault).toBeNull();
});

test("restore: past the end, before the beginning, onto something: refused, nothing is made", async () => {
  const driver = await openVenue();
  const session = await driver.signIn(1);
  await trade(driver, session, 1, 3);
  await driver.venue.close();
  const end = await verified(data);
  await expect(restore(data, copy, { position: end + 1 })).rejects.toThrow(
    `ends at position ${end}`,
  );
  await expect(restore(data, copy, { timeMs: 1 })).rejects.toThrow("the log begins after that");
  await restore(data, copy, { position: end });
  await expect(restore(data, copy, { position: end })).rejects.toThrow("is not empty");
});
