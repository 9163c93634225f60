/** What an account, a session or a cohort may not do: tiers, position limit, caps, open orders. */
import { describe, expect, test } from "vitest";
import { BTC, ETH, UNGUARDED } from "./listing.js";
import { Venue } from "./venue.js";

function pair(options: ConstructorParameters<typeof Venue>[0] = {}) {
  const venue = new Venue(options);
  return {
    venue,
    alice: venue.trader("alice", 10_000_000),
    bob: venue.trader("bob", 10_000_000),
  };
}

describe("tier leverage", () => {
  // BTCUSD: 50× up to $1M, 25× up to $5M, 10× up to $20M.
  const rows: [notional: number, leverage: number, reason: string, tier: number][] = [
    [1_000_000, 50, "none", 0],
    [1_000_000.5, 50, "leverage_above_tier", 25],
    [5_000_000, 25, "none", 0],
    [5_000_000.5, 25, "leverage_above_tier", 10],
    [20_000_000, 10, "none", 0],
  ];
  for (const [notional, leverage, reason, tier] of rows) {
    test(`$${notional} at ${leverage}×: ${reason}`, () => {
      const { alice } = pair();
      const answer = alice.buys("limit", { margin: notional / leverage, leverage, price: 50_000 });
      expect(answer.reason).toBe(reason);
      if (tier > 0) expect(answer.details[0]).toBe(tier);
    });
  }

  test("the position counts, at mark; closing lots do not", () => {
    const { alice, bob } = pair();
    bob.sells("limit", { margin: 16_000, leverage: 50, price: 50_000 });
    alice.buys("market", { margin: 16_000, leverage: 50 });
    // $800,000 are held: 200,000 more pass at 50×, a lot more does not.
    const more = { leverage: 50, price: 50_000 };
    expect(alice.buys("limit", { ...more, margin: 4_000.01 }).reason).toBe("leverage_above_tier");
    expect(alice.buys("limit", { ...more, margin: 4_000 }).status).toBe("resting");
    // Selling 1.8 million closes 800,000 and opens 1 million.
    expect(alice.sells("limit", { ...more, margin: 36_000, price: 51_000 }).status).toBe("resting");
  });
});

describe("position limit", () => {
  test("the top tier, $20M at mark: 400 coins, refused beyond, naming it in lots", () => {
    const { alice } = pair();
    const order = { leverage: 10, price: 50_000 };
    const beyond = alice.buys("limit", { ...order, margin: 2_000_001 });
    expect(beyond).toMatchObject({ reason: "position_limit", details: [40_000_000, 0] });
    expect(alice.buys("limit", { ...order, margin: 2_000_000 }).remaining).toBe(400);
  });

  test("two orders that each pass: the fill stops at the limit", () => {
    const { alice, bob, venue } = pair();
    const order = { leverage: 10, price: 50_000 };
    alice.buys("limit", { ...order, margin: 2_000_000 });
    alice.buys("limit", { ...order, margin: 100_000 });
    bob.sells("limit", { ...order, margin: 2_000_000 });
    const carol = venue.trader("carol", 1_000_000);
    const answer = carol.sells("market", { margin: 100_000 });
    // Alice holds 400 coins; her second bid has no room left.
    expect(answer).toMatchObject({ filled: 0, reason: "book_empty" });
    expect(venue.happened("OrderEnded")).toMatchObject([{ account: alice.account, reason: 4 }]);
  });

  test("a higher mark leaves less room", () => {
    const { alice, venue } = pair({ markets: [UNGUARDED] });
    venue.index(80_000);
    const answer = alice.buys("limit", { margin: 2_000_080, leverage: 10, price: 80_000 });
    expect(answer).toMatchObject({ reason: "position_limit", details: [25_000_000, 0] });
  });
});

describe("open orders", () => {
  test("as many as configured per account and market, resting and pending together", () => {
    const venue = new Venue({ markets: [BTC, ETH], config: { maxOpenOrders: 3 } });
    const alice = venue.trader("alice", 100_000);
    const bid = { margin: 100, price: 49_000 };
    alice.buys("limit", bid);
    alice.buys("limit", bid);
    const stop = alice.buys("stop", { margin: 100, price: 51_000 });
    expect(alice.buys("limit", bid)).toMatchObject({
      reason: "open_order_limit",
      details: [3, 0],
    });
    expect(alice.buys("stop", { margin: 100, price: 51_000 }).status).toBe("refused");
    // A market order is not kept, another market counts for itself.
    expect(alice.buys("market", { margin: 100 }).reason).toBe("book_empty");
    expect(alice.buys("limit", { margin: 100, price: 3_900, market: ETH }).status).toBe("resting");
    alice.cancels(stop.orderId);
    expect(alice.buys("limit", bid).status).toBe("resting");
  });
});

