/**
 * Compares the history with a naive recomputation from all events, over seeded flows, with restarts:
 * the store is closed and reopened, and once replaced by an older copy.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Engine } from "@perpgate/engine";
import {
  applyBatch,
  batches,
  type LogBatch,
  type ProfileName,
  ReferenceVenue,
} from "@perpgate/engine/testing";
import { RESOLUTION_MS, RESOLUTIONS } from "@perpgate/protocol/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NO_EVIDENCE } from "../record/record.js";
import { newReplicaState, observe, type ReplicaState } from "../recovery/replica-state.js";
import type { Applied } from "../replica.js";
import { NaiveHistory } from "../testing/naive-history.js";
import { FILL_ROW } from "./fill-projection.js";
import type { TimeQuery } from "./history-reader.js";
import { openHistoryStore } from "./history-store.js";
import type { Place } from "./history-table.js";
import { ORDER_ROW, ORDER_ROW_WORDS, plainTimeInForce } from "./order-row.js";
import { WrittenHistory } from "./written-history.js";

const LOG_ID = new Uint8Array(16);
const ALL = 1_000_000;
/** `npm test -- --long flows` runs longer ones. */
const COMMANDS = Number(process.env.PERPGATE_HISTORY_COMMANDS ?? 700);
/** Accounts that are compared before the last rows are flushed. */
const UNFLUSHED_ACCOUNTS = 3;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perpgate-history-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function openHistory(rows: ReplicaState["rows"]): Promise<WrittenHistory> {
  const { store, discarded } = await openHistoryStore(join(folder, "store"), LOG_ID);
  expect(discarded).toBeUndefined();
  return WrittenHistory.open(store, rows, {
    onDurable: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
}

/** Runs the flow through engine and history; reopens the store at the positions in `restarts`. */
async function run(name: ProfileName, seed: number, count: number, restarts: readonly number[]) {
  let state = newReplicaState();
  const naive = new NaiveHistory(
    (market) => state.engine.state.markets[market]?.microsPerTickLot ?? 0,
  );
  const flow: LogBatch[] = [];
  const reference = new ReferenceVenue(1_000);
  for (const batch of batches(name, seed, count, reference)) {
    applyBatch(reference, batch);
    flow.push(batch);
  }
  let history = await openHistory(state.rows);
  let at = 0;
  let furthest = 0;
  const replay = (until: number): void => {
    for (; at < flow.length && state.engine.seq < until; at++) {
      applyBatch(state.engine, flow[at]!, (command, events) => {
        const applied: Applied = {
          seq: state.engine.seq,
          timeMs: state.engine.state.timeMs,
          command,
          evidence: NO_EVIDENCE,
          events,
        };
        const sealed = observe(state, applied);
        history.onCommand(applied, state.blocks.currentNumber, sealed);
        if (applied.seq <= furthest) return;
        furthest = applied.seq;
        naive.note(applied.seq, applied.timeMs, events.decode());
      });
    }
  };
  for (const [i, place] of restarts.entries()) {
    replay(place);
    await history.close();
    const store = join(folder, "store");
    const copy = join(folder, "copy");
    if (i === 0) cpSync(store, copy, { recursive: true });
    if (i === 2) {
      // An old copy: the commands that it lacks are applied again.
      rmSync(store, { recursive: true });
      cpSync(copy, store, { recursive: true });
    }
    // From the beginning of the log: the history skips what it has.
    state = newReplicaState();
    at = 0;
    history = await openHistory(state.rows);
  }
  replay(Number.POSITIVE_INFINITY);
  return { state, naive, history };
}

describe("the history agrees with a recomputation from all events", () => {
  const flows: readonly [ProfileName, number, number][] = [
    ["cascade", 11, COMMANDS],
    ["thinFund", 12, COMMANDS],
    ["stops", 13, COMMANDS],
    ["gate", 14, COMMANDS],
  ];
  test.each(flows)("flow %s, seed %i, %i commands", async (name, seed, count) => {
    const restarts = [250, 888, 1_501, 1_999].map((place) => Math.floor((place * count) / 2_000));
    const { state, naive, history } = await run(name, seed, count, restarts);
    // What the flow is for.
    if (name === "thinFund") expect(naive.deleveragings()).toBeGreaterThan(0);
    for (const isFlushed of [false, true]) {
      if (isFlushed) await history.flush();
      const most = isFlushed ? 8 : UNFLUSHED_ACCOUNTS;
      const accounts = Math.min(most, state.engine.state.addresses.length - 1);
      for (let account = 1; account <= accounts; account++) {
        compareAccount(naive, history, account, state.engine);
      }
      for (const { number } of state.engine.state.markets) compareMarket(naive, history, number);
    }
    await history.close();
  });
});

function compareAccount(
  naive: NaiveHistory,
  history: WrittenHistory,
  account: number,
  engine: Engine,
) {
  const markets = engine.state.markets.length;
  const fills = naive.fills(account);
  const all = Array.from({ length: markets }, (_, market) => market);
  expectSame(history.fills(account, all, { limit: ALL }).map(plain), fills);
  // Pages of seven concatenate to the same list, in both directions and in every market.
  for (const read of [all, ...all.map((market) => [market])]) {
    const own = fills.filter(({ row }) => read.includes(row[FILL_ROW.MARKET]!));
    const back = pages((last) => history.fills(account, read, { limit: 7, before: last }));
    expectSame(back.map(plain), own);
    const start = { seq: 0, ordinal: 0 };
    const forth = pages((last = start) => history.fills(account, read, { limit: 7, after: last }));
    expectSame(forth.map(plain), [...own].reverse());
  }
  compareSpans(history, account, all, fills);
  const ids = naive.orders(account);
  const rows = history.orders(account, all, { limit: ALL });
  expect(rows.map((row) => row[ORDER_ROW.ID])).toEqual(ids);
  for (const row of rows.slice(0, 20)) {
    const id = row[ORDER_ROW.ID]!;
    expect({
      status: ["filled", "resting", "pending", "canceled"][row[ORDER_ROW.STATUS]!],
      reason: row[ORDER_ROW.REASON],
      lots: row[ORDER_ROW.FILLED_LOTS],
      micros: row[ORDER_ROW.FILLED_MICROS],
      fee: row[ORDER_ROW.FEE],
      left: row[ORDER_ROW.REMAINING],
      created: row[ORDER_ROW.CREATED],
      updated: row[ORDER_ROW.UPDATED],
    }).toEqual(naive.order(id));
    const terms =
      row.length === ORDER_ROW_WORDS
        ? [plainTimeInForce(row[ORDER_ROW.TYPE]!), ...Array(9).fill(0)]
        : [...row.slice(ORDER_ROW_WORDS)];
    expect(terms).toEqual(naive.terms(id));
    expect(history.order(account, all, id)).toEqual(row);
    const nonce = row[ORDER_ROW.NONCE]!;
    const same = history.ordersNamed(account, all, { nonce }, { limit: ALL }).rows;
    expect(same.map((other) => other[ORDER_ROW.ID])).toEqual(naive.orders(account, nonce));
  }
  for (let market = 0; market < markets; market++) {
    const positions = engine.state.markets[market]!.positions;
    const row = positions.rowOf(account);
    if (row < 0 || positions.lots(row) === 0) continue;
    expect(history.positionUpdatedAt(account, market)).toBe(naive.updatedAt(account, market));
  }
}

/** All rows, page by page. */
function pages<T extends Place>(read: (last?: Place) => readonly T[]): T[] {
  const rows: T[] = [];
  for (let page = read(); page.length > 0; page = read(rows.at(-1))) rows.push(...page);
  return rows;
}

/** Spans of time from and to the times of some fills, and a millisecond next to them. */
function compareSpans(
  history: WrittenHistory,
  account: number,
  markets: readonly number[],
  fills: ReturnType<NaiveHistory["fills"]>,
): void {
  const timeOf = ({ row }: { readonly row: readonly number[] }) => row[FILL_ROW.TIME]!;
  const step = Math.max(1, Math.floor(fills.length / 5));
  const times = fills.filter((_, i) => i % step === 0).map(timeOf);
  for (const fromMs of times.flatMap((time) => [time, time + 1])) {
    for (const toMs of times.flatMap((time) => [time, time + 1])) {
      const within = fills.filter((fill) => timeOf(fill) >= fromMs && timeOf(fill) < toMs);
      const found = history.fills(account, markets, { limit: ALL, fromMs, toMs });
      expectSame(found.map(plain), within);
      const first = history.fills(account, markets, { limit: 3, fromMs, toMs });
      expect(first.map(plain)).toEqual(within.slice(0, 3));
    }
  }
}

function compareMarket(naive: NaiveHistory, history: WrittenHistory, market: number): void {
  const tape = naive.tape(market);
  expectSame(
    history.trades(market, { limit: ALL }).map(({ row }) => [...row]),
    tape.map(({ event: e, timeMs }) => [e.priceTicks, e.lots, e.takerSide, timeMs]).reverse(),
  );
  for (const resolution of RESOLUTIONS) {
    const candles = history.candles(market, resolution, { limit: ALL });
    expectSame(
      candles.map(({ timeMs, row }) => ({ timeMs, row: [...row] })),
      naive.candles(market, RESOLUTION_MS[resolution]),
    );
    for (const price of ["mark", "index"] as const) {
      const found = history.candles(market, resolution, { limit: ALL }, price);
      expect(found.length).toBeGreaterThan(0);
      expectSame(
        found.map(({ timeMs, row }) => ({ timeMs, row: [...row] })),
        naive.priceCandles(market, price, RESOLUTION_MS[resolution]),
      );
    }
    const times = candles.map(({ timeMs }) => timeMs);
    const [newest = 0, second = 0] = times;
    const oldest = times.at(-1) ?? 0;
    const read = (query: Omit<TimeQuery, "limit">) =>
      history.candles(market, resolution, { limit: 2, ...query }).map(({ timeMs }) => timeMs);
    expect(read({ fromMs: newest, toMs: newest + 1 })).toEqual(times.slice(0, 1));
    expect(read({ toMs: newest })).toEqual(times.filter((time) => time < newest).slice(0, 2));
    expect(read({ afterMs: oldest })).toEqual([...times].reverse().slice(1, 3));
    expect(read({ afterMs: second, beforeMs: newest })).toEqual([]);
  }
  expect(
    history.funding(market, { limit: ALL }).map(({ timeMs, row }) => ({ timeMs, row: [...row] })),
  ).toEqual(naive.funding(market));
}

/** `toEqual` takes ten times as long; it shows the difference where there is one. */
function expectSame(found: readonly unknown[], expected: readonly unknown[]): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected);
}

/** Without the balance: ledger.system.test.ts checks those. */
function plain({ seq, ordinal, row }: ReturnType<WrittenHistory["fills"]>[number]) {
  return { seq, ordinal, row: [...row].filter((_, word) => word !== FILL_ROW.BALANCE) };
}
