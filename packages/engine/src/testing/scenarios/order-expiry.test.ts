/** Orders that expire, client ids, self-trades, and commands that come too late. */
import { describe, expect, test } from "vitest";
import { RestoredVenue } from "./restored-venue.js";
import type { Trader } from "./trader.js";
import type { Venue } from "./venue.js";

const DAY_MS = 86_400_000;

function twoTraders(version?: number): { venue: Venue; mara: Trader; alice: Trader } {
  const venue = new RestoredVenue({
    config: { maxOpenOrders: 2_000 },
    ...(version === undefined ? {} : { version }),
  });
  return { venue, mara: venue.trader("mara", 1_000_000), alice: venue.trader("alice", 100_000) };
}

describe("expiresAt", () => {
  test("1 second to 90 days ahead", () => {
    const { venue, alice } = twoTraders();
    const at = (ahead: number) =>
      alice.buys("limit", { size: 1, price: 49_000, expiresAt: venue.now + ahead });
    const range = [venue.now + 1_000, venue.now + 90 * DAY_MS];
    expect(at(999)).toMatchObject({ reason: "expiry_out_of_range", details: range });
    expect(at(90 * DAY_MS + 1)).toMatchObject({ reason: "expiry_out_of_range", details: range });
    expect(at(1_000).status).toBe("resting");
    expect(at(90 * DAY_MS).status).toBe("resting");
  });

  test("the tick at its time ends it, and its reserve returns", () => {
    const { venue, alice } = twoTraders();
    const wallet = alice.wallet;
    const order = alice.buys("limit", { size: 1, price: 49_000, expiresAt: venue.now + 1_000 });
    venue.waits(0.8);
    expect(alice.openOrders()).toBe(1);
    venue.tick();
    expect(venue.ended()).toEqual([[order.orderId, "expired"]]);
    expect(alice.wallet).toBe(wallet);
  });

  for (const [early, price] of [
    [1, 50_000],
    [0, 50_100],
  ] as const) {
    test(`a taker ${early} ms before it, between two ticks, buys at ${price}`, () => {
      const { venue, mara, alice } = twoTraders();
      const expiresAt = venue.now + 1_000;
      const order = mara.sells("limit", { size: 1, price: 50_000, expiresAt });
      mara.sells("limit", { size: 1, price: 50_100 });
      venue.waits(0.8);
      venue.apply({ ...alice.order(1, "market", { size: 1 }), stampMs: expiresAt - early });
      expect(venue.happened("Traded").map((trade) => trade.priceTicks)).toEqual([price * 10]);
      expect(venue.ended()[0]).toEqual([order.orderId, early === 0 ? "expired" : "none"]);
    });
  }

  test("before liquidations and stops: an expired order is not their counterpart", () => {
    const { venue, mara, alice } = twoTraders();
    const order = mara.sells("limit", { size: 1, price: 50_500, expiresAt: venue.now + 1_000 });
    alice.buys("stop", { size: 0.5, price: 50_200 });
    venue.waits(0.8);
    venue.index(50_300);
    venue.tick();
    expect(venue.ended()).toContainEqual([order.orderId, "expired"]);
    expect(alice.position().size).toBe(0);
  });

  test("version 2: at most 1,024 a tick, the soonest first; the others are not filled meanwhile", () => {
    const { venue, mara, alice } = twoTraders(2);
    const expiresAt = venue.now + 60_000;
    const ids: number[] = [];
    for (let i = 0; i < 1_030; i++) {
      const sooner = i >= 1_025 ? 1 : 0;
      const terms = { size: 0.0001, price: 50_000, expiresAt: expiresAt - sooner };
      ids.push(mara.sells("limit", terms).orderId);
    }
    venue.skipsTo(expiresAt);
    venue.tick();
    const soonest = [...ids.slice(1_025), ...ids.slice(0, 1_019)];
    expect(venue.ended().map(([id]) => id)).toEqual(soonest);
    expect(mara.openOrders()).toBe(6);
    expect(alice.buys("market", { size: 0.0001 })).toMatchObject({ reason: "book_empty" });
    expect(venue.ended()).toHaveLength(6);
  });

  test("an order that ended does not expire; a restored venue expires the same ones", () => {
    const { venue, mara } = twoTraders();
    const expiresAt = venue.now + 1_000;
    const terms = { size: 0.1, price: 51_000, expiresAt };
    const [gone, kept] = [mara.sells("limit", terms), mara.sells("limit", terms)];
    mara.cancels(gone.orderId);
    venue.restarts();
    venue.waits(0.8);
    venue.tick();
    expect(venue.ended()).toEqual([[kept.orderId, "expired"]]);
    expect(venue.engine.state.orders.extras.expiries.size).toBe(0);
  });

  test("in a halted market, too", () => {
    const { venue, mara } = twoTraders();
    mara.sells("limit", { size: 0.1, price: 51_000, expiresAt: venue.now + 1_000 });
    venue.controls("halt");
    venue.waits(1);
    expect(mara.openOrders()).toBe(0);
  });
});

