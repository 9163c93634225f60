/** How many open orders an account may have in all: 20, and one for each 10 dollars of its equity. */
import { describe, expect, test } from "vitest";
import { BTC, ETH } from "./listing.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

const STOP = { size: 0.001, leverage: 50, price: 45_000 };

/** Places stops until one is refused; the refused one's answer and how many were placed. */
function fills(trader: Trader, most = 600): { placed: number; reason: string; details: unknown } {
  for (let placed = 0; placed < most; placed++) {
    const answer = trader.sells("stop", STOP);
    if (answer.status === "refused") {
      return { placed, reason: answer.reason, details: answer.details };
    }
  }
  throw new Error("none was refused");
}

describe("open orders by equity", () => {
  test.each([
    { dollars: 0, most: 20 },
    { dollars: 9.999999, most: 20 },
    { dollars: 10, most: 21 },
    { dollars: 105, most: 30 },
  ])("$dollars dollars: $most", ({ dollars, most }) => {
    const alice = new Venue().trader("alice", dollars);
    expect(fills(alice)).toEqual({
      placed: most,
      reason: "too_many_orders",
      details: [most, most],
    });
  });

  test("version 2: as many as a market allows", () => {
    const alice = new Venue({ version: 2, config: { maxOpenOrders: 40 } }).trader("alice", 1);
    expect(fills(alice)).toMatchObject({ placed: 40, reason: "open_order_limit" });
  });

  test("orders of all markets count; what they reserve is equity", () => {
    const venue = new Venue({ markets: [BTC, ETH] });
    const alice = venue.trader("alice", 30);
    for (let i = 0; i < 13; i++) {
      expect(
        alice.buys("limit", { size: 0.01, leverage: 50, price: 2_000, market: ETH }).status,
      ).toBe("resting");
    }
    expect(fills(alice)).toEqual({ placed: 10, reason: "too_many_orders", details: [23, 23] });
    expect(alice.buys("limit", { size: 0.01, price: 2_000, market: ETH }).reason).toBe(
      "too_many_orders",
    );
  });

  test("a profit counts, a loss does, and what falls below ends none", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 30);
    venue.trader("bob", 10_000).sells("limit", { size: 0.01, price: 50_000 });
    alice.buys("market", { size: 0.01, leverage: 20 });
    venue.index(51_000);
    venue.tick();
    // 30 dollars, a fee of 0.25, and 10 of profit.
    expect(fills(alice)).toMatchObject({ placed: 23, details: [23, 23] });
    venue.index(49_000);
    venue.tick();
    expect(alice.openOrders()).toBe(23);
    expect(alice.sells("stop", { ...STOP, price: 44_000 })).toMatchObject({ details: [21, 23] });
  });

  test("an order with exits needs places for all three; what takes none is never refused for it", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 35);
    const bob = venue.trader("bob", 100_000);
    bob.sells("limit", { size: 1, price: 50_000 });
    for (let i = 0; i < 21; i++) expect(alice.sells("stop", STOP).status).toBe("pending");
    const entry = { size: 0.001, leverage: 50, price: 49_000, profitAt: 52_000, lossAt: 48_000 };
    expect(alice.buys("limit", entry)).toMatchObject({ reason: "too_many_orders" });
    expect(alice.buys("market", { size: 0.001, leverage: 50 }).status).toBe("filled");
  });

  test("closePosition is always accepted: nobody is without a protection", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 5);
    venue.trader("bob", 10_000).sells("limit", { size: 0.01, price: 50_000 });
    alice.buys("market", { size: 0.001, leverage: 50 });
    fills(alice);
    expect(alice.sells("stop", { price: 49_500, closePosition: true }).status).toBe("pending");
    const reducing = { size: 0.001, leverage: 50, price: 49_500, reduceOnly: true };
    expect(alice.sells("stop", reducing).reason).toBe("too_many_orders");
  });

  test("amendments need no place", () => {
    const alice = new Venue().trader("alice");
    const { orderId } = alice.sells("stop", STOP);
    fills(alice);
    expect(alice.amends(orderId, { price: 44_000 }).status).toBe("pending");
  });
});
