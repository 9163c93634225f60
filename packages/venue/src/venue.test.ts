import { rm } from "node:fs/promises";
import { join } from "node:path";
import { STOP_ORDER } from "@perpgate/engine";
import { PLAIN_EXTRAS } from "@perpgate/engine/testing";
import { hexFromBytes, rootFromPath } from "@perpgate/protocol/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_PARAMETERS, venueConfigOf } from "./listing/venue-config.js";
import {
  acknowledged,
  orderCommand,
  removeFolder,
  START_MS,
  TEST_MARKETS,
  TestVenue,
  temporaryFolder,
  testOptions,
} from "./testing/test-venue.js";
import { Venue } from "./venue.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

/** Two traders, a resting order and one that takes half of it, a sealed block. */
async function trade(driver: TestVenue) {
  await driver.index();
  const maker = await driver.signIn(1);
  const taker = await driver.signIn(2);
  const rested = await driver.order(maker, 1, "short", 650_010, 200);
  const taken = await driver.order(taker, 1, "long", 650_010, 100);
  await driver.tick();
  return { maker, taker, rested, taken };
}

describe("a venue", () => {
  test("order: acknowledged in the wire's units, shown by every view, proven by its block", async () => {
    const driver = await TestVenue.open(folder);
    const { venue } = driver;
    const { rested, taken } = await trade(driver);
    const ack = acknowledged(taken.outcome);
    expect(ack).toMatchObject({
      ackNonce: String(taken.seq),
      symbol: "BTCUSD",
      side: "long",
      status: "filled",
      filledSize: 0.01538,
      avgFillPrice: 65001,
      expectedBlock: 1,
      reason: null,
    });
    expect(venue.views.fills(2, { limit: 10 })).toMatchObject([
      {
        orderId: String(taken.seq),
        kind: "order",
        liquidity: "taker",
        price: 65001,
        block: 1,
      },
    ]);
    expect(venue.views.fills(1, { limit: 10 })).toMatchObject([
      { orderId: String(rested.seq), liquidity: "maker", side: "short", size: 0.01538 },
    ]);
    expect(venue.views.trades("BTCUSD", { limit: 10 })).toMatchObject([
      { price: 65001, side: "long" },
    ]);
    expect(venue.views.candles("BTCUSD", "1m", { limit: 10 })).toMatchObject([
      { time: START_MS, open: 65001, close: 65001, volume: 0.01538, trades: 1 },
    ]);
    expect(venue.views.book("BTCUSD", 50)).toMatchObject({
      bids: [],
      asks: [[65001, 0.01538]],
    });
    expect(venue.views.openOrders(1)).toMatchObject([
      { orderId: String(rested.seq), status: "resting", filledSize: 0.01538 },
    ]);
    expect(venue.views.order(1, rested.seq)?.avgFillPrice).toBe(65001);
    expect(venue.views.order(2, rested.seq)).toBeUndefined();
    expect(venue.views.ordersNamed(2, { nonce: 1 }).rows).toMatchObject([
      { status: "filled", nonce: 1 },
    ]);
    expect(venue.views.positions(2)).toMatchObject([
      { symbol: "BTCUSD", side: "long", size: 0.01538, avgEntry: 65001, updatedAt: START_MS },
    ]);
    expect(venue.views.ticker("BTCUSD")).toMatchObject({
      last: 65001,
      volume24h: 0.01538,
      high24h: 65001,
      change24h: 0,
    });
    const proof = await venue.views.preconfirm(2, taken.seq);
    if (proof === undefined || proof === "not_sealed") throw new Error("no proof");
    // The time is next to the leaf, not in it.
    const { time: _, ...proven } = ack;
    expect(proof.ack).toEqual(proven);
    const block = venue.views.block(proof.block);
    if (block === undefined) throw new Error("no block");
    // Pinned: any changed byte of the events, the tree or the header changes it.
    expect(block.hash).toBe("0x0e471f0cc1b4777238d1816d50253a09b328ccbe18a089cc5ae7038ea4e72fae");
    const leaf = Buffer.from(proof.leaf.slice(2), "hex");
    expect(leaf).toEqual(venue.history.ack(taken.seq)?.leaf);
    const path = proof.path.map((hash) => Buffer.from(hash.slice(2), "hex"));
    const root = rootFromPath(leaf, proof.index, block.ackCount, path);
    expect(`0x${hexFromBytes(root!)}`).toBe(block.acksRoot);
    expect(await venue.views.preconfirm(1, taken.seq)).toBeUndefined();
    await venue.close();
  });

  test("preconfirm: not sealed before its block is", async () => {
    const driver = await TestVenue.open(folder);
    await driver.index();
    const session = await driver.signIn(1);
    const { seq } = await driver.order(session, 1, "long", 640_000);
    expect(await driver.venue.views.preconfirm(1, seq)).toBe("not_sealed");
    await driver.tick();
    expect(await driver.venue.views.preconfirm(1, seq)).toMatchObject({
      block: 1,
      index: 0,
      path: [],
    });
    await driver.venue.close();
  });

  test("open: after a restart shows the same venue and continues", async () => {
    const before = await TestVenue.open(folder);
    const { taker, taken } = await trade(before);
    const shown = snapshotOfViews(before.venue);
    await before.venue.close();
    const after = await TestVenue.open(folder);
    expect(snapshotOfViews(after.venue)).toEqual(shown);
    const session = after.venue.views.session(taker);
    if (session === undefined) throw new Error("the session is gone");
    expect(session.number).toBe(taker);
    const past = after.venue.views.acknowledgement(after.venue.views.seqOfNonce(session, 1));
    expect(past?.seq).toBe(taken.seq);
    expect(past?.acknowledgement).toEqual(acknowledged(taken.outcome));
    const again = await after.order(taker, 1, "long", 650_010, 100);
    expect(again.outcome).toEqual({ kind: "replayed", orderId: taken.seq });
    await after.venue.close();
  });

  test("open: a missing history is rebuilt the same", async () => {
    const before = await TestVenue.open(folder);
    await trade(before);
    const shown = snapshotOfViews(before.venue);
    await before.venue.close();
    await rm(join(folder, "history"), { recursive: true });
    const after = await TestVenue.open(folder);
    expect(snapshotOfViews(after.venue)).toEqual(shown);
    await after.venue.close();
  });

  test("open: a changed parameter is configured, a fixed one refused by its rule", async () => {
    const first = await TestVenue.open(folder);
    await first.venue.close();
    const wider = venueConfigOf(TEST_MARKETS, { ...DEFAULT_PARAMETERS, maxOpenOrders: 7 });
    const second = await TestVenue.open(folder, { config: wider });
    // Genesis, WriterJoined, WriterLeft; WriterJoined, Configure.
    expect(second.venue.seq).toBe(5);
    await second.venue.close();
    const third = await TestVenue.open(folder, { config: wider });
    // WriterLeft and WriterJoined.
    expect(third.venue.seq).toBe(7);
    await third.venue.close();
    const seed = venueConfigOf(TEST_MARKETS, { ...DEFAULT_PARAMETERS, fundSeed: 1 });
    const chain = venueConfigOf(TEST_MARKETS, { ...DEFAULT_PARAMETERS, attestorKind: "chain" });
    const finer = TEST_MARKETS.map((market) =>
      market.symbol === "BTCUSD" ? { ...market, tickSize: 0.01, lotSize: 0.0001 } : market,
    );
    await expect(Venue.open(testOptions(folder, { config: seed }))).rejects.toMatchObject({
      rule: "fund_seed_fixed",
    });
    await expect(Venue.open(testOptions(folder, { config: chain }))).rejects.toMatchObject({
      rule: "attestor_kind_fixed",
    });
    const options = testOptions(folder, { config: venueConfigOf(finer), listing: finer });
    await expect(Venue.open(options)).rejects.toMatchObject({ rule: "tick_fixed" });
    // Refusing left no lock behind and nothing in the log.
    const fourth = await TestVenue.open(folder, { config: wider });
    expect(fourth.venue.seq).toBe(9);
    await fourth.venue.close();
  });

  test("book: a stop that is triggered and rests at its limit is in it", async () => {
    const driver = await TestVenue.open(folder);
    const { views } = driver.venue;
    await driver.index();
    await driver.tick();
    const trader = await driver.signIn(1);
    const stop = await driver.submit({
      ...orderCommand(trader, 1, "long", 651_000, 100),
      type: STOP_ORDER,
      extras: { ...PLAIN_EXTRAS, limitTicks: 650_500 },
    });
    expect(acknowledged(stop.outcome).status).toBe("pending");
    expect(views.book("BTCUSD", 50)?.bids).toEqual([]);
    await driver.index(652_000);
    const triggered = await driver.tick();
    expect(views.order(1, stop.seq)?.status).toBe("resting");
    expect(views.book("BTCUSD", 50)?.bids).toMatchObject([[65050, expect.any(Number)]]);
    expect(views.bookChangedAt("BTCUSD")).toBe(triggered);
    await driver.venue.close();
  });

  test("deposits: after and before exclude the deposit that they name", async () => {
    const driver = await TestVenue.open(folder);
    const { venue } = driver;
    const session = await driver.signIn(1);
    const ids: string[] = [];
    for (const digit of ["1", "2", "3"]) {
      const { seq } = await driver.submit({
        kind: "RegisterDeposit",
        stampMs: START_MS,
        session,
        chain: "ethereum",
        txHash: digit.repeat(64),
        token: "USDC",
      });
      ids.push(String(seq));
    }
    const page = (query: object) =>
      venue.views.deposits(1, query).rows.map(({ depositId }) => depositId);
    const [first, second, third] = ids;
    expect(page({})).toEqual([third, second, first]);
    expect(page({ after: first })).toEqual([second, third]);
    expect(page({ after: second, limit: 1 })).toEqual([third]);
    expect(page({ after: third })).toEqual([]);
    expect(page({ before: third })).toEqual([second, first]);
    await venue.close();
  });

  test("close: later submitters get null", async () => {
    const { venue } = await TestVenue.open(folder);
    await venue.close();
    expect(venue.isStopped).toBe(true);
    await expect(
      venue.submitted({ kind: "Tick", slot: 1 }, { ...NOTHING }, () => undefined),
    ).rejects.toMatchObject({ name: "NotApplied", why: "stopped" });
  });
});

const nothing = new Uint8Array(0);
const NOTHING = { signed: nothing, signature: nothing, publicKey: nothing };

/** Everything that two accounts and the public see, except what depends on the time of the read. */
function snapshotOfViews({ views }: Venue) {
  const { seq: _, ...book } = views.book("BTCUSD", 100) ?? { seq: 0 };
  return {
    book: { ...book, block: 0 },
    ticker: views.ticker("BTCUSD"),
    trades: views.trades("BTCUSD", { limit: 1_000 }),
    candles: views.candles("BTCUSD", "5m", { limit: 1_000 }),
    accounts: [1, 2].map((account) => ({
      fills: views.fills(account, { limit: 1_000 }),
      orders: views.orders(account),
      open: views.openOrders(account),
      positions: views.positions(account),
    })),
    blocks: [1, 2].map((number) => views.block(number)),
  };
}
