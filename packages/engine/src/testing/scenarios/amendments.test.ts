/** Amending orders: rank, money, fills, refusals, and what a restore makes of it. */
import { describe, expect, test } from "vitest";
import { Engine } from "../../engine.js";
import { END_REASONS } from "../../reasons.js";
import { RestoredVenue } from "./restored-venue.js";
import type { Trader } from "./trader.js";
import type { Venue } from "./venue.js";

/** Alice, then Bob, each bid one coin at $49,000 (10×). */
function twoBids(): {
  venue: Venue;
  alice: Trader;
  bob: Trader;
  carol: Trader;
  hers: number;
  his: number;
} {
  const venue = new RestoredVenue();
  const alice = venue.trader("alice", 10_000);
  const bob = venue.trader("bob", 10_000);
  const carol = venue.trader("carol", 100_000);
  const hers = alice.buys("limit", { margin: 4_900, price: 49_000 }).orderId;
  const his = bob.buys("limit", { margin: 4_900, price: 49_000 }).orderId;
  return { venue, alice, bob, carol, hers, his };
}

/** Whose bid a sale of one coin at $49,000 meets. */
function firstInQueue(venue: Venue, carol: Trader): number {
  carol.sells("limit", { margin: 4_900, price: 49_000 });
  return venue.happened("Traded")[0]?.makerOrderId ?? 0;
}

describe("the place in the queue", () => {
  test("stays when the size shrinks; the reserve of the difference returns", () => {
    const { venue, alice, carol, hers } = twoBids();
    const answer = alice.amends(hers, { size: 0.5 });
    expect(answer).toMatchObject({ status: "resting", orderId: hers, remaining: 0.5, filled: 0 });
    expect([alice.wallet, alice.reserved()]).toEqual([10_000 - 2_454.9, 2_454.9]);
    expect(venue.happened("OrderRested")).toEqual([]);
    expect(firstInQueue(venue, carol)).toBe(hers);
  });

  test("stays when nothing changes", () => {
    const { venue, alice, carol, hers } = twoBids();
    expect(alice.amends(hers, { price: 49_000, size: 1 }).status).toBe("resting");
    expect(firstInQueue(venue, carol)).toBe(hers);
  });

  test("is lost when the size grows, and when the price changes, also back again", () => {
    const grown = twoBids();
    expect(grown.alice.amends(grown.hers, { size: 1.1 }).remaining).toBe(1.1);
    expect(firstInQueue(grown.venue, grown.carol)).toBe(grown.his);
    const moved = twoBids();
    expect(moved.alice.amends(moved.hers, { price: 48_000 }).remaining).toBe(1);
    moved.alice.amends(moved.hers, { price: 49_000 });
    expect(firstInQueue(moved.venue, moved.carol)).toBe(moved.his);
  });

  test("survives a restore", () => {
    const { venue, alice, carol, hers, his } = twoBids();
    alice.amends(hers, { price: 48_000 });
    alice.amends(hers, { price: 49_000 });
    const sale = carol.order(-1, "limit", { margin: 9_800, price: 49_000 });
    const restored = Engine.restore(venue.engine.snapshot());
    venue.apply(sale);
    const makers = venue
      .repeats(restored, sale)
      .flatMap((event) => (event.kind === "Traded" ? [event.makerOrderId] : []));
    expect(makers).toEqual([his, hers]);
    expect(venue.engine.snapshot()).toEqual(restored.snapshot());
  });

  test("closing capacity and newest-first go by it", () => {
    const venue = new RestoredVenue();
    const alice = venue.trader("alice", 30_000);
    const bob = venue.trader("bob", 100_000);
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("limit", { margin: 5_000, price: 50_000 });
    // The first ask closes the coin, the second one opens a short and reserves.
    const first = alice.sells("limit", { margin: 5_100, price: 51_000 }).orderId;
    const second = alice.sells("limit", { margin: 5_200, price: 52_000 }).orderId;
    const reserveOf = (id: number): number => {
      const { orders } = venue.engine.state;
      return orders.reserve(orders.index.get(id));
    };
    expect([reserveOf(first) > 0, reserveOf(second) > 0]).toEqual([false, true]);
    expect(alice.amends(first, { price: 51_500 }).status).toBe("resting");
    expect([reserveOf(first) > 0, reserveOf(second) > 0]).toEqual([true, false]);
  });
});

