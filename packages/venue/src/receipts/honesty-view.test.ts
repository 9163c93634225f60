import { readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { runSql } from "../testing/edit-store.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { HonestyView } from "./honesty-view.js";

async function openVenue(): Promise<TestVenue> {
  const folder = await temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const driver = await TestVenue.open(folder);
  onTestFinished(() => driver.venue.close());
  await driver.index();
  return driver;
}

/** As the first one of a process: it has read nothing yet. */
function newView({ venue }: TestVenue, nowMs?: () => number): HonestyView {
  const { history } = venue;
  const { lastPosition } = history.newestBlock()!;
  const source = {
    history,
    blocks: { openAcks: history.acksBetween(lastPosition + 1, venue.seq).length },
    engine: { state: { timeMs: venue.views.timeMs } },
  };
  const view = new HonestyView(source, undefined, nowMs);
  onTestFinished(() => view.close());
  return view;
}

test("issued: right after a start it reads no more of the history than the record has", async () => {
  const driver = await openVenue();
  const session = await driver.signIn(1);
  await driver.tick();
  const orders = 6;
  for (let nonce = 1; nonce <= orders; nonce++) {
    await driver.order(session, nonce, "long", 600_000, 10);
    // The last one is in the open block.
    if (nonce < orders) await driver.tick();
  }
  const view = newView(driver);
  expect([view.throughBlock, view.issued]).toEqual([0, 0]);
  // Those of the open block are counted when all others are.
  const unsealed = [];
  while (view.advance(0)) unsealed.push(view.issued - view.record.sealed);
  expect(unsealed.slice(0, -1)).toEqual(unsealed.slice(1).fill(0));
  expect([view.issued, view.record.sealed]).toEqual([orders, orders - 1]);
});

test("blocks that are sealed while it watches: counted as those that are read, and not read", async () => {
  const driver = await openVenue();
  const session = await driver.signIn(1);
  await driver.tick();
  await driver.order(session, 1, "long", 600_000, 10);
  const { history } = driver.venue;
  const view = newView(driver);
  while (view.advance(0));
  // In the middle of a block: that one is read.
  const stop = driver.venue.observe(view);
  await driver.order(session, 2, "long", 600_000, 10);
  await driver.tick();
  expect(view.record.sealed).toBe(0);
  while (view.advance(0));
  const read = vi.spyOn(history, "acksBetween");
  for (let nonce = 3; nonce <= 8; nonce++) {
    await driver.order(session, nonce, "long", 600_000, 10);
    if (nonce % 2 === 0) await driver.tick();
  }
  expect([view.advance(0), read.mock.calls]).toEqual([false, []]);
  stop();
  const other = newView(driver);
  while (other.advance(0));
  const { throughBlock, record } = other;
  expect(record.sealed).toBe(8);
  expect({ ...view }).toMatchObject({ throughBlock, record });
});

test("requests while there is much to read: one slice in 20 ms, however many they are", async () => {
  const driver = await openVenue();
  for (let i = 0; i < 5; i++) {
    await driver.index();
    await driver.tick();
  }
  let nowMs = 0;
  // A clock that goes on by three milliseconds a block: a slice is one block.
  const view = newView(driver, () => {
    nowMs += 3;
    return nowMs;
  });
  view.advanceForRead();
  view.advanceForRead();
  view.advanceForRead();
  expect(view.throughBlock).toBe(1);
  nowMs += 20;
  view.advanceForRead();
  expect(view.throughBlock).toBe(2);
});

test("a witness that was away: its cosignature over many blocks reads 500 rows", async () => {
  const driver = await openVenue();
  const session = await driver.signIn(1);
  await driver.tick();
  await driver.order(session, 1, "long", 600_000, 10);
  for (let i = 0; i < 600; i++) {
    await driver.index();
    await driver.tick();
  }
  await driver.order(session, 2, "long", 600_000, 10);
  await driver.tick();
  const { number } = driver.venue.history.newestBlock()!;
  const view = newView(driver);
  view.onWitnessed(1);
  view.onWitnessed(number);
  // The first order was read, 601 ticks after it; the second is beyond the bound.
  expect(number).toBeGreaterThan(600);
  expect(view.witnessedMs.quantiles()).toEqual({ p50: 120_200, p99: 120_200, max: 120_200 });
});

test("a block of many acknowledgements: read in several slices, and counted when it is complete", async () => {
  const driver = await openVenue();
  const session = await driver.signIn(1);
  await driver.tick();
  const orders = 300;
  const placed = Array.from({ length: orders }, (_, i) =>
    driver.order(session, i + 1, "long", 600_000 - i, 1),
  );
  await Promise.all(placed);
  await driver.tick();
  let nowMs = 0;
  const view = newView(driver, () => ++nowMs);
  const read = vi.spyOn(driver.venue.history, "acksBetween");
  const sealed = new Set<number>();
  while (view.advance(0)) sealed.add(view.record.sealed);
  expect([...sealed, view.record.sealed]).toEqual([0, orders, orders]);
  expect(read.mock.results.map(({ value }) => value.length)).toEqual([256, 44]);
  view.onWitnessed(view.throughBlock - 1);
  view.onWitnessed(view.throughBlock);
  expect(read.mock.results.at(-1)?.value).toHaveLength(orders);
});

const second = (key: string, table: string) =>
  `${key} = (SELECT ${key} FROM ${table} ORDER BY ${key} LIMIT 1 OFFSET 1)`;
const DAMAGE = {
  acks: `UPDATE order_rows SET ack_digest = x'01' WHERE ${second("id", "order_rows")}`,
  blocks: `UPDATE block_rows SET header = x'01' WHERE ${second("number", "block_rows")}`,
} as const;

test.each(["acks", "blocks"] as const)(
  "a damaged row of %s before the newest snapshot: the record ends there, and the venue goes on",
  async (table) => {
    const folder = await temporaryFolder();
    onTestFinished(() => removeFolder(folder));
    const checkpoints = { everyCommands: 10, everyMs: 3_600_000, keep: 2 };
    const driver = await TestVenue.open(folder, { checkpoints });
    await driver.index();
    const session = await driver.signIn(1);
    await driver.tick();
    for (let nonce = 1; nonce <= 20; nonce++) {
      await driver.order(session, nonce, "long", 600_000, 10);
      await driver.tick();
    }
    await driver.venue.history.flush();
    const isSnapshot = (name: string) => name.endsWith(".snapshot");
    await until(() => readdirSync(join(folder, "journal")).some(isSnapshot));
    await driver.venue.close();
    // Neither the first nor the last, which a start looks at.
    runSql(folder, DAMAGE[table]);

    const again = await TestVenue.open(folder);
    onTestFinished(() => again.venue.close());
    const faults: object[] = [];
    const logger = {
      info: () => undefined,
      warn: () => undefined,
      error: (fields: object, message: string) => faults.push({ ...fields, message }),
    };
    const { history } = again.venue;
    const source = { history, blocks: { openAcks: 7 }, engine: { state: { timeMs: 1 } } };
    const view = new HonestyView(source, logger);
    onTestFinished(() => view.close());
    // The view's own timer reads: an exception there would end the process.
    await until(() => faults.length > 0);
    const { throughBlock } = view;
    expect(throughBlock).toBeLessThan(history.newestBlock()?.number ?? 0);
    expect([view.advance(), view.issued]).toEqual([false, view.record.sealed]);
    view.onWitnessed(throughBlock + 1);
    expect(faults).toEqual([
      {
        reason: expect.any(String),
        throughBlock,
        message: expect.stringContaining("the honesty record ends at a damaged row"),
      },
    ]);
  },
);
