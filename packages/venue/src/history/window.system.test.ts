/**
 * A store that drops old rows against one that keeps all, over seeded flows: every list, page by page in both
 * directions, is that of the whole store from the window's beginning on.
 */
import { isDeepStrictEqual } from "node:util";
import {
  applyBatch,
  batches,
  type LogBatch,
  type ProfileName,
  ReferenceVenue,
} from "@perpgate/engine/testing";
import { until } from "@perpgate/journal/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ArchiveHeld, NOTHING_ARCHIVED } from "../archive/archive-note.js";
import { NO_EVIDENCE } from "../record/record.js";
import { newReplicaState, observe } from "../recovery/replica-state.js";
import { removeFolder, temporaryFolder } from "../testing/test-venue.js";
import { openEnvironment } from "./history-environment.js";
import { openHistoryStore } from "./history-store.js";
import type { Place } from "./history-table.js";
import { NO_MARKET } from "./keys.js";
import { ORDER_ROW } from "./order-row.js";
import { outlivesEdge, type RetentionOptions } from "./retention.js";
import type { RowPageQuery } from "./row-pages.js";
import { prepare } from "./sqlite.js";
import { WrittenHistory } from "./written-history.js";

const LOG_ID = new Uint8Array(16);
const COMMANDS = 1_200;
const ALL = 1_000_000;
/** Small: no window begins before the outbox does. */
const OUTBOX_COMMANDS = 16;

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

function flowOf(name: ProfileName, seed: number): LogBatch[] {
  const reference = new ReferenceVenue(1_000);
  const flow: LogBatch[] = [];
  for (const batch of batches(name, seed, COMMANDS, reference)) {
    applyBatch(reference, batch);
    flow.push(batch);
  }
  return flow;
}

/** A history of its own replica, in the folder `name`. */
function openHistory(name: string, retention?: RetentionOptions, archived?: () => ArchiveHeld) {
  const state = newReplicaState();
  const { store } = openHistoryStore(`${folder}/${name}`, LOG_ID);
  const history = WrittenHistory.open(store, state.rows, {
    onDurable: () => undefined,
    onFailure: (error) => {
      throw error;
    },
    commit: "inline",
    outboxCommands: OUTBOX_COMMANDS,
    retention,
    archived,
  });
  const apply = (batch: LogBatch) =>
    applyBatch(state.engine, batch, (command, events) => {
      const { seq } = state.engine;
      const { timeMs } = state.engine.state;
      const applied = { seq, timeMs, command, evidence: NO_EVIDENCE, events };
      history.onCommand(applied, state.blocks.currentNumber, observe(state, applied));
    });
  return { history, state, apply };
}

type Read = (query: RowPageQuery) => readonly (Place & object)[];

/** The lists of a history by name; those of the past of the account's orders apart. */
function listsOf(history: WrittenHistory, accounts: number, markets: number): [string, Read][] {
  const all = Array.from({ length: markets }, (_, market) => market);
  const lists: [string, Read][] = all.map((market) => [
    `trades ${market}`,
    (query) => history.trades(market, query),
  ]);
  for (let account = 1; account <= accounts; account++) {
    lists.push(
      [`fills ${account}`, (query) => history.fills(account, all, query)],
      [`payments ${account}`, (query) => history.fundingPayments(account, all, query)],
      [`ledger ${account}`, (query) => history.ledger(account, [...all, NO_MARKET], query)],
    );
  }
  return lists;
}

/** All rows, in pages of changing lengths. */
function paged<T extends Place>(read: (limit: number, last?: Place) => readonly T[]): T[] {
  const rows: T[] = [];
  let limit = 1;
  for (let page = read(limit); page.length > 0; page = read(limit, rows.at(-1))) {
    rows.push(...page);
    limit = 1 + ((limit * 5) % 13);
  }
  return rows;
}

function expectSame(found: readonly unknown[], expected: readonly unknown[], what: string): void {
  if (!isDeepStrictEqual(found, expected)) expect(found, what).toEqual(expected);
}

