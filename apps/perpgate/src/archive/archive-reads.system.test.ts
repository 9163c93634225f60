/**
 * Lists that go on in an archive, against those of a venue that has the same log and keeps all its rows: every page,
 * in both directions, also across the border.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { POLL } from "@perpgate/journal/testing";
import { busyVenue, PastLists, signInCommand, TestVenue } from "@perpgate/venue/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { PostgresServer, postgresPrograms } from "../testing/postgres-server.js";
import { ArchiveReads } from "./archive-reads.js";
import { Indexer } from "./indexer.js";

const programs = postgresPrograms();
const DAY_MS = 86_400_000;
const TICK_MS = 200;
const DAYS = 4;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-archive-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function feed(directory: string, postgres: string): Promise<void> {
  const onFailure = (reason: string): void => {
    throw new Error(reason);
  };
  const report = { onProgress: () => undefined, onWait: () => undefined, onFailure };
  const settings = { directory, postgres, once: true, isNoted: true };
  await new Indexer(settings, report, new AbortController().signal).run();
}

/** Sessions end after a day. */
async function signIn(driver: TestVenue, name: number, visit: number): Promise<number> {
  const { command, evidence } = signInCommand(name, `visit${visit}`, driver.venue.views.timeMs);
  return (await driver.submit(command, evidence)).seq;
}

/** Trades, funding and orders that rest, in half days; the archive has each before the next one. */
async function traded(data: string, url: string): Promise<TestVenue> {
  const retention = { hotMs: DAY_MS, waitsForArchive: true };
  const { driver } = await busyVenue(data, { retention, outboxCommands: 8 });
  let nonce = 100;
  for (let half = 0; half < 2 * DAYS; half++) {
    const stampMs = driver.venue.views.timeMs + DAY_MS / 2;
    await driver.submit({ kind: "AskTime", stampMs });
    await driver.submit({ kind: "Tick", slot: Math.floor(stampMs / TICK_MS) + 1 });
    await driver.index();
    const [maker, taker] = [await signIn(driver, 1, half), await signIn(driver, 2, half)];
    for (let i = 0; i < 12; i++) {
      nonce++;
      await driver.order(maker, nonce, "short", 650_000 + i, 20);
      await driver.order(taker, nonce, "long", 650_000 + i, i % 3 === 0 ? 40 : 10);
      if (i % 4 === 0) await driver.tick();
    }
    await driver.tick();
    await driver.venue.history.flush();
    await feed(data, url);
  }
  return driver;
}

interface Note {
  historyBefore: number;
}

interface Query {
  readonly limit: number;
  readonly before?: string;
  readonly after?: string;
  readonly from?: number;
  readonly to?: number;
}

type Lists = ReadonlyMap<string, (query: Query, note: Note) => Promise<readonly object[]>>;

function listsOf({ venue: { views } }: TestVenue, archive?: ArchiveReads, logId = ""): Lists {
  const archived = archive === undefined ? undefined : views.archived(archive.query, logId);
  const past = new PastLists(views, archived);
  const lists = new Map<string, (query: Query, note: Note) => Promise<readonly object[]>>();
  lists.set("trades", async (query, note) => (await past.trades("BTCUSD", query, note)) ?? []);
  for (const account of [1, 2]) {
    lists.set(`fills ${account}`, (query, note) => past.fills(account, query, note));
    lists.set(`orders ${account}`, (query, note) => past.orders(account, query, note));
    lists.set(`payments ${account}`, (query, note) => past.fundingPayments(account, query, note));
    lists.set(`ledger ${account}`, (query, note) => past.ledger(account, query, note));
  }
  return lists;
}

const NO_NOTE = { historyBefore: 0 };

function idOf(row: object): string {
  if ("orderId" in row && !("liquidity" in row)) return String(row.orderId);
  return "id" in row ? String(row.id) : "";
}

/** All rows, in pages of changing lengths; none says that it ends early. */
async function paged(
  read: (query: Query, note: Note) => Promise<readonly object[]>,
  isAscending: boolean,
): Promise<object[]> {
  const rows: object[] = [];
  for (let limit = 1; ; limit = 1 + ((limit * 5) % 13)) {
    const last = rows.at(-1);
    const cursor = last === undefined ? "0" : idOf(last);
    const note = { ...NO_NOTE };
    const at = isAscending ? { after: cursor } : last === undefined ? {} : { before: cursor };
    const page = await read({ limit, ...at }, note);
    expect(note).toEqual(NO_NOTE);
    if (page.length === 0) return rows;
    rows.push(...page);
  }
}