describe("size is the new total", () => {
  test("filled lots included; at or below them the rest is canceled", () => {
    const { venue, alice, carol, hers } = twoBids();
    carol.sells("limit", { margin: 1_960, price: 49_000 });
    expect(alice.amends(hers, { size: 0.7 }).remaining).toBe(0.3);
    const [event] = venue.happened("OrderAmended");
    expect(event).toMatchObject({ lots: 70_000, remainingLots: 30_000 });
    const answer = alice.amends(hers, { size: 0.4 });
    expect(answer).toMatchObject({ status: "canceled", reason: "requested", remaining: 0.3 });
    expect(venue.happened("OrderEnded")).toMatchObject([{ orderId: hers, remainingLots: 30_000 }]);
    expect(alice.openOrders()).toBe(0);
  });

  test("a reduce-only order is clamped to the position", () => {
    const { alice, carol, hers } = twoBids();
    carol.sells("limit", { margin: 4_900, price: 49_000 });
    const exit = alice.sells("limit", { margin: 2_000, price: 51_000, reduceOnly: true }).orderId;
    expect(hers).toBeGreaterThan(0);
    expect(alice.amends(exit, { size: 5 }).remaining).toBe(1);
  });
});

describe("an amended order that crosses", () => {
  test("trades as a taker in this command; the acknowledgement has these fills", () => {
    const { venue, alice, carol, hers } = twoBids();
    carol.sells("limit", { margin: 2_500, price: 50_000 });
    const answer = alice.amends(hers, { price: 50_000 });
    expect(answer).toMatchObject({ status: "resting", filled: 0.5, remaining: 0.5, spent: 25_000 });
    expect(answer.fee).toBeGreaterThan(0);
    const [ack] = venue.happened("OrderAcknowledged");
    expect(ack).toMatchObject({ orderId: hers, ackNonce: venue.engine.seq });
    carol.sells("limit", { margin: 2_500, price: 50_000 });
    expect(venue.happened("OrderEnded")).toMatchObject([{ orderId: hers, reason: 0 }]);
  });

  test("filled immediately: it has ended", () => {
    const { venue, alice, carol, hers } = twoBids();
    carol.sells("limit", { margin: 10_000, price: 50_000 });
    expect(alice.amends(hers, { price: 50_100 })).toMatchObject({ status: "filled", filled: 1 });
    expect(venue.happened("OrderEnded")).toMatchObject([{ orderId: hers, remainingLots: 0 }]);
    expect(alice.amends(hers, { price: 50_000 }).reason).toBe("order_not_amendable");
  });

  test("an own ask on the way is canceled, as for a new order", () => {
    const { venue, alice, carol, hers } = twoBids();
    const own = alice.sells("limit", { margin: 2_500, price: 50_000 }).orderId;
    carol.sells("limit", { margin: 5_000, price: 50_000 });
    expect(alice.amends(hers, { price: 50_000 }).filled).toBe(1);
    const [ended] = venue.happened("OrderEnded");
    expect([ended?.orderId, END_REASONS[ended?.reason ?? 0]]).toEqual([own, "self_trade"]);
  });

  test("post-only: refused, and as it was", () => {
    const { venue, alice, carol } = twoBids();
    const posted = alice.buys("limit", { margin: 490, price: 49_000, postOnly: true }).orderId;
    carol.sells("limit", { margin: 2_500, price: 50_000 });
    const hash = venue.engine.snapshot();
    const answer = alice.amends(posted, { price: 50_000 });
    expect(answer).toMatchObject({ reason: "post_only_would_cross", details: [500_000, 0] });
    expect(venue.engine.snapshot().length).toBe(hash.length);
    expect(venue.best().bid?.[0]).toBe(49_000);
  });
});

