/** How margin × leverage becomes a size, and where an order stops. */
import { describe, expect, test } from "vitest";
import type { Trader, Words } from "./trader.js";
import { Venue } from "./venue.js";

/** A venue at $50,000 where Mara asks and bids one coin at each of these prices. */
function venueWith(book: { asks?: readonly number[]; bids?: readonly number[] }) {
  const venue = new Venue();
  const mara = venue.trader("mara", 1_000_000);
  const alice = venue.trader("alice", 100_000);
  for (const price of book.asks ?? []) mara.sells("limit", { margin: price, leverage: 1, price });
  for (const price of book.bids ?? []) mara.buys("limit", { margin: price, leverage: 1, price });
  return { venue, mara, alice };
}

describe("size: what margin × leverage buys", () => {
  // margin × leverage ÷ price, rounded down to 0.00001 coins.
  const rows: [Words, "long" | "short", number, number, number, number][] = [
    ["limit", "long", 1_000, 10, 50_000, 0.2],
    ["limit", "long", 1_000, 10, 49_999.9, 0.2], // 0.2000004
    ["limit", "long", 1_000, 10, 50_000.1, 0.19999], // 0.1999996
    ["limit", "short", 1_000, 10, 50_000, 0.2],
    ["stop", "long", 1_000, 10, 51_000, 0.19607], // 10,000 ÷ 51,000 = 0.196078
    ["stop", "short", 1_000, 10, 49_000, 0.20408],
    ["limit", "long", 0.5, 1, 50_000, 0.00001],
  ];
  for (const [type, side, margin, leverage, price, size] of rows) {
    test(`${type} ${side}: $${margin} at ${leverage}× and $${price} is ${size} coins`, () => {
      const { alice } = venueWith({});
      const terms = { margin, leverage, price };
      const answer = side === "long" ? alice.buys(type, terms) : alice.sells(type, terms);
      expect(answer).toMatchObject({ filled: 0, remaining: size });
    });
  }

  test("below one lot: refused", () => {
    const { alice } = venueWith({ asks: [50_000] });
    const terms = { margin: 0.499999, leverage: 1 };
    for (const type of ["market", "limit"] as const) {
      const answer = alice.buys(type, { ...terms, price: type === "limit" ? 50_000 : 0 });
      expect(answer).toMatchObject({ status: "refused", reason: "size_below_lot" });
    }
    // At the mark a lot costs $0.50; the best ask decides, not the mark.
    expect(alice.buys("market", { margin: 0.5, leverage: 1 })).toMatchObject({ status: "filled" });
  });

  test("a short that crosses is sized at the better price, the best bid", () => {
    const { alice } = venueWith({ bids: [51_000] });
    // 10,000 ÷ 50,000 would be 0.2 and cost more than 10,000 at $51,000.
    const answer = alice.sells("limit", { margin: 1_000, price: 50_000 });
    expect(answer).toMatchObject({ status: "filled", filled: 0.19607, spent: 9_999.57 });
  });

  test("a short above the best bid is sized at its own price", () => {
    const { alice } = venueWith({ bids: [49_000] });
    const answer = alice.sells("limit", { margin: 1_000, price: 50_000 });
    expect(answer).toMatchObject({ status: "resting", remaining: 0.2 });
  });
});

describe("market orders", () => {
  test("spends the notional up the book, level by level", () => {
    const { alice } = venueWith({ asks: [50_000, 50_100] });
    // $75,000: one coin for 50,000, then ⌊25,000 ÷ 50,100⌋ = 0.49900 coins for 24,999.9.
    const answer = alice.buys("market", { margin: 7_500 });
    expect(answer).toMatchObject({ status: "filled", reason: "none", remaining: 0 });
    expect(answer).toMatchObject({ filled: 1.499, spent: 74_999.9, fee: 37.49995 });
  });

  test("an empty book: nothing filled, canceled, remaining at the mark", () => {
    const { alice } = venueWith({});
    const answer = alice.buys("market", { margin: 1_000 });
    expect(answer).toMatchObject({ status: "canceled", reason: "book_empty" });
    expect(answer).toMatchObject({ filled: 0, remaining: 0.2 });
  });

  test("the book runs out: the rest is canceled, ⌊unspent ÷ mark⌋", () => {
    const { alice } = venueWith({ asks: [50_000] });
    const answer = alice.buys("market", { margin: 7_500 });
    expect(answer).toMatchObject({ status: "canceled", reason: "book_empty" });
    expect(answer).toMatchObject({ filled: 1, remaining: 0.5 });
  });

  test("left with less than a lot's money: filled", () => {
    const { alice } = venueWith({ asks: [50_000] });
    // $50,000.40: one coin, then $0.40 where a lot costs $0.50.
    const answer = alice.buys("market", { margin: 5_000.04 });
    expect(answer).toMatchObject({ status: "filled", reason: "none", filled: 1, remaining: 0 });
  });

  test("only its own order within its money: nothing filled, canceled, never `filled` with 0", () => {
    const { alice, mara } = venueWith({});
    alice.sells("limit", { margin: 0.6, leverage: 1, price: 50_000 });
    mara.sells("limit", { margin: 0.6, leverage: 1, price: 52_000 });
    const answer = alice.buys("market", { margin: 0.51, leverage: 1 });
    expect(answer).toMatchObject({ status: "canceled", reason: "below_lot" });
    expect(answer).toMatchObject({ filled: 0, remaining: 0.00001 });
  });

  test("stops at the band: mark ± 5 %", () => {
    const { alice, mara, venue } = venueWith({ asks: [52_500, 52_500.1] });
    const bought = alice.buys("market", { margin: 8_000 });
    expect(bought).toMatchObject({ status: "canceled", reason: "band", filled: 1 });
    // 80,000 − 52,500 = 27,500, at the mark of 50,000.
    expect(bought.remaining).toBe(0.55);
    mara.buys("limit", { margin: 5_000, leverage: 1, price: 47_499.9 });
    expect(venue.best().bid).toEqual([47_499.9, 0.10526]);
    const sold = alice.sells("market", { margin: 50_000, leverage: 1, reduceOnly: true });
    expect(sold).toMatchObject({ status: "canceled", reason: "band", filled: 0, remaining: 1 });
  });

  test("stops at its worst price, which is looked at before the band", () => {
    const { alice } = venueWith({ asks: [50_000, 50_100, 53_000] });
    const answer = alice.buys("market", { margin: 20_000, price: 50_050 });
    expect(answer).toMatchObject({ status: "canceled", reason: "worst_price", filled: 1 });
    expect(answer.remaining).toBe(3);
    const next = alice.buys("market", { margin: 6_000, price: 50_100 });
    expect(next).toMatchObject({ status: "canceled", reason: "worst_price", filled: 1 });
  });

  test("a worst price better than the whole book takes nothing", () => {
    const { alice } = venueWith({ bids: [49_000] });
    const answer = alice.sells("market", { margin: 1_000, price: 49_500 });
    expect(answer).toMatchObject({ status: "canceled", reason: "worst_price", filled: 0 });
  });
});