describe.skipIf(programs === undefined)("reads that go on in an archive", () => {
  test("all pages of all lists are those of a venue that keeps everything", async () => {
    const server = await PostgresServer.start(programs ?? "");
    const data = newFolder();
    const driver = await traded(data, server.url);
    const { venue } = driver;
    const { historyBefore } = venue.history;
    // Two of four days are before the window.
    expect(historyBefore).toBeGreaterThan(venue.seq / 3);
    const archive = new ArchiveReads(server.url, { warn: () => undefined });
    onTestFinished(() => archive.close());
    const copy = newFolder();
    cpSync(join(data, "journal"), join(copy, "journal"), { recursive: true });
    const whole = await TestVenue.open(copy);
    expect(whole.venue.history.historyBefore).toBe(1);

    const lists = listsOf(driver, archive, venue.logId);
    for (const [name, read] of listsOf(whole)) {
      const all = await read({ limit: 1_000 }, { ...NO_NOTE });
      // No funding is due without an index between the ticks.
      if (!name.startsWith("payments")) expect(all.length, name).toBeGreaterThan(3);
      const own = lists.get(name);
      if (own === undefined) throw new Error(name);
      expect(await paged(own, false), name).toEqual(all);
      const forth = await read({ limit: 1_000, after: "0" }, { ...NO_NOTE });
      expect(await paged(own, true), name).toEqual(forth);
      const from = driver.venue.views.historyBefore?.time ?? 0;
      const span = { limit: 20, from: from - DAY_MS, to: from + DAY_MS / 4 };
      expect(await own(span, { ...NO_NOTE }), name).toEqual(await read(span, { ...NO_NOTE }));
    }
    const past = new PastLists(venue.views, venue.views.archived(archive.query, venue.logId));
    const [, ...orders] = whole.venue.views.orders(1);
    for (const order of orders) expect(await past.order(1, Number(order.orderId))).toEqual(order);
    expect(await past.order(2, Number(orders.at(-1)?.orderId))).toBeUndefined();
    await whole.venue.close();

    // Without PostgreSQL, and with the archive of another log: a page says where it ends.
    for (const [reads, logId] of [
      [archive, "0".repeat(32)],
      [new ArchiveReads("postgresql://127.0.0.1:1/none", { warn: () => undefined }), venue.logId],
    ] as const) {
      const note = { ...NO_NOTE };
      const page = await listsOf(driver, reads, logId).get("fills 1")?.({ limit: 1_000 }, note);
      expect(page?.length).toBeGreaterThan(3);
      expect(note.historyBefore).toBe(historyBefore);
    }
    await venue.close();
  });

  test("an archive that stands still: nothing is dropped that it does not have", async () => {
    const server = await PostgresServer.start(programs ?? "");
    const data = newFolder();
    const driver = await traded(data, server.url);
    const { historyBefore: before } = driver.venue.history;
    const stampMs = driver.venue.views.timeMs + 30 * DAY_MS;
    await driver.submit({ kind: "AskTime", stampMs });
    await driver.submit({ kind: "Tick", slot: Math.floor(stampMs / TICK_MS) + 1 });
    const { historyBefore: after } = driver.venue.history;
    expect(after).toBeGreaterThan(before);
    const [row] = await server.query("SELECT position FROM archive");
    expect(after).toBeLessThanOrEqual(Number(row?.position) + 1);
    await driver.venue.close();
  });

  // Otherwise each list that was given up would leave a query that runs on, next to that of the next one.
  test("a read that takes too long: given up, and ended at the server", async () => {
    const server = await PostgresServer.start(programs ?? "");
    const reads = new ArchiveReads(server.url, { warn: () => undefined });
    await expect(reads.query("SELECT pg_sleep(600)")).rejects.toThrow(/timeout/);
    const running = "SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'";
    await expect.poll(() => server.query(`${running} AND state = 'active'`), POLL).toEqual([]);
    expect(await reads.query("SELECT 7")).toEqual([[7]]);
    await reads.close();
  });
});
