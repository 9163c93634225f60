/** The writing thread, with another writer at the store or with a store that it cannot write. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { removeFolder, temporaryFolder } from "../../testing/test-venue.js";
import { type HistoryStore, openHistoryStore } from "../history-store.js";
import { keyOf } from "../keys.js";
import { WriteQueue } from "../write-queue.js";

const LOG = new Uint8Array(16);
const ENTRIES_PER_SLICE = 2_048;
/** Longer than the interval between two transactions. */
const SLOW_MS = 600;
/** More than one slice, and few enough to be spread over time. */
const SPREAD_ENTRIES = 3_000;

let folder = "";
let store: HistoryStore;
let queue: WriteQueue;
/** The seqs that the disk reached, one per transaction. */
let reached: number[] = [];
let failures: string[] = [];
let position = 0;

beforeEach(async () => {
  folder = await temporaryFolder();
  ({ store } = await openHistoryStore(folder, LOG));
  reached = [];
  failures = [];
  position = 0;
});
afterEach(async () => {
  await queue.close();
  await store.environment.close();
  await removeFolder(folder);
});

function open(): void {
  queue = new WriteQueue(
    store,
    (held) => reached.push(held.position),
    (error) => failures.push(error.message),
  );
}

/** With a full disk, which shows when the transaction commits. */
function openWithoutRoom(): void {
  symlinkSync("/dev/full", join(folder, "probe"));
  open();
}

function command(entries: number): void {
  position++;
  for (let i = 0; i < entries; i++) queue.putWords(store.tables.fills, 1, position, i, [i]);
  queue.endCommand({ position, batch: position, record: position, needs: 0 });
}

/** Holds lmdb's write lock, which delays the thread's transaction. */
function whileNobodyCanWrite(work: () => void): void {
  store.environment.transactionSync(work);
}

function rest(forMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
}

function entriesOnDisk(): number {
  return store.tables.fills.ascending(keyOf(1), keyOf(2), 1_000_000).length;
}

describe("a slow disk", () => {
  test("slices that arrive during a transaction share the next one", async () => {
    open();
    command(1);
    await queue.flush();
    reached = [];
    whileNobodyCanWrite(() => {
      command(ENTRIES_PER_SLICE);
      // The thread is in its transaction now, and the next one is overdue when it ends.
      rest(SLOW_MS);
      for (let i = 0; i < 40; i++) command(ENTRIES_PER_SLICE);
    });
    while (queue.durable.position < position) await turn();
    // The open transaction, and one for all other slices.
    expect(reached.length).toBeLessThanOrEqual(2);
    expect(entriesOnDisk()).toBe(1 + 41 * ENTRIES_PER_SLICE);
  });

  test("half a million rows not on disk: isBehind until they are written", async () => {
    open();
    whileNobodyCanWrite(() => {
      for (let i = 0; i < 10; i++) command(50_000);
      expect(queue.isBehind).toBe(false);
      command(1);
      expect(queue.isBehind).toBe(true);
    });
    await queue.flush();
    expect(queue.isBehind).toBe(false);
  });
});

describe("memory of slices", () => {
  test("repeated bursts of forty: no more memory than the first", async () => {
    open();
    const seen = new Set<SharedArrayBuffer>();
    const burst = async (): Promise<void> => {
      whileNobodyCanWrite(() => {
        for (let i = 0; i < 40; i++) command(ENTRIES_PER_SLICE);
        for (const { shared } of store.recent) seen.add(shared);
      });
      await queue.flush();
    };
    await burst();
    const afterFirst = seen.size;
    expect(afterFirst).toBeGreaterThanOrEqual(40);
    for (let i = 0; i < 3; i++) await burst();
    expect(seen.size).toBe(afterFirst);
    expect(entriesOnDisk()).toBe(4 * 40 * ENTRIES_PER_SLICE);
  });
});

describe("flush", () => {
  test("many calls during a paced transaction: all resolve, without a slice for each", async () => {
    open();
    command(SPREAD_ENTRIES);
    const flushes = Array.from({ length: 500 }, () => queue.flush());
    expect(store.recent.length).toBeLessThan(5);
    await Promise.all(flushes);
    expect(queue.durable.position).toBe(1);
    expect(entriesOnDisk()).toBe(SPREAD_ENTRIES);
  });

  test("closed meanwhile, and the disk fails: rejects, and close still resolves", async () => {
    openWithoutRoom();
    command(SPREAD_ENTRIES);
    const flush = expect(queue.flush()).rejects.toThrow("the history is closed");
    await queue.close();
    await flush;
  });

  test("halted meanwhile, and the disk fails: rejects", async () => {
    openWithoutRoom();
    command(SPREAD_ENTRIES);
    const flush = expect(queue.flush()).rejects.toThrow(/closed|cannot be written/);
    queue.stop();
    await flush;
  });

  test("closed meanwhile: all earlier entries are on disk", async () => {
    open();
    command(SPREAD_ENTRIES);
    const flush = queue.flush();
    await queue.close();
    await flush;
    expect(queue.durable.position).toBe(1);
    expect(entriesOnDisk()).toBe(SPREAD_ENTRIES);
  });

  test("the disk fails during a paced transaction: reported once", async () => {
    openWithoutRoom();
    command(SPREAD_ENTRIES);
    command(SPREAD_ENTRIES);
    while (failures.length === 0) await turn();
    await expect(queue.flush()).rejects.toThrow(/ENOSPC/);
    expect(failures).toEqual([expect.stringMatching(/the history cannot be written: ENOSPC/)]);
    expect(reached).toEqual([]);
  });
});

describe("abandon", () => {
  test("during a transaction: rolled back, lmdb's lock released, no failure reported", async () => {
    open();
    command(1);
    await queue.flush();
    whileNobodyCanWrite(() => {
      command(SPREAD_ENTRIES);
      // The thread waits for the lock now, and has put none of its entries.
      rest(SLOW_MS);
    });
    await queue.abandon();
    whileNobodyCanWrite(() => undefined);
    expect(queue.durable.position).toBe(1);
    expect(reached).toEqual([1]);
    expect(failures).toEqual([]);
    await expect(queue.flush()).rejects.toThrow("the history is closed");
  });
});

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