/** Compares the lists of a history with those of one that has all rows. */
function compare(whole: ReturnType<typeof openHistory>, window: WrittenHistory): void {
  const accounts = Math.min(8, whole.state.engine.state.addresses.length - 1);
  const markets = whole.state.engine.state.markets.length;
  const { keptFrom } = window.edge;
  const own = listsOf(window, accounts, markets);
  for (const [i, [name, read]] of listsOf(whole.history, accounts, markets).entries()) {
    const kept = read({ limit: ALL }).filter(({ seq }) => seq >= keptFrom);
    const [, ownRead] = own[i]!;
    const back = paged((limit, before) => ownRead({ limit, before }));
    expectSame(back, kept, `${name}, newest first`);
    const start = { seq: 0, ordinal: 0 };
    const forth = paged((limit, after = start) => ownRead({ limit, after }));
    expectSame(forth, [...kept].reverse(), `${name}, oldest first`);
  }
}

/** Orders of the window, and those that were open in it. */
function compareOrders(whole: ReturnType<typeof openHistory>, window: WrittenHistory): void {
  const accounts = Math.min(8, whole.state.engine.state.addresses.length - 1);
  const all = whole.state.engine.state.markets.map(({ number }) => number);
  const { edge } = window;
  for (let account = 1; account <= accounts; account++) {
    const rows = whole.history.orders(account, all, { limit: ALL });
    const kept = rows.filter(
      (row) => row[ORDER_ROW.ID]! >= edge.keptFrom || outlivesEdge(row, edge),
    );
    expectSame(window.orders(account, all, { limit: ALL }), kept, `orders ${account}`);
    for (const row of kept) expect(window.order(account, all, row[ORDER_ROW.ID]!)).toEqual(row);
    const [gone] = rows.filter((row) => !kept.includes(row));
    if (gone === undefined) continue;
    expect(() => window.order(account, all, gone[ORDER_ROW.ID]!)).toThrow(
      expect.objectContaining({ code: "history_not_kept", status: 410 }),
    );
  }
}

/** Rows that a store has before its window. */
function rowsBefore(name: string, { keptFrom, keptFromMs }: WrittenHistory["edge"]): number {
  const database = openEnvironment(`${folder}/${name}`, true);
  const counts = ["fill", "trade", "payment", "ledger", "ack", "result"].map(
    (table) => `(SELECT count(*) FROM ${table}_rows WHERE seq < ${keptFrom})`,
  );
  counts.push(
    `(SELECT count(*) FROM order_rows WHERE id < ${keptFrom} AND status IN (0, 3)
      AND created + updated_after < ${keptFromMs})`,
  );
  const [count] = prepare(database, `SELECT ${counts.join(" + ")}`).get() ?? [];
  database.close();
  return Number(count);
}

const FLOWS: readonly [ProfileName, number][] = [
  ["cascade", 21],
  ["stops", 22],
  ["gate", 23],
];

