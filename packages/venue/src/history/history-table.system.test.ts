/** A table reads entries on disk, in closed slices and in the open slice alike. */
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { removeFolder, temporaryFolder } from "../testing/test-venue.js";
import { type HistoryStore, NOTHING_HELD, openHistoryStore } from "./history-store.js";
import { keyOf, ordinalOf, placeOf } from "./keys.js";
import { pagedTables } from "./paged-tables.js";
import { readPage } from "./row-pages.js";
import { noOffset, wordsOfBytes } from "./rows.js";
import { Slice } from "./slice.js";
import { WriteQueue } from "./write-queue.js";

const LOG = new Uint8Array(16);
let folder = "";
let store: HistoryStore;
let queue: WriteQueue;

async function open(): Promise<void> {
  ({ store } = openHistoryStore(folder, LOG));
  const events = { onDurable: () => undefined, onFailure: fail };
  queue = new WriteQueue(store.held, store.recent, store.writerData, events);
}

async function close(): Promise<void> {
  await queue.close();
  store.environment.close();
}

function fail(error: Error): void {
  throw error;
}

beforeEach(async () => {
  folder = await temporaryFolder();
  await open();
});
afterEach(async () => {
  await close();
  await removeFolder(folder);
});

/** Words of a whole row of fills, which are stored in columns. The market is that of its group, 1. */
const fillRow = (first: number, market = 1): number[] => [first, 0, market, ...Array(9).fill(0)];
const tradeRow = (first: number): number[] => [first, 0, 0, 0];

/** Places of one group's entries and their first words. */
function shown(direction: "ascending" | "descending", limit = 100): [number, number][] {
  return store.tables.fills[direction](keyOf(1), keyOf(2), limit).map(({ key, value }) => [
    placeOf(key),
    wordsOfBytes(value)[0]!,
  ]);
}

let position = 0;
const endCommand = (): void => {
  position++;
  queue.endCommand({ ...NOTHING_HELD, position, batch: position, record: position });
};

test("reads: disk, closed slices and the open slice are merged, and the newest value counts", async () => {
  const { fills } = store.tables;
  for (const place of [1, 3, 5, 7]) queue.putWords(fills, 1, place, 0, fillRow(place));
  queue.putWords(fills, 0, 4, 0, fillRow(-1, 0));
  queue.putWords(fills, 2, 0, 0, fillRow(-1, 2));
  endCommand();
  await queue.flush();
  expect(store.recent).toHaveLength(1);
  for (const place of [2, 3, 7]) queue.putWords(fills, 1, place, 0, fillRow(10 * place));
  endCommand();
  const flushed = queue.flush();
  // Not awaited: the writing thread has the second slice now.
  for (const place of [3, 6]) queue.putWords(fills, 1, place, 0, fillRow(100 * place));
  queue.putWords(fills, 1, 6, 0, fillRow(601));
  expect(store.recent).toHaveLength(2);
  const all: [number, number][] = [
    [1, 1],
    [2, 20],
    [3, 300],
    [5, 5],
    [6, 601],
    [7, 70],
  ];
  const check = (): void => {
    expect(shown("ascending")).toEqual(all);
    expect(shown("descending")).toEqual(all.toReversed());
    expect(shown("ascending", 4)).toEqual(all.slice(0, 4));
    expect(shown("descending", 2)).toEqual(all.toReversed().slice(0, 2));
    expect(wordsOfBytes(store.tables.fills.get(keyOf(1, 3))!)[0]).toBe(300);
    expect(store.tables.fills.get(keyOf(1, 4))).toBeUndefined();
  };
  check();
  endCommand();
  await flushed;
  check();
  await queue.flush();
  check();
  await close();
  await open();
  check();
});

test("overwrite: one entry per slice, and each slice keeps its own state", async () => {
  const offset = noOffset();
  const put = (value: number): void => {
    queue.overwrite(offset, store.tables.positions, 1, 1, [value, 0, 0, 0]);
  };
  const read = (): number => wordsOfBytes(store.tables.positions.get(keyOf(1, 1))!)[0]!;
  for (let value = 1; value <= 5; value++) put(value);
  endCommand();
  expect(queue.backlog).toBe(1);
  const first = queue.flush();
  // The command has not ended, so the slice is not closed yet.
  for (let value = 6; value <= 9; value++) put(value);
  expect(queue.backlog).toBe(2);
  expect(read()).toBe(9);
  await first;
  expect(read()).toBe(9);
  expect(queue.durable.position).toBe(position);
  // The first slice was written as it was when it was closed.
  await close();
  await open();
  expect(read()).toBe(5);
  expect(store.held.position).toBe(position);
});

test("room: undefined up to the limit of the backlog, above it once half of that is on disk", async () => {
  for (let place = 0; queue.backlog <= 500_000; place++) {
    expect(queue.room()).toBeUndefined();
    for (let i = 0; i < 1_000; i++) queue.putWords(store.tables.trades, place, i, i, tradeRow(i));
    endCommand();
  }
  const highest = queue.backlog;
  await queue.room();
  expect(queue.backlog).toBeLessThanOrEqual(highest / 2);
  expect(queue.room()).toBeUndefined();
}, 60_000);

test("hundreds of slices: memory is reused, and every entry is written", async () => {
  const { trades } = store.tables;
  for (let round = 0; round < 30; round++) {
    for (let i = 0; i < 200; i++) {
      queue.putWords(trades, round, i, i, tradeRow(round * 1_000 + i));
      if (i % 20 === 0) void queue.flush().catch(fail);
      endCommand();
    }
    await queue.flush();
  }
  expect(queue.backlog).toBe(0);
  for (let round = 0; round < 30; round++) {
    const rows = trades.ascending(keyOf(round), keyOf(round + 1), 1_000);
    expect(rows.map(({ key, value }) => [ordinalOf(key), wordsOfBytes(value)[0]])).toEqual(
      Array.from({ length: 200 }, (_, i) => [i, round * 1_000 + i]),
    );
  }
});

