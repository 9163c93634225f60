/** Money that a trader moves between its wallet and the margin of a position. */
import { describe, expect, test } from "vitest";
import { BTC, ETH } from "./listing.js";
import { RestoredVenue } from "./restored-venue.js";
import { START_MS, type Venue } from "./venue.js";

/** Alice is long one coin at $50,000 with $5,000 of margin; Bob is short, with $5,000, too. */
function aliceIsLong() {
  const venue = new RestoredVenue({ markets: [BTC, ETH] });
  const alice = venue.trader("alice", 10_000);
  const bob = venue.trader("bob", 100_000);
  bob.sells("limit", { margin: 5_000, price: 50_000 });
  alice.buys("limit", { margin: 5_000, price: 50_000 });
  return { venue, alice, bob };
}

/** What a refusal names, in dollars. */
function named(venue: Venue): number {
  return venue.happened("CommandRefused")[0]!.detail1 / 1_000_000;
}

describe("added margin", () => {
  test("leaves the wallet and moves the liquidation away", () => {
    const { venue, alice } = aliceIsLong();
    expect(alice.wallet).toBe(4_975);
    expect(alice.changesMargin(4_000)).toBeNull();
    expect([alice.wallet, alice.position().margin]).toEqual([975, 9_000]);
    expect(venue.happened("MarginChanged")).toMatchObject([
      { amountMicros: 4e9, marginMicros: 9e9, walletMicros: 975e6 },
    ]);
    // Without it she would be liquidated at 45,454.5: margin 5,000 − 4,600 < maintenance.
    venue.index(45_400);
    venue.tick();
    expect(alice.position().size).toBe(1);
    venue.index(41_300);
    venue.tick();
    expect(alice.position().size).toBe(0);
  });

  test("no more than the wallet has, which the refusal names", () => {
    const { venue, alice } = aliceIsLong();
    expect(alice.changesMargin(4_975.000001)).toBe("insufficient_margin");
    expect(named(venue)).toBe(4_975);
    expect(alice.changesMargin(4_975)).toBeNull();
    expect(alice.wallet).toBe(0);
  });

  test("is taken at a stale or held index and in a reduce-only market", () => {
    const { venue, alice } = aliceIsLong();
    venue.waits(11);
    expect(alice.changesMargin(1)).toBeNull();
    venue.refreshesIndex();
    venue.index(70_000);
    expect(alice.changesMargin(1)).toBeNull();
    venue.controls("reduceOnly");
    expect(alice.changesMargin(1)).toBeNull();
    venue.controls("halt");
    expect(alice.changesMargin(1)).toBe("market_halted");
  });
});

