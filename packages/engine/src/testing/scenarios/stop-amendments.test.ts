/** Amending stops with a limit, before and after they trigger, and those that close the position. */
import { describe, expect, test } from "vitest";
import { aliceIsLong, type Pair, RestoredVenue } from "./restored-venue.js";
import type { Answer, Trader } from "./trader.js";

/** A stop to sell one coin once the mark is at $49,000, at $48,900 or better. */
function stopLimit({ alice }: Pair): number {
  return alice.sells("stop", { size: 1, price: 49_000, limit: 48_900 }).orderId;
}

/** The same, triggered: it rests at $48,900. */
function triggered(pair: Pair): number {
  const id = stopLimit(pair);
  pair.venue.index(49_000);
  pair.venue.tick();
  expect(pair.venue.best().ask).toEqual([48_900, 1]);
  return id;
}

function closing(trader: Trader, terms: { price: number; expiresAt?: number }): Answer {
  return trader.sells("stop", { margin: 0, leverage: 1, closePosition: true, ...terms });
}

describe("a stop with a limit that waits", () => {
  test("price, size, limit and expiry change, together and alone", () => {
    const pair = aliceIsLong();
    const { venue, alice } = pair;
    const id = stopLimit(pair);
    const expiresAt = venue.now + 60_000;
    expect(alice.amends(id, { price: 48_500, size: 0.5, limit: 48_000, expiresAt })).toMatchObject({
      status: "pending",
      orderId: id,
      remaining: 0.5,
    });
    expect(venue.happened("OrderAmended")).toMatchObject([
      { priceTicks: 485_000, lots: 50_000, limitTicks: 480_000, expiresAtMs: expiresAt },
    ]);
    alice.amends(id, { limit: 48_400 });
    expect(venue.happened("OrderAmended")).toMatchObject([
      { priceTicks: 485_000, lots: 50_000, limitTicks: 484_000, expiresAtMs: expiresAt },
    ]);
    venue.restarts();
    venue.index(48_500);
    venue.tick();
    expect(venue.happened("StopTriggered")).toMatchObject([{ orderId: id }]);
    expect(venue.best().ask).toEqual([48_400, 0.5]);
  });

  test("the limit stays within the band of the price, whichever of the two changes", () => {
    const pair = aliceIsLong();
    const { alice } = pair;
    const id = stopLimit(pair);
    // 5 % of 49,000 are 2,450, of 46,000 are 2,300.
    expect(alice.amends(id, { limit: 46_549.9 })).toMatchObject({
      reason: "limit_price_outside_band",
      details: [465_500, 514_500],
    });
    expect(alice.amends(id, { price: 46_000 })).toMatchObject({
      reason: "limit_price_outside_band",
      details: [437_000, 483_000],
    });
    expect(alice.amends(id, { price: 46_000, limit: 43_700 }).status).toBe("pending");
    expect(alice.amends(id, { price: 50_000 }).reason).toBe("stop_would_trigger");
  });

  test("an expiry that was taken away does not end it; an immediate one has none", () => {
    const pair = aliceIsLong();
    const { venue, alice } = pair;
    const id = stopLimit(pair);
    alice.amends(id, { expiresAt: venue.now + 2_000 });
    expect(alice.amends(id, { expiresAt: venue.now + 999 }).reason).toBe("expiry_out_of_range");
    alice.amends(id, { expiresAt: 0 });
    venue.waits(20);
    expect(alice.openOrders()).toBe(1);
    const terms = { size: 1, price: 48_000, limit: 47_900, timeInForce: "ioc" } as const;
    const immediate = alice.sells("stop", terms).orderId;
    expect(alice.amends(immediate, { limit: 47_800 }).status).toBe("pending");
    expect(alice.amends(immediate, { expiresAt: venue.now + 2_000 }).reason).toBe("invalid_order");
  });

  test("no other order gets a limit", () => {
    const { alice } = aliceIsLong();
    const plain = alice.sells("stop", { margin: 490, price: 49_000 }).orderId;
    const resting = alice.sells("limit", { margin: 510, price: 51_000 }).orderId;
    for (const id of [plain, resting]) {
      expect(alice.amends(id, { limit: 48_900 }).reason).toBe("invalid_order");
    }
  });
});

