/** Reads of the past while a thread reads the store: what is written meanwhile, and a disk that does not answer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { pastOf, trade, traded } from "../testing/traded-venue.js";
import { openEnvironment } from "./history-environment.js";
import type { PastRead } from "./store-read.js";

const CHILD = fileURLToPath(new URL("../../dist/testing/stuck-reader-child.js", import.meta.url));

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

const IN_THREAD = { commit: "thread" } as const;
const ALL = { limit: 1_000 } as const;

/** Holds the lock without which nothing is written. */
function lockStore() {
  const other = openEnvironment(join(folder, "history"), false);
  onTestFinished(() => {
    if (other.isOpen) other.close();
  });
  other.exec("BEGIN IMMEDIATE");
  return other;
}

async function complete<T>(read: PastRead, work: () => T): Promise<T> {
  for (;;) {
    const ran = read.run(work);
    if (ran.isDone) return ran.value;
    await ran.fetched;
  }
}

test("rows that are written between a read's fetch and its next run: none is missing or double", async () => {
  const driver = await TestVenue.open(folder, IN_THREAD);
  const { sessions } = await traded(driver);
  const { history, views } = driver.venue;
  await history.flush();
  const lock = lockStore();
  await trade(driver, sessions, 100);
  await history.reached();
  const read = history.beginRead();
  const fills = () => views.fills(2, ALL);
  const first = read.run(fills);
  if (first.isDone) throw new Error("nothing was fetched");
  // The store has the first forty then.
  await first.fetched;
  expect(history.durable.position).toBeLessThan(driver.venue.seq);
  lock.close();
  await history.flush();
  expect(history.backlog).toBe(0);
  const second = read.run(fills);
  if (!second.isDone) throw new Error("rows are missing");
  read.end();
  expect(second.value).toEqual(fills());
  expect(new Set(second.value.map(({ id }) => id)).size).toBe(80);
  await driver.venue.close();
});

test("rows that are written between a read's beginning and its fetch: none is missing or double", async () => {
  const driver = await TestVenue.open(folder, IN_THREAD);
  const { sessions } = await traded(driver);
  const { history, views } = driver.venue;
  await history.flush();
  const lock = lockStore();
  await trade(driver, sessions, 100);
  await history.reached();
  const read = history.beginRead();
  lock.close();
  // The store has all rows, and memory still has the second forty.
  await history.flush();
  const ledger = () => views.ledger(2, ALL);
  const found = await complete(read, ledger);
  read.end();
  expect(found).toEqual(ledger());
  expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
  await driver.venue.close();
});

test("a page that takes several fetches while rows come: as if it were read at its end", async () => {
  const driver = await TestVenue.open(folder, IN_THREAD);
  const { sessions } = await traded(driver);
  const { history, views } = driver.venue;
  for (const nonce of [100, 200, 300, 400, 500, 600]) await trade(driver, sessions, nonce);
  await history.flush();
  // More rows than one fetch reads.
  const trades = () => views.trades("BTCUSD", { limit: 1_000, after: "0" });
  const read = history.beginRead();
  const first = read.run(trades);
  if (first.isDone) throw new Error("nothing was fetched");
  await first.fetched;
  const second = read.run(trades);
  if (second.isDone) throw new Error("one fetch was enough");
  await trade(driver, sessions, 700);
  await history.flush();
  await second.fetched;
  const found = await complete(read, trades);
  read.end();
  expect(found).toHaveLength(320);
  expect(found).toEqual(trades());
  await driver.venue.close();
});

test("every list: through the thread the same as from the store itself", async () => {
  const driver = await TestVenue.open(folder, IN_THREAD);
  await traded(driver);
  const { history, views } = driver.venue;
  await history.flush();
  const direct = await pastOf(driver);
  expect(
    await history.read(() => ({
      fills: [1, 2].map((account) => views.fills(account, ALL)),
      orders: [1, 2].map((account) => views.orders(account)),
      ledger: views.ledger(2, ALL),
      trades: views.trades("BTCUSD", ALL),
      candles: views.candles("BTCUSD", "1m", { limit: 10 }),
      block: views.block(1),
    })),
  ).toEqual(direct);
  const { timeMs } = views;
  const timed = { ...ALL, from: timeMs - 1_000, to: timeMs };
  expect(await history.read(() => views.fills(2, timed))).toEqual(views.fills(2, timed));
  const id = Number(direct.orders[0]?.at(-1)?.orderId);
  const order = await history.read(() => views.order(1, id));
  expect(order?.status).toBe("filled");
  expect(order).toEqual(views.order(1, id));
  const named = { nonce: 3 };
  const found = await history.read(() => views.ordersNamed(1, named));
  expect(found.rows).toHaveLength(1);
  expect(found).toEqual(views.ordersNamed(1, named));
  await driver.venue.close();
});

test("the store does not answer a read: orders go on, it is lagging, further ones are refused, and the venue closes", async () => {
  const child = spawn(process.execPath, [CHILD, folder], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    said.push(line);
    // The process itself cannot end while its thread is in the store.
    if (line === "closed") child.kill("SIGKILL");
  });
  await once(lines, "close");
  expect(said).toEqual([
    // Four are asked of the thread, and 1,024 wait.
    "72 of 1100 refused at once: lagging",
    "20 orders acknowledged",
    "1028 refused: lagging",
    "closed",
  ]);
}, 180_000);
