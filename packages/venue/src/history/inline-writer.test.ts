/** The history written in the caller's thread: what is on disk after a flush, a close, a failure. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder, temporaryFolder } from "../testing/test-venue.js";
import { type HistoryStore, openHistoryStore } from "./history-store.js";
import { keyOf } from "./keys.js";
import { WriteQueue } from "./write-queue.js";

/** More than one slice. */
const ENTRIES = 3_000;

let folder = "";
let store: HistoryStore;
let failures: string[] = [];
let position = 0;

beforeEach(async () => {
  folder = await temporaryFolder();
  ({ store } = await openHistoryStore(folder, new Uint8Array(16)));
  failures = [];
  position = 0;
});
afterEach(async () => {
  await store.environment.close();
  await removeFolder(folder);
});

function open(): WriteQueue {
  const fail = (error: Error) => failures.push(error.message);
  return new WriteQueue(store, () => undefined, fail, undefined, "inline");
}

function command(queue: WriteQueue): void {
  position++;
  for (let i = 0; i < ENTRIES; i++) queue.putWords(store.tables.fills, 1, position, i, [i]);
  queue.endCommand({ position, batch: position, record: position, needs: 0 });
}

/** Of the store alone, without what is in memory. */
async function onDisk(): Promise<number> {
  store.recent.length = 0;
  return store.tables.fills.ascending(keyOf(1), keyOf(2), 1_000_000).length;
}

test("a slice: on disk without a flush", async () => {
  const queue = open();
  command(queue);
  await until(() => queue.durable.position === 1);
  await queue.close();
  expect(await onDisk()).toBe(ENTRIES);
});

test("flush: all entries so far are on disk, once each", async () => {
  const queue = open();
  command(queue);
  await queue.flush();
  command(queue);
  await Promise.all([queue.flush(), queue.flush()]);
  expect([queue.durable.position, queue.backlog]).toEqual([2, 0]);
  await queue.close();
  expect(await onDisk()).toBe(2 * ENTRIES);
});

test("close: what was posted is on disk", async () => {
  const queue = open();
  command(queue);
  await queue.close();
  expect(await onDisk()).toBe(ENTRIES);
});

test("abandon: nothing is written, and no failure reported", async () => {
  const queue = open();
  command(queue);
  await queue.abandon();
  await expect(queue.flush()).rejects.toThrow("the history is closed");
  expect([await onDisk(), failures]).toEqual([0, []]);
});

test("the disk fails: reported once, nothing more is written", async () => {
  symlinkSync("/dev/full", join(folder, "probe"));
  const queue = open();
  command(queue);
  command(queue);
  await expect(queue.flush()).rejects.toThrow(/ENOSPC/);
  await expect(queue.flush()).rejects.toThrow(/ENOSPC/);
  expect(failures).toEqual([expect.stringMatching(/the history cannot be written: ENOSPC/)]);
  await queue.close();
  expect(await onDisk()).toBe(0);
});