describe("limit orders and the price band", () => {
  const rows: ["buys" | "sells", number, string][] = [
    ["buys", 52_500, "none"],
    ["buys", 52_500.1, "price_outside_band"],
    ["buys", 5_000, "none"],
    ["buys", 4_999.9, "price_too_far"],
    ["sells", 47_500, "none"],
    ["sells", 47_499.9, "price_outside_band"],
    ["sells", 500_000, "none"],
    ["sells", 500_000.1, "price_too_far"],
  ];
  for (const [verb, price, reason] of rows) {
    test(`${verb} at $${price}: ${reason}`, () => {
      const { alice } = venueWith({});
      const answer = alice[verb]("limit", { margin: 1_000, price });
      expect(answer.reason).toBe(reason);
      if (reason === "price_outside_band") expect(answer.details).toEqual([500_000, 25_000]);
    });
  }

  test("fills what is at its price or better, the rest rests", () => {
    const { alice, venue } = venueWith({ asks: [50_000, 50_100] });
    const answer = alice.buys("limit", { margin: 10_000, price: 50_000 });
    expect(answer).toMatchObject({ status: "resting", filled: 1, remaining: 1 });
    expect(venue.best()).toEqual({ bid: [50_000, 1], ask: [50_100, 1] });
  });

  test("price-time: the better price first, then the older order", () => {
    const { venue, alice } = venueWith({});
    const [first, second, better]: Trader[] = ["first", "second", "better"].map((name) =>
      venue.trader(name, 10_000),
    );
    first!.sells("limit", { margin: 1_000, price: 50_100 });
    second!.sells("limit", { margin: 1_000, price: 50_100 });
    better!.sells("limit", { margin: 1_000, price: 50_000 });
    alice.buys("market", { margin: 5_000 });
    const makers = venue.happened("Traded").map((event) => event.makerAccount);
    expect(makers).toEqual([better!.account, first!.account, second!.account]);
  });
});

describe("orders of the wrong shape", () => {
  test("each is refused with its own reason", () => {
    const { alice, mara } = venueWith({});
    const terms = { margin: 1_000 };
    expect(alice.buys("limit", terms).reason).toBe("price_required");
    expect(alice.buys("stop", terms).reason).toBe("price_required");
    expect(alice.buys("market", { ...terms, postOnly: true }).reason).toBe("post_only_needs_limit");
    const stop = { ...terms, price: 51_000, postOnly: true };
    expect(alice.buys("stop", stop).reason).toBe("post_only_needs_limit");
    const steep = alice.buys("market", { ...terms, leverage: 51 });
    expect(steep).toMatchObject({ reason: "leverage_above_maximum", details: [50, 0] });
    expect(alice.buys("market", { ...terms, leverage: 0 }).reason).toBe("invalid_order");
    expect(alice.buys("market", { ...terms, leverage: 1.5 }).reason).toBe("invalid_order");
    expect(alice.buys("market", { margin: 0 }).reason).toBe("invalid_order");
    expect(alice.buys("market", { ...terms, nonce: -1 }).reason).toBe("invalid_order");
    // margin × leverage ≤ 10^15 micros: a billion dollars.
    const large = { margin: 100_000_000, price: 50_000 };
    expect(mara.buys("limit", large).reason).toBe("position_limit");
    const larger = { ...large, margin: 100_000_000.000001 };
    expect(mara.buys("limit", larger).reason).toBe("notional_limit");
  });
});
