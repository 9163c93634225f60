/**
 * Lists that go on in an archive, against those of a venue that has the same log and keeps all its rows: every page,
 * in both directions, also across the border.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { POLL } from "@perpgate/journal/testing";
import { type ArchiveQuery, PUBLIC_READER } from "@perpgate/venue";
import {
  busyVenue,
  orderCommand,
  PastLists,
  signInCommand,
  TestVenue,
} from "@perpgate/venue/testing";
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

/** An order that its owner calls "again", as all of them, and cancels. */
async function orderAgain(driver: TestVenue, session: number, nonce: number): Promise<void> {
  const nothing = new Uint8Array(0);
  const order = orderCommand(session, nonce, "long", 640_000, 1);
  const { seq: orderId } = await driver.submit(
    {
      ...order,
      extras: {
        sizeLots: 0,
        timeInForce: 0,
        expiresAtMs: 0,
        clientOrderId: "again",
        trigger: 0,
        limitTicks: 0,
        closePosition: false,
        selfTrade: 0,
        validUntilMs: 0,
      },
    },
    { signed: Buffer.from("again"), signature: nothing, publicKey: nothing },
  );
  await driver.submit({ kind: "CancelOrder", stampMs: order.stampMs, session, orderId });
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
    await orderAgain(driver, taker, ++nonce);
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

function listsOf({ venue: { views } }: TestVenue, archive?: ArchiveReads): Lists {
  const archived = archive === undefined ? undefined : views.archived(archive.query);
  const past = new PastLists(views, archived);
  const lists = new Map<string, (query: Query, note: Note) => Promise<readonly object[]>>();
  lists.set("trades", async (query, note) => (await past.trades("BTCUSD", query, note)) ?? []);
  for (const account of [1, 2]) {
    lists.set(`fills ${account}`, (query, note) => past.fills(account, query, note));
    lists.set(`orders ${account}`, (query, note) => past.orders(account, query, note));
    lists.set(`payments ${account}`, (query, note) => past.fundingPayments(account, query, note));
    lists.set(`ledger ${account}`, (query, note) => past.ledger(account, query, note));
  }
  const named = (account: number, names: { nonce?: number; clientOrderId?: string }) => {
    return (query: Query, note: Note) => past.ordersNamed(account, names, query, note);
  };
  lists.set("orders of a client's id", named(2, { clientOrderId: "again" }));
  lists.set("orders of an old nonce", named(1, { nonce: 103 }));
  lists.set(
    "orders of an old nonce and another's id",
    named(2, { nonce: 103, clientOrderId: "other" }),
  );
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

    const lists = listsOf(driver, archive);
    for (const [name, read] of listsOf(whole)) {
      const all = await read({ limit: 1_000 }, { ...NO_NOTE });
      // No funding is due without an index between the ticks.
      const isShort = name.startsWith("payments") || name.includes("nonce");
      if (!isShort) expect(all.length, name).toBeGreaterThan(3);
      const own = lists.get(name);
      if (own === undefined) throw new Error(name);
      expect(await paged(own, false), name).toEqual(all);
      const forth = await read({ limit: 1_000, after: "0" }, { ...NO_NOTE });
      expect(await paged(own, true), name).toEqual(forth);
      const from = driver.venue.views.historyBefore?.time ?? 0;
      const span = { limit: 20, from: from - DAY_MS, to: from + DAY_MS / 4 };
      expect(await own(span, { ...NO_NOTE }), name).toEqual(await read(span, { ...NO_NOTE }));
    }
    const past = new PastLists(venue.views, venue.views.archived(archive.query));
    const [, ...orders] = whole.venue.views.orders(1);
    for (const order of orders) expect(await past.order(1, Number(order.orderId))).toEqual(order);
    expect(await past.order(2, Number(orders.at(-1)?.orderId))).toBeUndefined();
    await whole.venue.close();
    const again = await lists.get("orders of an old nonce")?.({ limit: 10 }, { ...NO_NOTE });
    expect(again).toMatchObject([{ nonce: 103, status: "filled" }]);

    // A page that is full looks into the days that it needs, not into all.
    const days = await server.query(
      "SELECT 1 FROM pg_inherits WHERE inhparent = 'fill_rows'::regclass",
    );
    expect(days.length).toBeGreaterThan(3);
    const looked = new Set<string>();
    const explained: ArchiveQuery = async (sql, reader) => {
      const plan = await archive.query(`EXPLAIN ${sql}`, reader);
      for (const [table] of plan.join().matchAll(/fill_rows_\d{8}/g)) looked.add(table);
      return archive.query(sql, reader);
    };
    const older = venue.views.archived(explained);
    const last = await older.fills(1, { limit: 2, before: String(historyBefore) });
    expect(last).toHaveLength(2);
    expect(looked.size).toBeLessThan(3);
    expect(await older.fills(1, { limit: 2, after: "0" })).toHaveLength(2);
    expect(looked.size).toBeLessThan(5);

    // Without PostgreSQL, and with the archive of another venue: a page says where it ends.
    await server.query("UPDATE archive SET venue = 'another'");
    const nowhere = new ArchiveReads("postgresql://127.0.0.1:1/none", { warn: () => undefined });
    for (const reads of [archive, nowhere]) {
      const note = { ...NO_NOTE };
      const page = await listsOf(driver, reads).get("fills 1")?.({ limit: 1_000 }, note);
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
    await expect(reads.query("SELECT pg_sleep(600)", 1)).rejects.toThrow(/timeout/);
    const running = "SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'";
    await expect.poll(() => server.query(`${running} AND state = 'active'`), POLL).toEqual([]);
    expect(await reads.query("SELECT 7", 1)).toEqual([[7]]);
    await reads.close();
  });

  test("slow reads of one account: others read meanwhile, and it has one connection", async () => {
    const server = await PostgresServer.start(programs ?? "");
    const reads = new ArchiveReads(server.url, { warn: () => undefined });
    const slow = Array.from({ length: 8 }, () => reads.query("SELECT pg_sleep(600)", 1));
    const ended = Promise.allSettled(slow);
    expect(await reads.query("SELECT 7", 2)).toEqual([[7]]);
    expect(await reads.query("SELECT 8", PUBLIC_READER)).toEqual([[8]]);
    const running = "SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'";
    expect((await server.query(`${running} AND state = 'active'`)).length).toBeLessThan(2);
    await reads.close();
    const outcomes = await ended;
    expect(outcomes.map(({ status }) => status)).toEqual(Array(8).fill("rejected"));
    await expect(reads.query("SELECT 7", 2)).rejects.toThrow(/closed/);
  });
});
