/** A venue whose rows the store's thread makes: what is read right after a command, and what is on disk. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { Random } from "@perpgate/protocol/random";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { pastOf, trade, traded } from "../testing/traded-venue.js";
import { verifyStore } from "../verify/store-verify.js";
import { verify } from "../verify/verify.js";
import { FollowedHistory } from "./followed-history.js";
import { openEnvironment } from "./history-environment.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

const IN_THREAD = { commit: "thread" } as const;

test("a list that is read right after an order has it, each time; a retry waits for nothing", async () => {
  const driver = await TestVenue.open(folder, IN_THREAD);
  const { sessions } = await traded(driver);
  const [maker = 0, taker = 0] = sessions;
  const { views, history } = driver.venue;
  for (let nonce = 500; nonce < 560; nonce++) {
    const resting = await driver.order(maker, nonce, "short", 650_010, 20);
    const { seq } = await driver.order(taker, nonce, "long", 650_010, 20);
    // In the same turn: the acknowledgement, and an order that has ended.
    expect(views.acknowledgement(seq)?.acknowledgement.nonce).toBe(nonce);
    expect(views.order(1, resting.seq)?.status).toBe("filled");
    expect(views.order(2, seq)?.status).toBe("filled");
    await history.reached();
    expect(views.fills(2, { limit: 1 })[0]?.orderId).toBe(String(seq));
    expect(views.orders(2, { limit: 1 })[0]?.orderId).toBe(String(seq));
    expect(views.trades("BTCUSD", { limit: 1 })?.[0]?.id).toBe(`${seq}-0`);
    expect(views.ledger(2, { limit: 1 })[0]?.time).toBe(views.timeMs);
    expect(views.changesSince(2, seq - 1, 10).length).toBeGreaterThan(0);
  }
  const past = await pastOf(driver);
  await driver.venue.close();
  // Made by another replica, and written by this one, they are the same.
  const again = await TestVenue.open(folder);
  expect(await pastOf(again)).toEqual(past);
  await again.venue.close();
  expect((await verify(folder)).fault).toBeNull();
});

test("a block that the thread has with another hash: the venue stops and names it", async () => {
  const driver = await TestVenue.open(folder, IN_THREAD);
  const { venue } = driver;
  const { history } = venue;
  if (!(history instanceof FollowedHistory)) throw new Error("its rows are made here");
  let number = 0;
  let own = "";
  venue.observe({
    onCommand: () => {
      const { hash } = history.block(number + 1) ?? {};
      if (hash === undefined) return;
      number++;
      own = hash.toString("hex");
    },
  });
  await driver.signIn(1);
  await driver.tick();
  expect(number).toBeGreaterThan(0);
  const slice = { bytes: new Uint8Array(0), count: 0, held: history.durable };
  const blockHash = "ab".repeat(32);
  history.onMade({ ...slice, block: number, blockHash });
  expect((await venue.failed).message).toBe(
    `the replicas differ: block ${number} is ${own} here and ${blockHash} in the store's thread`,
  );
  await venue.abandon();
});

test("another tool locks the store: rows are read as before, and written once it is gone", async () => {
  const driver = await TestVenue.open(folder, IN_THREAD);
  const { sessions } = await traded(driver);
  const { history, views } = driver.venue;
  await history.flush();
  const other = openEnvironment(join(folder, "history"), false);
  onTestFinished(() => {
    if (other.isOpen) other.close();
  });
  other.exec("BEGIN IMMEDIATE");
  const { position } = history.durable;
  await trade(driver, sessions, 300);
  await history.reached();
  expect(views.fills(2, { limit: 1_000 })).toHaveLength(80);
  expect(history.durable.position).toBe(position);
  expect(history.backlog).toBeGreaterThan(0);
  other.close();
  await history.flush();
  expect(history.durable.position).toBe(driver.venue.seq);
  expect(history.backlog).toBe(0);
  expect(views.fills(2, { limit: 1_000 })).toHaveLength(80);
  await driver.venue.close();
  expect((await verify(folder)).fault).toBeNull();
});

/** The store's threads that are started from now on; the one that writes is a thread of theirs. */
function storeThreads(): readonly Worker[] {
  const threads: Worker[] = [];
  const onWorker = (worker: Worker): void => {
    if (worker.threadName === "store") threads.push(worker);
  };
  process.on("worker", onWorker);
  onTestFinished(() => void process.off("worker", onWorker));
  return threads;
}

const SEED = Number(process.env.PERPGATE_SEED ?? Date.now() % 1_000_000);

test(`the store's thread is killed again and again, seed ${SEED}: the venue stops, and no row is missing or double`, async () => {
  const random = new Random(SEED);
  const threads = storeThreads();
  const first = await TestVenue.open(folder, IN_THREAD);
  const { sessions } = await traded(first);
  await first.venue.close();
  const [maker = 0, taker = 0] = sessions;
  for (let nonce = 100; nonce < 400; nonce += 100) {
    const driver = await TestVenue.open(folder, IN_THREAD);
    const { venue } = driver;
    const orders = 1 + random.below(30);
    for (let i = 0; i < orders; i++) {
      void driver.order(maker, nonce + i, "short", 650_010, 20);
      await driver.order(taker, nonce + i, "long", 650_010, 20);
      if (i % 8 === 0) await driver.tick();
    }
    // Half of the times what was passed to it is on its way to the disk.
    if (random.chance(0.5)) void venue.history.flush().catch(() => undefined);
    await threads.at(-1)?.terminate();
    expect((await venue.failed).message).toMatch(/^the store thread ended/);
    await venue.close();
  }
  const last = await TestVenue.open(folder);
  const past = await pastOf(last);
  await last.venue.close();
  expect((await verifyStore(folder)).agrees).toBe(true);
  rmSync(join(folder, "history"), { recursive: true });
  const replayed = await TestVenue.open(folder);
  const expected = await pastOf(replayed);
  expect(expected.fills[1]?.length).toBeGreaterThan(40);
  expect(past).toEqual(expected);
  await replayed.venue.close();
});