describe("removed margin", () => {
  test("down to what the largest leverage of the tier needs, to the micro", () => {
    const { venue, alice } = aliceIsLong();
    // 50,000 / 50 = 1,000; maintenance is 500.
    expect(alice.changesMargin(-4_000.000001)).toBe("margin_needed");
    expect(named(venue)).toBe(4_000);
    expect(alice.changesMargin(-4_000)).toBeNull();
    expect([alice.wallet, alice.position().margin]).toEqual([8_975, 1_000]);
    expect(alice.changesMargin(-0.000001)).toBe("margin_needed");
    expect(named(venue)).toBe(0);
    venue.tick();
    expect(alice.position().size).toBe(1);
  });

  test("a loss counts, a gain does not", () => {
    const { venue, alice, bob } = aliceIsLong();
    venue.index(51_000);
    // 51,000 / 50 = 1,020.
    expect(alice.changesMargin(-5_000)).toBe("margin_needed");
    expect(named(venue)).toBe(3_980);
    expect(bob.changesMargin(-5_000)).toBe("margin_needed");
    expect(named(venue)).toBe(2_980);
  });

  test("funding that is owed counts, and is settled first", () => {
    const { venue, alice, bob } = aliceIsLong();
    // Bids and asks above the index, by more than the impact notional, for an hour.
    bob.buys("limit", { margin: 5_000, price: 50_200 });
    const carol = venue.trader("carol", 100_000);
    carol.sells("limit", { margin: 5_000, price: 50_300 });
    for (let i = 0; i < 5; i++) {
      venue.tick();
      venue.refreshesIndex();
    }
    venue.skipsTo(START_MS + 3_600_000);
    venue.tick();
    const owed = 5_000 - alice.position().margin;
    expect(owed).toBeGreaterThan(0);
    const notional = venue.mark();
    const most = 5_000 - owed - notional / 50;
    expect(alice.changesMargin(-5_000)).toBe("margin_needed");
    expect(named(venue)).toBeCloseTo(most, 5);
    expect(alice.changesMargin(-named(venue))).toBeNull();
    expect(venue.events.map(({ kind }) => kind)).toEqual([
      "FundingSettled",
      "PositionSettled",
      "MarginChanged",
    ]);
    expect(alice.changesMargin(-0.000001)).toBe("margin_needed");
  });

  test("not at a stale, a held or an awaited index, nor in a reduce-only market", () => {
    const { venue, alice } = aliceIsLong();
    venue.waits(10.2);
    expect(alice.changesMargin(-1)).toBe("stale_index");
    venue.refreshesIndex();
    venue.index(70_000);
    expect(alice.changesMargin(-1)).toBe("index_held");
    venue.index(50_000);
    venue.resumes(venue.now + 1_000);
    expect(alice.changesMargin(-1)).toBe("stale_index");
    venue.refreshesIndex();
    expect(alice.changesMargin(-1)).toBeNull();
    venue.controls("reduceOnly");
    expect(alice.changesMargin(-1)).toBe("market_reduce_only");
  });
});

describe("the command", () => {
  test("a market that does not run refuses it, halted and settled by name", () => {
    const { venue, alice } = aliceIsLong();
    venue.controls("halt");
    expect([alice.changesMargin(1), alice.changesMargin(-1)]).toEqual(
      Array(2).fill("market_halted"),
    );
    venue.controls("settle", 50_000);
    expect(venue.status()).toBe("settled");
    expect([alice.changesMargin(1), alice.changesMargin(-1)]).toEqual(
      Array(2).fill("market_settled"),
    );
  });

  test("needs a position, an amount, and a session that may act in the market", () => {
    const { venue, alice, bob } = aliceIsLong();
    const carol = venue.trader("carol", 1_000);
    expect(carol.changesMargin(1)).toBe("position_not_found");
    expect(alice.changesMargin(1, { market: 1 })).toBe("position_not_found");
    expect(alice.changesMargin(0)).toBe("invalid_command");
    expect(alice.changesMargin(1, { market: 9 })).toBe("unknown_symbol");
    expect(alice.changesMargin(1, { key: "another" })).toBe("session_key_rotated");
    bob.signsIn({ markets: [1] });
    expect(bob.changesMargin(1)).toBe("session_symbol_not_allowed");
    // Caps are for orders: a session that may hold next to nothing may add margin.
    bob.signsIn({ maxOrderNotionalMicros: 1, maxNotionalMicros: 1 });
    expect(bob.changesMargin(1)).toBeNull();
  });

  test("is executed once: its nonce answers with the position of the first, also to an order", () => {
    const { venue, alice } = aliceIsLong();
    expect(alice.changesMargin(100, { nonce: 77 })).toBeNull();
    const first = venue.engine.seq;
    venue.restarts();
    expect(alice.changesMargin(100, { nonce: 77 })).toBeNull();
    expect(venue.happened("OrderReplayed")).toMatchObject([{ nonce: 77, orderId: first }]);
    expect(alice.position().margin).toBe(5_100);
    const order = alice.buys("limit", { margin: 1, price: 49_000, nonce: 77 });
    expect(order).toMatchObject({ status: "replayed", orderId: first });
    // A refused one leaves its nonce free.
    expect(alice.changesMargin(99_999, { nonce: 78 })).toBe("insufficient_margin");
    expect(alice.changesMargin(1, { nonce: 78 })).toBeNull();
  });
});