describe("a stop with a limit that was triggered and rests", () => {
  test("the limit moves it in the book; it trades what it crosses and stays a stop", () => {
    const pair = aliceIsLong();
    const { venue, alice, bob } = pair;
    const id = triggered(pair);
    bob.buys("limit", { margin: 1_467, price: 48_800, leverage: 10 });
    const answer = alice.amends(id, { limit: 48_800 });
    expect(answer).toMatchObject({ status: "resting", orderId: id, remaining: 0.69939 });
    expect(venue.happened("OrderAcknowledged")).toMatchObject([{ type: 2 }]);
    expect(venue.happened("OrderAmended")).toMatchObject([
      { priceTicks: 488_000, limitTicks: 488_000 },
    ]);
    expect(venue.best().ask).toEqual([48_800, 0.69939]);
    // As it was: in place.
    alice.amends(id, { limit: 48_800 });
    expect(venue.happened("OrderRested")).toEqual([]);
  });

  test("judged as a limit order: a short may not rest far below the mark", () => {
    const pair = aliceIsLong();
    const id = triggered(pair);
    // 5 % of 49,000 are 2,450.
    const refused = pair.alice.amends(id, { limit: 46_549.9 });
    expect(refused.reason).toBe("price_outside_band");
    expect(pair.alice.amends(id, { limit: 46_550 }).status).toBe("resting");
  });

  test("lots that the trigger canceled do not count in an amendment", () => {
    const venue = new RestoredVenue();
    const alice = venue.trader("alice", 10_000);
    const id = alice.sells("stop", { size: 2, price: 49_000, limit: 48_900 }).orderId;
    // What is left of the wallet pays for about one coin.
    alice.buys("limit", { margin: 5_000, price: 48_000 });
    venue.index(49_000);
    venue.tick();
    const { remainingLots } = venue.happened("OrderReduced")[0]!;
    expect(venue.best().ask).toEqual([48_900, remainingLots / 100_000]);
    expect(alice.amends(id, { limit: 48_890 }).status).toBe("resting");
    expect(venue.happened("OrderAmended")).toMatchObject([{ lots: remainingLots, remainingLots }]);
  });

  test("nothing but the limit", () => {
    const pair = aliceIsLong();
    const { venue, alice } = pair;
    const id = triggered(pair);
    const expiresAt = venue.now + 60_000;
    for (const terms of [{ price: 49_500 }, { size: 0.5 }, { expiresAt }] as const) {
      expect(alice.amends(id, terms).reason).toBe("order_not_amendable");
      expect(alice.amends(id, { ...terms, limit: 49_500 }).reason).toBe("order_not_amendable");
    }
    expect(venue.best().ask).toEqual([48_900, 1]);
  });
});

describe("a stop that closes the position", () => {
  test("its price and its expiry change; what it closes does not", () => {
    const { venue, alice, bob } = aliceIsLong();
    const id = closing(alice, { price: 48_000 }).orderId;
    const answer = alice.amends(id, { price: 49_000, expiresAt: venue.now + 60_000 });
    expect(answer).toMatchObject({ status: "pending", orderId: id, remaining: 0 });
    bob.buys("limit", { margin: 9_800, price: 49_000 });
    venue.restarts();
    venue.index(49_000);
    venue.tick();
    expect(alice.position().size).toBe(0);
    expect(venue.ended()).toContainEqual([id, "none"]);
  });

  test("it may expire from now on, or no longer", () => {
    const { venue, alice } = aliceIsLong();
    const first = closing(alice, { price: 48_000 }).orderId;
    alice.amends(first, { expiresAt: venue.now + 1_000 });
    venue.waits(1);
    expect(venue.ended()).toContainEqual([first, "expired"]);
    const second = closing(alice, { price: 48_000, expiresAt: venue.now + 1_000 }).orderId;
    alice.amends(second, { expiresAt: 0 });
    venue.waits(2);
    expect(alice.openOrders()).toBe(1);
  });

  test("it has neither size nor limit, and triggers on its own side of the mark", () => {
    const { alice } = aliceIsLong();
    const id = closing(alice, { price: 48_000 }).orderId;
    expect(alice.amends(id, { size: 1 }).reason).toBe("invalid_order");
    expect(alice.amends(id, { limit: 48_000 }).reason).toBe("invalid_order");
    expect(alice.amends(id, { price: 50_000 }).reason).toBe("stop_would_trigger");
    expect(alice.amends(id, { price: 4_999.9 }).reason).toBe("price_too_far");
  });

  test("triggered, it closes what it finds, and is not amendable", () => {
    const { venue, alice } = aliceIsLong();
    const id = closing(alice, { price: 49_000 }).orderId;
    venue.index(48_900);
    venue.waits(5);
    expect(alice.position().size).toBe(2);
    expect(alice.amends(id, { price: 47_000 }).reason).toBe("order_not_amendable");
  });
});
