/** Orders for a size: exactly these coins, with or without a margin that bounds them. */
import { describe, expect, test } from "vitest";
import { BTC, type Listing } from "./listing.js";
import { RestoredVenue } from "./restored-venue.js";
import type { Trader } from "./trader.js";

/** A venue at $50,000 where Mara asks one coin at each of these prices, and bids at those. */
function venueWith(
  book: { asks?: readonly number[]; bids?: readonly number[] } = {},
  listing: Listing = BTC,
) {
  const venue = new RestoredVenue({ markets: [listing] });
  const mara = venue.trader("mara", 1_000_000);
  const alice = venue.trader("alice", 100_000);
  for (const price of book.asks ?? []) mara.sells("limit", { size: 1, leverage: 1, price });
  for (const price of book.bids ?? []) mara.buys("limit", { size: 1, leverage: 1, price });
  return { venue, mara, alice };
}

/** A tenth as many lots per coin: a tick of each is worth ten micros. */
const COARSE: Listing = {
  ...BTC,
  lotsPerCoin: 10_000,
  config: { ...BTC.config, microsPerTickLot: 10 },
};

describe("size", () => {
  test("market: takes these coins up the book, whatever they cost", () => {
    const { alice } = venueWith({ asks: [50_000, 50_100, 50_200] });
    const answer = alice.buys("market", { size: 2.5 });
    expect(answer).toMatchObject({ status: "filled", filled: 2.5, remaining: 0, spent: 125_200 });
    expect(alice.position().size).toBe(2.5);
  });

  test("market: what the book lacks is canceled, remaining in coins", () => {
    const { alice } = venueWith({ asks: [50_000] });
    expect(alice.buys("market", { size: 1.5 })).toMatchObject({
      status: "canceled",
      reason: "book_empty",
      filled: 1,
      remaining: 0.5,
    });
  });

  test("limit and stop: these coins rest and wait; a short that crosses has no fewer", () => {
    const { alice } = venueWith({ bids: [50_000] });
    expect(alice.buys("limit", { size: 0.3, price: 49_000 })).toMatchObject({
      status: "resting",
      remaining: 0.3,
    });
    expect(alice.buys("stop", { size: 0.4, price: 51_000 })).toMatchObject({
      status: "pending",
      remaining: 0.4,
    });
    expect(alice.sells("limit", { size: 1.2, price: 49_500 })).toMatchObject({
      status: "resting",
      filled: 1,
      remaining: 0.2,
    });
  });

  test("reduceOnly: clamped to the position", () => {
    const { alice } = venueWith({ asks: [50_000], bids: [49_990] });
    alice.buys("market", { size: 0.5 });
    const answer = alice.sells("market", { size: 20, reduceOnly: true });
    expect(answer).toMatchObject({ status: "filled", filled: 0.5, remaining: 0 });
    expect(alice.position().size).toBe(0);
  });

  test("the wallet must pay for it; the refusal names margin and size that pass", () => {
    const { alice } = venueWith({ asks: [50_000] });
    // m + 10·m·0.05 % ≤ 100,000: m = 99,502.487562, which buys 19.90049 coins at 50,000.
    const answer = alice.buys("limit", { size: 20, price: 50_000 });
    expect(answer).toMatchObject({
      status: "refused",
      reason: "insufficient_margin",
      details: [99_502_487_562, 1_990_049],
    });
    expect(alice.buys("limit", { size: 19.90049, price: 50_000 }).status).toBe("resting");
  });

  test("below the market's least notional, counted by lots × price: refused, exits excepted", () => {
    const dear = { ...BTC, config: { ...BTC.config, minNotionalMicros: 10_000_000 } };
    const venue = new RestoredVenue({ markets: [dear] });
    const [mara, alice] = [venue.trader("mara", 100_000), venue.trader("alice", 100_000)];
    expect(alice.buys("limit", { size: 0.00019, price: 50_000 })).toMatchObject({
      reason: "notional_too_small",
      details: [10_000_000, 0],
    });
    mara.sells("limit", { size: 0.0003, price: 50_000 });
    expect(alice.buys("limit", { size: 0.0003, price: 50_000 }).status).toBe("filled");
    mara.buys("limit", { size: 0.0003, price: 50_000 });
    expect(alice.sells("market", { size: 0.0001 }).status).toBe("filled");
    expect(alice.sells("market", { size: 0.0001 }).status).toBe("filled");
    // One lot more than the position is not an exit.
    expect(alice.sells("market", { size: 0.00011 }).reason).toBe("notional_too_small");
  });
});

