/** The writing thread, with another tool at the store or with a store that it cannot write. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { removeFolder, temporaryFolder } from "../../testing/test-venue.js";
import { openEnvironment } from "../history-environment.js";
import { type HistoryStore, NOTHING_HELD, openHistoryStore } from "../history-store.js";
import { keyOf } from "../keys.js";
import { type Database, prepare } from "../sqlite.js";
import { MAX_TAIL_BYTES, WriteQueue } from "../write-queue.js";

const LOG = new Uint8Array(16);
const ENTRIES_PER_SLICE = 2_048;
/** More than one slice. */
const MANY_ENTRIES = 3_000;
/** Longer than the thread waits for a lock, and than the interval between two transactions. */
const SLOW_MS = 600;

let folder = "";
let store: HistoryStore;
let queue: WriteQueue;
/** The seqs that the disk reached, one per transaction. */
let reached: number[] = [];
let failures: string[] = [];
let position = 0;

beforeEach(async () => {
  folder = await temporaryFolder();
  ({ store } = openHistoryStore(folder, LOG));
  reached = [];
  failures = [];
  position = 0;
});
afterEach(async () => {
  await queue.close();
  store.environment.close();
  await removeFolder(folder);
});

function open(): void {
  queue = new WriteQueue(store.held, store.recent, store.writerData, {
    onDurable: (held) => reached.push(held.position),
    onFailure: (error) => failures.push(error.message),
  });
}

/** Every write fails when its transaction commits, as on a full disk. */
function openWithoutRoom(): void {
  const sql =
    "CREATE TRIGGER full AFTER INSERT ON store BEGIN SELECT raise(ABORT, 'disk is full'); END";
  other((database) => database.exec(sql));
  open();
}

function command(entries: number): void {
  position++;
  const { trades } = store.tables;
  for (let i = 0; i < entries; i++) queue.putWords(trades, 1, position, i, [i, 1, 1, 1]);
  queue.endCommand({ ...NOTHING_HELD, position, batch: position, record: position });
}

/** Another tool at the same file. */
function other<T>(work: (database: Database) => T): T {
  const database = openEnvironment(folder, false);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Another tool in a transaction of that kind; returns what ends it. */
function inOtherTool(begin: string): () => void {
  const database = openEnvironment(folder, false);
  onTestFinished(() => {
    if (database.isOpen) database.close();
  });
  database.exec(begin);
  return () => database.close();
}

const LOCK = "BEGIN EXCLUSIVE";
const READ = "BEGIN; SELECT count(*) FROM trade_rows";

function entriesOnDisk(): number {
  const [count] = other((database) =>
    prepare(database, "SELECT count(*) FROM trade_rows").all(),
  )[0] ?? [0];
  return Number(count);
}

describe("another tool", () => {
  test("locks the store: rows are readable, and written once it is gone, in few transactions", async () => {
    open();
    command(1);
    await queue.flush();
    reached = [];
    const end = inOtherTool(LOCK);
    for (let i = 0; i < 40; i++) command(ENTRIES_PER_SLICE);
    await pause(SLOW_MS);
    expect(store.tables.trades.ascending(keyOf(1, 40), keyOf(1, 42), 9_999)).toHaveLength(
      2 * ENTRIES_PER_SLICE,
    );
    expect([reached, failures]).toEqual([[], []]);
    end();
    while (queue.durable.position < position) await pause(5);
    expect(reached.length).toBeLessThanOrEqual(3);
    expect(entriesOnDisk()).toBe(1 + 40 * ENTRIES_PER_SLICE);
  });

  test("locks the store for ever: fails at 256 MiB", async () => {
    open();
    inOtherTool(LOCK);
    let highest = 0;
    while (failures.length === 0) {
      command(50_000);
      highest = Math.max(highest, queue.tailBytes);
    }
    expect(failures).toEqual([expect.stringMatching(/the history is 256 MiB behind/)]);
    expect(highest).toBeLessThan(1.1 * MAX_TAIL_BYTES);
    await expect(queue.flush()).rejects.toThrow("256 MiB behind");
    await queue.abandon();
  });

  test("reads for long: writes go on, the write-ahead file grows, and no more after it", async () => {
    open();
    command(1);
    await queue.flush();
    const end = inOtherTool(READ);
    while (queue.walBytes <= 20 * 2 ** 20) {
      command(50_000);
      await queue.flush();
    }
    end();
    command(1);
    await queue.flush();
    const grown = queue.walBytes;
    // The next transactions overwrite it from its start.
    for (let i = 0; i < 3; i++) {
      command(1);
      await queue.flush();
    }
    expect(queue.walBytes).toBe(grown);
    expect(entriesOnDisk()).toBe(1 + (position - 5) * 50_000 + 4);
  });
});

describe("flush", () => {
  test("many calls: all resolve, without a slice for each", async () => {
    open();
    command(MANY_ENTRIES);
    const flushes = Array.from({ length: 500 }, () => queue.flush());
    expect(store.recent.length).toBeLessThan(5);
    await Promise.all(flushes);
    expect(queue.durable.position).toBe(1);
    expect(entriesOnDisk()).toBe(MANY_ENTRIES);
  });

  test("closed meanwhile, and the disk fails: rejects, and close still resolves", async () => {
    openWithoutRoom();
    command(MANY_ENTRIES);
    const flush = expect(queue.flush()).rejects.toThrow(/closed|cannot be written/);
    await queue.close();
    await flush;
  });

  test("halted meanwhile, and the disk fails: rejects", async () => {
    openWithoutRoom();
    command(MANY_ENTRIES);
    const flush = expect(queue.flush()).rejects.toThrow(/closed|cannot be written/);
    queue.stop();
    await flush;
  });

  test("closed meanwhile: all earlier entries are on disk", async () => {
    open();
    command(MANY_ENTRIES);
    const flush = queue.flush();
    await queue.close();
    await flush;
    expect(queue.durable.position).toBe(1);
    expect(entriesOnDisk()).toBe(MANY_ENTRIES);
  });

  test("the disk fails: reported once, and nothing of the transaction is there", async () => {
    openWithoutRoom();
    command(MANY_ENTRIES);
    command(MANY_ENTRIES);
    while (failures.length === 0) await pause(5);
    await expect(queue.flush()).rejects.toThrow(/disk is full/);
    expect(failures).toEqual([
      expect.stringMatching(/the history cannot be written: disk is full/),
    ]);
    expect(reached).toEqual([]);
    expect(entriesOnDisk()).toBe(0);
  });
});

test("abandon while another tool locks the store: ends, nothing written, no failure reported", async () => {
  open();
  command(1);
  await queue.flush();
  const end = inOtherTool(LOCK);
  command(MANY_ENTRIES);
  await pause(SLOW_MS);
  await queue.abandon();
  end();
  expect(entriesOnDisk()).toBe(1);
  expect(reached).toEqual([1]);
  expect(failures).toEqual([]);
  await expect(queue.flush()).rejects.toThrow("the history is closed");
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