describe("clientOrderId", () => {
  test("unique among the account's open orders, resting and pending, in all markets", () => {
    const { venue, mara, alice } = twoTraders();
    const mine = { size: 0.1, price: 49_000, clientOrderId: "grid-7" };
    const first = alice.buys("limit", mine);
    expect(alice.buys("limit", mine)).toMatchObject({
      reason: "client_order_id_in_use",
      details: [first.orderId, 0],
    });
    expect(alice.buys("stop", { ...mine, price: 51_000 }).reason).toBe("client_order_id_in_use");
    expect(alice.buys("market", { size: 0.1, clientOrderId: "grid-7" }).reason).toBe(
      "client_order_id_in_use",
    );
    expect(mara.buys("limit", mine).status).toBe("resting");
    alice.cancels(first.orderId);
    expect(alice.buys("limit", mine).status).toBe("resting");
    venue.restarts();
    expect(alice.buys("limit", mine).reason).toBe("client_order_id_in_use");
  });

  test("the acknowledgement and OrderExtended carry it", () => {
    const { venue, alice } = twoTraders();
    alice.buys("limit", { size: 0.1, price: 49_000, clientOrderId: "a" });
    expect(venue.happened("OrderAcknowledged")[0]?.client1).not.toBe(0);
    expect(venue.happened("OrderExtended")[0]?.client1).toBe(
      venue.happened("OrderAcknowledged")[0]?.client1,
    );
    alice.buys("limit", { size: 0.1, price: 49_000, timeInForce: "gtc" });
    expect(venue.happened("OrderAcknowledged")[0]?.client1).toBe(0);
    alice.buys("limit", { margin: 100, price: 49_000 });
    expect(venue.happened("OrderExtended")).toHaveLength(0);
    expect(venue.happened("OrderAcknowledged")[0]?.client1).toBe(0);
  });
});

describe("selfTrade", () => {
  const rows = [
    ["cancelResting", { status: "filled", filled: 1 }, 0],
    ["cancelTaker", { status: "canceled", reason: "self_trade", filled: 0 }, 1],
    ["cancelBoth", { status: "canceled", reason: "self_trade", filled: 0 }, 0],
  ] as const;
  for (const [selfTrade, answer, open] of rows) {
    test(`${selfTrade}: ${JSON.stringify(answer)}`, () => {
      const { mara, alice } = twoTraders();
      alice.sells("limit", { size: 1, price: 50_000 });
      mara.sells("limit", { size: 1, price: 50_100 });
      expect(alice.buys("limit", { size: 1, price: 50_100, selfTrade })).toMatchObject(answer);
      expect(alice.openOrders()).toBe(open);
    });
  }

  test("a stop keeps its choice", () => {
    const { venue, alice } = twoTraders();
    alice.sells("limit", { size: 1, price: 51_000 });
    const stop = alice.buys("stop", { size: 1, price: 50_500, selfTrade: "cancelTaker" });
    venue.index(50_600);
    venue.tick();
    expect(venue.ended()).toEqual([[stop.orderId, "self_trade"]]);
    expect(alice.openOrders()).toBe(1);
  });
});

describe("validUntil", () => {
  test("an order or a cancel whose log time is later is refused", () => {
    const { venue, alice } = twoTraders();
    const terms = { size: 0.1, price: 49_000 };
    expect(alice.buys("limit", { ...terms, validUntil: venue.now - 1 })).toMatchObject({
      reason: "too_late",
      details: [venue.now, 0],
    });
    const order = alice.buys("limit", { ...terms, validUntil: venue.now });
    expect(order.status).toBe("resting");
    expect(alice.cancels(order.orderId, venue.now - 1)).toBe("too_late");
    expect(alice.cancels(order.orderId, venue.now)).toBeNull();
  });

  test("an executed order stays a replay, however late", () => {
    const { venue, alice } = twoTraders();
    const order = alice.order(1, "limit", { size: 0.1, price: 49_000, validUntil: venue.now });
    venue.apply(order);
    venue.waits(1);
    venue.apply(order);
    expect(venue.happened("OrderReplayed")).toHaveLength(1);
  });
});