describe("a store with a window of a third of the time", () => {
  test.each(FLOWS)("flow %s, seed %i: its lists are those of the window", async (name, seed) => {
    const flow = flowOf(name, seed);
    const whole = openHistory("whole");
    for (const batch of flow) whole.apply(batch);
    const { timeMs } = whole.state.engine.state;
    const startMs = whole.history.block(1)?.timeMs ?? timeMs;
    const hotMs = Math.ceil((timeMs - startMs) / 3);

    const window = openHistory("window", { hotMs });
    for (const [i, batch] of flow.entries()) {
      window.apply(batch);
      if (i % 64 === 0) await window.history.flush();
    }
    const { edge } = window.history;
    expect(edge.keptFrom).toBeGreaterThan(COMMANDS / 10);
    expect(edge.keptFromMs).toBeLessThanOrEqual(timeMs - hotMs);
    // Before all old rows are dropped, and after that.
    compare(whole, window.history);
    await window.history.flush();
    await until(() => rowsBefore("window", edge) === 0);
    compare(whole, window.history);
    compareOrders(whole, window.history);
    await window.history.close();

    // One that is rebuilt does not write what would be dropped.
    const rebuilt = openHistory("rebuilt", { hotMs });
    rebuilt.history.beginReplay(0, timeMs - hotMs);
    for (const batch of flow) rebuilt.apply(batch);
    rebuilt.history.endReplay();
    await rebuilt.history.flush();
    expect(rowsBefore("rebuilt", rebuilt.history.edge)).toBe(0);
    compare(whole, rebuilt.history);
    compareOrders(whole, rebuilt.history);
    await rebuilt.history.close();
    await whole.history.close();
  });

  test("a rebuild that is ended before its window goes on as if it had not been", async () => {
    const flow = flowOf("stops", 24);
    const whole = openHistory("whole");
    for (const batch of flow) whole.apply(batch);
    const { timeMs } = whole.state.engine.state;
    const startMs = whole.history.block(1)?.timeMs ?? timeMs;
    const hotMs = Math.ceil((timeMs - startMs) / 3);
    const windowFromMs = timeMs - hotMs;
    // Ended with the last command before the window, where no later one is out of it.
    const first = openHistory("window", { hotMs });
    first.history.beginReplay(0, windowFromMs);
    let at = 0;
    for (; at < flow.length; at++) {
      first.apply(flow[at]!);
      if (first.state.engine.state.timeMs >= windowFromMs) break;
      await first.history.flush();
    }
    await first.history.abandon();

    const again = openHistory("window", { hotMs });
    again.history.beginReplay(0, windowFromMs);
    for (const batch of flow) again.apply(batch);
    again.history.endReplay();
    await again.history.flush();
    compare(whole, again.history);
    compareOrders(whole, again.history);
    await again.history.close();
    await whole.history.close();
  });
});

/** Bytes of a store without its free pages. */
function sizeOf(name: string): number {
  const database = openEnvironment(`${folder}/${name}`, true);
  const sql = `SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`;
  const [bytes] = prepare(database, sql).get() ?? [];
  database.close();
  return Number(bytes);
}

test("a limit of bytes: the window gets shorter until the store fits, and its lists are whole", async () => {
  const flow = flowOf("cascade", 25);
  const whole = openHistory("whole");
  const empty = sizeOf("whole");
  for (const [i, batch] of flow.entries()) {
    whole.apply(batch);
    if (i % 8 === 0) await whole.history.flush();
  }
  await whole.history.flush();
  const size = sizeOf("whole");
  const maxBytes = empty + Math.floor(0.6 * (size - empty));
  const window = openHistory("window", { hotMs: 1e12, maxBytes });
  for (const [i, batch] of flow.entries()) {
    window.apply(batch);
    if (i % 8 === 0) await window.history.flush();
  }
  await window.history.flush();
  expect(window.history.edge.keptFrom).toBeGreaterThan(1);
  await until(() => rowsBefore("window", window.history.edge) === 0);
  expect(sizeOf("window")).toBeLessThan((size + maxBytes) / 2);
  compare(whole, window.history);
  compareOrders(whole, window.history);
  await window.history.close();
  await whole.history.close();
});

const WAITING = { hotMs: 720, waitsForArchive: true };

test("rows that an archive does not have yet: they stay, however old", async () => {
  const flow = flowOf("gate", 26);
  let archived = NOTHING_ARCHIVED;
  const window = openHistory("window", WAITING, () => archived);
  for (const batch of flow) window.apply(batch);
  expect(window.history.edge.keptFrom).toBe(1);
  const newest = window.history.newestBlock()?.number ?? 0;
  const block = window.history.block(Math.floor(newest / 2))!;
  const { number, hash, lastPosition: position } = block;
  await window.history.close();
  archived = { ...archived, position, block: number, blockHash: hash.toString("hex") };
  const again = openHistory("again", WAITING, () => archived);
  for (const batch of flow) again.apply(batch);
  const { keptFrom } = again.history.edge;
  expect(keptFrom).toBeGreaterThan(1);
  expect(keptFrom).toBeLessThanOrEqual(position + 1);
  await again.history.close();
  // The same, of an archive that has other rows: this log was restored, or that one's was.
  archived = { ...archived, blockHash: "ab".repeat(32) };
  const parted = openHistory("parted", WAITING, () => archived);
  for (const batch of flow) parted.apply(batch);
  expect(parted.history.edge.keptFrom).toBe(1);
  await parted.history.close();
});