describe("size with margin", () => {
  test("limit and stop: refused if the margin does not suffice, which is named", () => {
    const { alice } = venueWith();
    const limit = { size: 1, leverage: 7, price: 50_000 };
    // ⌈50,000 ÷ 7⌉ to the micro.
    const needed = 7_142_857_143;
    expect(alice.buys("limit", { ...limit, margin: 7_142.857142 })).toMatchObject({
      reason: "margin_too_small",
      details: [needed, 0],
    });
    expect(alice.buys("limit", { ...limit, margin: 7_142.857143 }).status).toBe("resting");
    const stop = { size: 1, leverage: 10, price: 51_000 };
    expect(alice.buys("stop", { ...stop, margin: 5_099 })).toMatchObject({
      reason: "margin_too_small",
      details: [5_100_000_000, 0],
    });
    expect(alice.buys("stop", { ...stop, margin: 5_100 }).status).toBe("pending");
  });

  test("only what opens needs margin", () => {
    const { alice } = venueWith({ asks: [50_000] });
    alice.buys("market", { size: 1 });
    expect(alice.sells("limit", { size: 1.5, margin: 2_524, price: 50_500 }).reason).toBe(
      "margin_too_small",
    );
    // Half a coin opens: 25,250 ÷ 10.
    const answer = alice.sells("limit", { size: 1.5, margin: 2_525, price: 50_500 });
    expect(answer).toMatchObject({ status: "resting", remaining: 1.5 });
  });

  test("a limit order filled in parts takes all of its lots for exactly the margin needed", () => {
    const { mara, alice } = venueWith();
    alice.buys("limit", { size: 0.00003, leverage: 7, margin: 0.214286, price: 50_000 });
    for (let i = 0; i < 3; i++) mara.sells("market", { size: 0.00001 });
    expect(alice.position().size).toBe(0.00003);
  });

  test("filled in parts: each part's margin rounds up, but for a limit order only their sum's", () => {
    // A lot takes a seventh of 0.5 dollars, 0.071429 rounded up: three of them 0.214287.
    const rows: [type: "market" | "stop" | "limit" | "stop-limit", number, filled: number][] = [
      ["market", 0.214286, 0.00002],
      ["market", 0.214287, 0.00003],
      ["stop", 0.214286, 0.00002],
      ["stop", 0.214287, 0.00003],
      ["limit", 0.214286, 0.00003],
      ["stop-limit", 0.214286, 0.00003],
    ];
    for (const [type, margin, filled] of rows) {
      const { venue, mara, alice } = venueWith();
      venue.index(50_100);
      const terms = { size: 0.00003, leverage: 7, margin, price: 50_000 };
      const exit = { ...terms, takeProfit: true };
      if (type === "stop") alice.buys("stop", exit);
      if (type === "stop-limit") alice.buys("stop", { ...exit, limit: 50_000 });
      for (let i = 0; i < 3; i++) mara.sells("limit", { size: 0.00001, price: 50_000 });
      venue.index(50_000);
      venue.tick();
      if (type === "market" || type === "limit") alice.buys(type, terms);
      expect([type, margin, alice.position().size]).toEqual([type, margin, filled]);
    }
  });

  test.each([BTC, COARSE])("market: what the margin does not pay for is canceled", (listing) => {
    const { alice } = venueWith({ asks: [50_000, 50_100] }, listing);
    const answer = alice.buys("market", { size: 2, margin: 7_505 });
    // 5,000 for the first coin; 2,505 × 10 ÷ 50,100 = 0.5 of the second.
    expect(answer).toMatchObject({
      status: "canceled",
      reason: "margin_spent",
      filled: 1.5,
      remaining: 0.5,
    });
    expect(alice.position().size).toBe(1.5);
  });

  test("a stop that triggers above its price opens what its margin allows", () => {
    const { venue, alice } = venueWith({ asks: [51_500] });
    const stop = alice.buys("stop", { size: 1, margin: 5_100, price: 51_000 });
    venue.index(51_200);
    venue.tick();
    // 51,000 ÷ 51,500 of a coin, down to a lot.
    expect(alice.position().size).toBe(0.99029);
    expect(venue.endedWithRest()).toContainEqual([stop.orderId, "margin_spent", 0.00971]);
  });

  test.each([
    [BTC, 1.99608],
    [COARSE, 1.996],
  ])("a stop-limit that rests: what it took at its trigger counts", (listing, size) => {
    const { venue, mara, alice } = venueWith({ asks: [51_100] }, listing);
    alice.buys("stop", { size: 2, margin: 10_200, price: 51_000, limit: 51_100 });
    venue.index(51_000);
    venue.tick();
    expect([alice.position().size, alice.openOrders()]).toEqual([1, 1]);
    mara.sells("limit", { size: 1, leverage: 1, price: 51_100 });
    // (102,000 − 51,100) ÷ 51,100 of the second coin, down to a lot.
    expect(alice.position().size).toBe(size);
  });
});

describe("size with the session's maxOrderNotional", () => {
  function capped(trader: Trader, dollars: number): void {
    trader.signsIn({ maxOrderNotionalMicros: dollars * 1_000_000 });
  }

  test("bounds lots × price at placement", () => {
    const { alice } = venueWith();
    capped(alice, 50_000);
    expect(alice.buys("limit", { size: 1.00001, price: 50_000 })).toMatchObject({
      reason: "session_order_cap_exceeded",
      details: [50_000_000_000, 0],
    });
    expect(alice.buys("limit", { size: 1, price: 50_000 }).status).toBe("resting");
  });

  test("bounds the sum of its fills: a market order stops, its rest is canceled", () => {
    const { mara, alice } = venueWith();
    mara.sells("limit", { size: 0.5, price: 50_000 });
    mara.sells("limit", { size: 1, price: 51_000 });
    capped(alice, 50_000);
    const answer = alice.buys("market", { size: 1 });
    // 25,000 for the first half; 25,000 ÷ 51,000 = 0.49019 of the second.
    expect(answer).toMatchObject({
      status: "canceled",
      reason: "session_order_cap_exceeded",
      filled: 0.99019,
      remaining: 0.00981,
    });
  });

  test("an exit is not bounded, but what it would open once the position is gone is", () => {
    const { venue, mara, alice } = venueWith({ asks: [50_000, 50_000] });
    alice.buys("market", { size: 2 });
    capped(alice, 60_000);
    const exit = alice.sells("limit", { size: 2, price: 51_000 });
    expect(exit.status).toBe("resting");
    // The position is closed elsewhere: the resting order would open now.
    mara.buys("limit", { size: 2, price: 50_000 });
    alice.sells("market", { size: 2 });
    expect(alice.position().size).toBe(0);
    expect(mara.buys("market", { size: 2 }).filled).toBe(1.17647);
    expect(venue.endedWithRest()).toContainEqual([
      exit.orderId,
      "session_order_cap_exceeded",
      0.82353,
    ]);
  });
});