describe("session caps", () => {
  test("per order: measured after clamping", () => {
    const { alice, bob } = pair();
    bob.sells("limit", { margin: 10_000, price: 50_000 });
    alice.buys("market", { margin: 10_000 });
    alice.signsIn({ maxOrderNotionalMicros: 100_000e6 });
    const capped = alice.buys("limit", { margin: 10_000.1, price: 50_000 });
    // 100,001 ÷ 50,000 is 2.00002 coins.
    expect(capped).toMatchObject({ reason: "session_order_cap_exceeded", details: [100_000e6, 0] });
    expect(alice.buys("limit", { margin: 10_000, price: 50_000 }).status).toBe("resting");
    // A ceiling of a million that clamps to the two coins held passes.
    const close = alice.sells("limit", { margin: 100_000, price: 50_000, reduceOnly: true });
    expect(close).toMatchObject({ reason: "none", status: "resting", remaining: 2 });
  });

  describe("an exit that becomes an entry keeps maxOrderNotional", () => {
    /** Alice is long two coins; her next orders are of a session with a cap of $1,000. */
    function capped() {
      const { venue, alice, bob } = pair();
      bob.sells("limit", { size: 2, price: 50_000 });
      alice.buys("market", { size: 2 });
      const free = alice.session;
      alice.signsIn({ maxOrderNotionalMicros: 1_000e6 });
      const flat = (): void => {
        bob.buys("limit", { size: 2, price: 50_000 });
        alice.sells("market", { size: 2, reduceOnly: true });
        expect(alice.position().size).toBe(0);
      };
      return { venue, alice, bob, free, flat };
    }

    test("a limit order", () => {
      const { venue, alice, bob, flat } = capped();
      const exit = alice.sells("limit", { margin: 10_000, price: 50_100 });
      expect(exit).toMatchObject({ status: "resting", remaining: 1.996 });
      flat();
      // 1,000 ÷ 50,100.
      expect(bob.buys("market", { size: 2 }).filled).toBe(0.01996);
      expect(venue.endedWithRest()).toContainEqual([
        exit.orderId,
        "session_order_cap_exceeded",
        1.97604,
      ]);
    });

    test("what it has closed counts", () => {
      const { venue, alice, bob, flat } = capped();
      const exit = alice.sells("limit", { margin: 10_000, price: 50_100 });
      bob.buys("market", { size: 0.01 });
      flat();
      // 501 of the 1,000 are filled: 0.00996 coins are left.
      expect(bob.buys("market", { size: 2 }).filled).toBe(0.00996);
      expect(venue.endedWithRest()).toContainEqual([
        exit.orderId,
        "session_order_cap_exceeded",
        1.97604,
      ]);
    });

    test("a limit order that a session with a cap amends", () => {
      const { venue, alice, bob, free, flat } = capped();
      const session = alice.session;
      alice.session = free;
      const exit = alice.sells("limit", { margin: 10_000, price: 50_100 });
      bob.buys("market", { size: 0.01 });
      alice.session = session;
      expect(alice.amends(exit.orderId, { price: 50_200 }).status).toBe("resting");
      flat();
      // 0.01 coins count at the new price: 498 ÷ 50,200.
      expect(bob.buys("market", { size: 2 }).filled).toBe(0.00992);
      expect(venue.endedWithRest()).toContainEqual([
        exit.orderId,
        "session_order_cap_exceeded",
        1.97608,
      ]);
    });

    test("a stop", () => {
      const { venue, alice, bob, flat } = capped();
      const exit = alice.sells("stop", { margin: 9_900, price: 49_900 });
      expect(exit).toMatchObject({ status: "pending", remaining: 1.98396 });
      flat();
      bob.buys("limit", { size: 2, price: 49_850 });
      venue.index(49_900);
      venue.tick();
      // 1,000 ÷ 49,850.
      expect(alice.position().size).toBe(-0.02006);
      expect(venue.endedWithRest()).toContainEqual([
        exit.orderId,
        "session_order_cap_exceeded",
        1.9639,
      ]);
    });

    test("a market order whose money comes to more at a low bid", () => {
      const { alice, bob } = capped();
      bob.buys("limit", { size: 0.2, price: 50_000 });
      bob.buys("limit", { size: 2, price: 48_000 });
      // 10,000 at the first bid; at the second 90,000 would be 1.875 coins, and 1.8 are left.
      expect(alice.sells("market", { margin: 10_000 })).toMatchObject({
        status: "canceled",
        reason: "session_order_cap_exceeded",
        filled: 2,
        remaining: 0.072,
      });
      expect(alice.position().size).toBe(0);
    });

    test("a stop within the cap at its own price is not cut where it fills beyond it", () => {
      const { venue, alice, bob } = pair();
      alice.signsIn({ maxOrderNotionalMicros: 100_000e6 });
      const entry = alice.buys("stop", { margin: 10_000, price: 50_500 });
      expect(entry).toMatchObject({ status: "pending", remaining: 1.98019 });
      bob.sells("limit", { size: 2, price: 50_700 });
      venue.index(50_500);
      venue.tick();
      expect(alice.position().size).toBe(1.98019);
    });
  });

  test("in all: positions at mark, resting and pending orders of every market count", () => {
    const venue = new Venue({ markets: [BTC, ETH] });
    const bob = venue.trader("bob", 1_000_000);
    const alice = venue.trader("alice", 1_000_000);
    alice.signsIn({ maxNotionalMicros: 200_000e6 });
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("market", { margin: 5_000 }); // 50,000
    alice.buys("limit", { margin: 4_000, price: 4_000, market: ETH }); // 40,000
    alice.buys("stop", { margin: 5_100, price: 51_000 }); // 51,000
    // 59,000 are left.
    const order = { leverage: 1, price: 50_000 };
    const over = alice.buys("limit", { ...order, margin: 59_000.5 });
    expect(over).toMatchObject({
      reason: "session_notional_cap_exceeded",
      details: [200_000e6, 0],
    });
    const last = alice.buys("limit", { ...order, margin: 59_000 });
    expect(last.status).toBe("resting");
    // Reduce-only orders and closing parts add nothing.
    const close = alice.sells("limit", { margin: 5_000, price: 50_100 });
    expect(close.status).toBe("resting");
    const stop = alice.sells("stop", { margin: 90_000, price: 49_000, reduceOnly: true });
    expect(stop.status).toBe("pending");
    // A dearer mark makes the position count for more.
    alice.cancels(last.orderId);
    venue.index(60_000);
    expect(alice.buys("limit", { ...order, margin: 49_000.5 }).status).toBe("refused");
    expect(alice.buys("limit", { ...order, margin: 49_000 }).status).toBe("resting");
  });

  test("caps and markets survive rotation and do not bind another session", () => {
    const venue = new Venue({ markets: [BTC, ETH] });
    const alice = venue.trader("alice", 100_000);
    const free = alice.session;
    const session = alice.signsIn({ maxOrderNotionalMicros: 1_000e6, markets: [0] });
    venue.apply({
      kind: "RotateSession",
      stampMs: venue.now,
      session,
      oldKey: alice.key,
      newKey: "new",
    });
    const order = { margin: 101, price: 50_000, key: "new" };
    expect(alice.buys("limit", order).reason).toBe("session_order_cap_exceeded");
    const elsewhere = alice.buys("limit", { ...order, price: 4_000, market: ETH });
    expect(elsewhere.reason).toBe("session_symbol_not_allowed");
    alice.session = free;
    expect(alice.buys("limit", { margin: 101, price: 50_000 }).status).toBe("resting");
  });
});