/** Counts the calls of a method of all slices until the test ends. */
function countCalls(method: "compareKey" | "value"): { readonly calls: number } {
  const spy = vi.spyOn(Slice.prototype, method);
  onTestFinished(() => spy.mockRestore());
  return {
    get calls() {
      return spy.mock.calls.length;
    },
  };
}

const ROWS = 1_500;

/** Rows in three slices that are not on disk, in no order of their keys. */
function putScattered(): void {
  const { fills } = store.tables;
  for (let i = 0; i < ROWS; i++) {
    queue.putWords(fills, 1 + (i % 2), ((i * 7_919) % ROWS) + 1, 0, fillRow(i, 1 + (i % 2)));
    if (i % 500 === 0) void queue.flush().catch(fail);
    endCommand();
  }
  expect(store.recent.length).toBeGreaterThan(2);
}

test("get: the number of rows that are not on disk does not multiply its work", () => {
  putScattered();
  const { fills } = store.tables;
  fills.get(keyOf(1, 1));
  const compared = countCalls("compareKey");
  const copied = countCalls("value");
  let found = 0;
  for (let place = 1; place <= ROWS; place++) {
    for (const group of [1, 2]) if (fills.get(keyOf(group, place)) !== undefined) found++;
  }
  expect(found).toBe(ROWS);
  expect(copied.calls).toBe(ROWS);
  // At most eleven comparisons per slice and group; a scan would make two million.
  expect(compared.calls).toBeLessThan(ROWS * 2 * 11 * store.recent.length);
});

test("a page: copies the rows that it returns, and not all that are not on disk", () => {
  putScattered();
  const { fills } = store.tables;
  const from = { seq: 0, ordinal: 0 };
  const to = { seq: Number.MAX_SAFE_INTEGER, ordinal: 0 };
  const limit = 10;
  const reads = [
    () => fills.ascending(keyOf(1), keyOf(2), limit),
    () => fills.descending(keyOf(1), keyOf(2), limit),
    () => fills.acrossGroups([1, 2], { from, to, limit, isAscending: true }),
    () => fills.acrossGroups([1, 2], { from, to, limit, isAscending: false }),
  ];
  const copied = countCalls("value");
  for (const read of reads) {
    const before = copied.calls;
    expect(read()).toHaveLength(limit);
    // One more per slice and group: the entries that come next.
    expect(copied.calls - before).toBeLessThanOrEqual(limit + 2 * store.recent.length);
  }
});

const hash = Buffer.alloc(32);

test("a span of time in a block of many rows: found in some steps, no row outside of it is listed", async () => {
  const { trades } = store.tables;
  const ROWS = 3_000;
  // Ten trades in each millisecond, all in one block.
  const timeOf = (seq: number): number => 1_000 + Math.floor(seq / 10);
  for (let seq = 1; seq <= ROWS; seq++) queue.putWords(trades, 0, seq, 0, [5, 1, 0, timeOf(seq)]);
  endCommand();
  await queue.flush();
  const block = { number: 1, firstPosition: 1, lastPosition: ROWS, timeMs: timeOf(ROWS), hash };
  const blocks = { block: () => undefined, newestBlock: () => block, seq: ROWS, historyBefore: 1 };
  const listed = vi.spyOn(trades, "acrossGroups");
  const paged = pagedTables(store.tables).trades;
  const at = (fromMs: number, limit = 100) =>
    readPage(paged, [0], { limit, fromMs, toMs: fromMs + 1 }, blocks).map(({ seq }) => seq);
  expect(at(1_150)).toEqual([1_509, 1_508, 1_507, 1_506, 1_505, 1_504, 1_503, 1_502, 1_501, 1_500]);
  expect(at(1_150, 2)).toEqual([1_509, 1_508]);
  expect([at(999), at(1_301)]).toEqual([[], []]);
  const rows = listed.mock.results.reduce((sum, { value }) => sum + value.length, 0);
  expect(rows).toBeLessThan(4 * 2 * Math.ceil(Math.log2(ROWS)) + 20);
});

test("a span of time after the last block: found in a few steps", async () => {
  const { trades } = store.tables;
  const SEALED = 100;
  const SEQ = 120;
  // One trade per command, also in the open block, whose last commands had none.
  for (let seq = 1; seq <= SEQ - 5; seq++)
    queue.putWords(trades, 0, seq, 0, [5, 1, 0, 1_000 + seq]);
  endCommand();
  await queue.flush();
  const block = { number: 1, firstPosition: 1, lastPosition: SEALED, timeMs: 1_000 + SEALED, hash };
  const blocks = { block: () => undefined, newestBlock: () => block, seq: SEQ, historyBefore: 1 };
  const listed = vi.spyOn(trades, "acrossGroups");
  const paged = pagedTables(store.tables).trades;
  const at = (fromMs: number, toMs: number) =>
    readPage(paged, [0], { limit: 100, fromMs, toMs }, blocks).map(({ seq }) => seq);
  expect(at(1_112, 9e15)).toEqual([115, 114, 113, 112]);
  expect(at(1_099, 1_103)).toEqual([102, 101, 100, 99]);
  listed.mockClear();
  expect(at(9e15, 9e15)).toEqual([]);
  expect(listed.mock.calls.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(SEQ - SEALED + 1)));
});