describe("money", () => {
  test("what the order itself has reserved counts as available", () => {
    const venue = new RestoredVenue();
    const alice = venue.trader("alice", 5_000);
    const id = alice.buys("limit", { margin: 4_970, price: 49_700 }).orderId;
    expect(alice.wallet).toBeLessThan(30);
    expect(alice.amends(id, { price: 49_800 }).status).toBe("resting");
    expect(alice.amends(id, { size: 0.9 }).status).toBe("resting");
    const refused = alice.amends(id, { size: 1.1 });
    expect(refused.reason).toBe("insufficient_margin");
    // It names the margin and the lots that would pass.
    expect(alice.amends(id, { size: refused.details[1] / 100_000 }).status).toBe("resting");
    expect(alice.amends(id, { size: (refused.details[1] + 1) / 100_000 }).reason).toBe(
      "insufficient_margin",
    );
  });

  test("the caps are those of the session that amends, and stay with the order", () => {
    const { venue, alice, hers } = twoBids();
    alice.signsIn({ maxOrderNotionalMicros: 50_000_000_000, maxNotionalMicros: 40_000_000_000 });
    expect(alice.amends(hers, { price: 49_500 }).reason).toBe("session_notional_cap_exceeded");
    expect(alice.amends(hers, { size: 1.2 }).reason).toBe("session_order_cap_exceeded");
    expect(alice.amends(hers, { size: 0.8 }).status).toBe("resting");
    const { orders } = venue.engine.state;
    expect(orders.maxNotional(orders.index.get(hers))).toBe(40_000_000_000);
  });
});

describe("stops", () => {
  test("price and size change; a stop that was reached is not amendable", () => {
    const venue = new RestoredVenue();
    const alice = venue.trader("alice", 10_000);
    const id = alice.buys("stop", { margin: 100, price: 50_500 }).orderId;
    expect(alice.amends(id, { price: 51_000, size: 0.01 })).toMatchObject({
      status: "pending",
      remaining: 0.01,
    });
    expect(alice.amends(id, { price: 49_000 }).reason).toBe("stop_would_trigger");
    venue.index(50_600);
    venue.waits(1);
    expect(alice.openOrders()).toBe(1);
    venue.index(51_500);
    venue.waits(10);
    expect(alice.amends(id, { price: 60_000 }).reason).toBe("order_not_amendable");
  });
});

describe("refusals leave the order as it was", () => {
  test("not open, another account's, another market's, no change", () => {
    const { venue, alice, bob, hers, his } = twoBids();
    for (const [id, changes] of [
      [his, {}],
      [9_999, {}],
      [0, {}],
      [hers, { market: 1 }],
    ] as const) {
      expect(alice.amends(id, { price: 48_000 }, changes).reason).toBe("order_not_amendable");
    }
    expect(alice.amends(hers, {}).reason).toBe("invalid_order");
    alice.cancels(hers);
    expect(alice.amends(hers, { price: 48_000 }).reason).toBe("order_not_amendable");
    expect(bob.openOrders()).toBe(1);
    expect(venue.best().bid).toEqual([49_000, 1]);
  });

  test("a halted market, a held index", () => {
    const { venue, alice, hers } = twoBids();
    venue.controls("halt");
    expect(alice.amends(hers, { size: 0.5 }).reason).toBe("market_halted");
    venue.controls("resume");
    venue.index(70_000);
    expect(alice.amends(hers, { size: 0.5 }).reason).toBe("index_held");
  });
});

test("the nonce: a replay names the amendment, another key is refused", () => {
  const { venue, alice, hers } = twoBids();
  alice.amends(hers, { price: 48_000 }, { nonce: 77 });
  const seq = venue.engine.seq;
  expect(alice.amends(hers, { price: 48_000 }, { nonce: 77 })).toMatchObject({
    status: "replayed",
    orderId: seq,
  });
  expect(alice.amends(hers, { price: 47_000 }, { key: "another" }).reason).toBe(
    "session_key_rotated",
  );
});