describe("cohort", () => {
  test("closed: nobody opens, everybody cancels and reduces; the list and the stage change it", () => {
    const { venue, alice, bob } = pair();
    const resting = bob.sells("limit", { margin: 15_000, price: 50_000 });
    alice.buys("market", { margin: 5_000 });
    venue.cohort("closed", [alice.address], []);
    const open = { margin: 1_000, price: 49_000 };
    expect(alice.buys("limit", open).reason).toBe("not_in_cohort");
    expect(alice.buys("stop", { margin: 1_000, price: 51_000 }).reason).toBe("not_in_cohort");
    expect(bob.cancels(resting.orderId)).toBeNull();
    const reduce = { margin: 2_500, price: 51_000 };
    expect(alice.sells("limit", reduce).status).toBe("resting");
    expect(alice.sells("limit", { ...reduce, margin: 10_000 }).reason).toBe("not_in_cohort");
    venue.cohort("allowlist", [], []);
    expect(alice.buys("limit", open).status).toBe("resting");
    // Bob is short: he opens by selling.
    const sale = { margin: 1_000, price: 52_000 };
    expect(bob.sells("limit", sale).reason).toBe("not_in_cohort");
    venue.cohort("allowlist", [bob.address], [alice.address]);
    expect(alice.buys("limit", open).reason).toBe("not_in_cohort");
    expect(bob.sells("limit", sale).status).toBe("resting");
    venue.cohort("open", [], []);
    expect(alice.buys("limit", open).status).toBe("resting");
  });
});
