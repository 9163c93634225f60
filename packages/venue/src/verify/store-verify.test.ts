/** The tables of a store, counted, hashed and compared with a replay. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { TICK_MS } from "@perpgate/engine";
import { until } from "@perpgate/journal/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TABLES } from "../history/history-environment.js";
import { busyVenue } from "../testing/busy-venue.js";
import { runSql } from "../testing/edit-store.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { storeStatus } from "./store-status.js";
import { verifyStore } from "./store-verify.js";
import { verify } from "./verify.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

const WITH_HASHES = { hashes: true };

test("a venue that runs: every table agrees, and a rebuilt store has the same hashes", async () => {
  const { driver } = await busyVenue(folder);
  const report = await verifyStore(folder);
  const { tables, behind, position } = await storeStatus(folder, WITH_HASHES);
  expect(report).toMatchObject({ position, from: 0, fault: null, agrees: true });
  expect(behind).toBe(0);
  expect(tables.map(({ table }) => table)).toEqual([...TABLES]);
  expect(report.tables.map(({ table, rows, sha256 }) => ({ table, rows, sha256 }))).toEqual(tables);
  expect(report.tables.every(({ rows, logRows }) => rows === logRows)).toBe(true);
  expect(tables.filter(({ rows }) => rows > 0).length).toBeGreaterThan(14);
  await driver.venue.close();

  await removeFolder(join(folder, "history"));
  await (await TestVenue.open(folder)).venue.close();
  expect((await storeStatus(folder, WITH_HASHES)).tables).toEqual(tables);
});

test("two tables that differ: both are named, with their counts, and the others agree", async () => {
  const { driver } = await busyVenue(folder);
  await driver.venue.close();
  const { tables: before } = await storeStatus(folder, WITH_HASHES);
  runSql(folder, "DELETE FROM trade_rows WHERE seq = (SELECT max(seq) FROM trade_rows)");
  runSql(folder, "UPDATE candle_rows SET high = high + 1 WHERE series = 7");
  const { agrees, fault, tables } = await verifyStore(folder);
  expect([agrees, fault]).toEqual([false, null]);
  const differing = tables.filter((table) => table.fault !== null);
  expect(differing.map(({ table }) => table)).toEqual(["trades", "candles"]);
  const [trades, candles] = differing;
  expect(trades?.fault).toMatch(/^trades, row .*: missing from the history$/);
  expect(trades?.rows).toBe((trades?.logRows ?? 0) - 1);
  expect(candles?.fault).toMatch(/^candles, row .*: the history holds something else/);
  const changed = tables.filter(({ sha256 }, i) => sha256 !== before[i]?.sha256);
  expect(changed).toEqual(differing);
});

test("a store ahead of its log: a difference; one behind it: compared up to its position", async () => {
  const { driver, sessions } = await busyVenue(folder);
  const copy = (name: string, to: string) =>
    cpSync(join(folder, name), join(folder, to), { recursive: true });
  copy("history", "older");
  copy("journal", "shorter");
  await driver.order(sessions[0], 6, "short", 656_000, 20);
  await driver.venue.close();
  const { position } = await storeStatus(folder, { hashes: false });
  copy("journal", "whole");
  copy("shorter", "journal");
  const ahead = await verifyStore(folder);
  expect(ahead).toMatchObject({ position, agrees: false });
  expect(ahead.fault).toMatch(/^the log ends at position \d+, but the history shows position \d+$/);
  copy("whole", "journal");
  copy("older", "history");
  const { behind, position: held } = await storeStatus(folder, { hashes: false });
  expect(behind).toBeGreaterThan(0);
  expect(held).toBeLessThan(position);
  expect(await verifyStore(folder)).toMatchObject({ position: held, agrees: true });
});

test("no store: refused, with the reason", async () => {
  const { driver } = await busyVenue(folder);
  await driver.venue.close();
  await removeFolder(join(folder, "history"));
  await expect(verifyStore(folder)).rejects.toThrow("the history cannot be read: there is none");
  await expect(storeStatus(folder, WITH_HASHES)).rejects.toThrow("there is none");
});

test("a store with a window: what is left agrees, before and after old rows are dropped, and rebuilt", async () => {
  const retention = { hotMs: 60_000 };
  const more = { retention, outboxCommands: 16 };
  const { driver, sessions } = await busyVenue(folder, more);
  await driver.order(sessions[0], 6, "short", 656_000, 20);
  const moveOn = async (ms: number) => {
    const stampMs = driver.venue.views.timeMs + ms;
    await driver.submit({ kind: "AskTime", stampMs });
    await driver.submit({ kind: "Tick", slot: Math.floor(stampMs / TICK_MS) + 1 });
    await driver.index();
    // The outbox is emptied by transactions.
    await driver.venue.history.flush();
  };
  await moveOn(120_000);
  for (let nonce = 10; nonce < 20; nonce++) {
    await driver.order(sessions[0], nonce, "short", 650_000 + nonce, 100);
    await driver.order(sessions[1], nonce, "long", 650_000 + nonce, 50);
    await moveOn(1_000);
  }
  await driver.venue.history.flush();
  const { historyBefore } = driver.venue.history;
  expect(historyBefore).toBeGreaterThan(20);
  const fine = { fault: null, agrees: true };
  const live = await verifyStore(folder);
  expect(live.tables.filter(({ fault }) => fault !== null)).toEqual([]);
  expect(live).toMatchObject(fine);
  const before = async () => {
    const { tables, historyBefore: shown } = await storeStatus(folder, { hashes: false });
    expect(shown?.position).toBe(historyBefore);
    return tables.find(({ table }) => table === "fills")?.rows ?? 0;
  };
  const kept = driver.venue.views.fills(1, { limit: 1_000 }).length * 2;
  await until(async () => (await before()) === kept);
  expect(await verifyStore(folder)).toMatchObject(fine);
  expect((await verify(folder)).fault).toBeNull();
  await driver.venue.close();

  const again = await TestVenue.open(folder, more);
  expect(again.venue.history.historyBefore).toBe(historyBefore);
  await again.venue.close();
  expect((await verify(folder)).fault).toBeNull();

  await removeFolder(join(folder, "history"));
  const rebuilt = await TestVenue.open(folder, { ...more, waitedRecords: 0 });
  await until(() => !rebuilt.venue.history.isRebuilding);
  await rebuilt.venue.history.flush();
  expect(rebuilt.venue.history.historyBefore).toBeGreaterThan(20);
  expect(rebuilt.venue.views.fills(1, { limit: 1_000 }).length * 2).toBe(kept);
  await rebuilt.venue.close();
  const report = await verifyStore(folder);
  expect(report.tables.filter(({ fault }) => fault !== null)).toEqual([]);
  expect(report).toMatchObject(fine);
  expect((await verify(folder)).fault).toBeNull();

  runSql(folder, "DELETE FROM fill_rows WHERE seq = (SELECT max(seq) FROM fill_rows)");
  const differing = (await verifyStore(folder)).tables.filter(({ fault }) => fault !== null);
  expect(differing.map(({ table }) => table)).toEqual(["fills"]);
});
