/** How long an order may wait: not at all (ioc), all or nothing (fok), until it expires. */
import { describe, expect, test } from "vitest";
import { describeDerived } from "../derived.js";
import { RestoredVenue } from "./restored-venue.js";
import type { Trader } from "./trader.js";
import type { Venue } from "./venue.js";

function twoTraders(): { venue: Venue; mara: Trader; alice: Trader } {
  const venue = new RestoredVenue();
  return { venue, mara: venue.trader("mara", 1_000_000), alice: venue.trader("alice", 100_000) };
}

describe("ioc", () => {
  test("takes what is there, the rest is canceled without a reason", () => {
    const { venue, mara, alice } = twoTraders();
    mara.sells("limit", { size: 1, price: 50_000 });
    mara.sells("limit", { size: 1, price: 50_100 });
    const answer = alice.buys("limit", { size: 2, price: 50_000, timeInForce: "ioc" });
    expect(answer).toMatchObject({ status: "canceled", reason: "none", filled: 1, remaining: 1 });
    expect(venue.best().bid).toBeNull();
    expect(alice.openOrders()).toBe(0);
  });

  test("nothing at its price: not_filled", () => {
    const { mara, alice } = twoTraders();
    const ioc = { size: 2, price: 50_000, timeInForce: "ioc" } as const;
    expect(alice.buys("limit", ioc)).toMatchObject({ status: "canceled", reason: "not_filled" });
    mara.sells("limit", { size: 1, price: 50_100 });
    expect(alice.buys("limit", ioc)).toMatchObject({ status: "canceled", reason: "not_filled" });
  });

  test("with a closing part it is never refused for funds: the unfunded part is canceled", () => {
    const venue = new RestoredVenue();
    const mara = venue.trader("mara", 1_000_000);
    const alice = venue.trader("alice", 5_030);
    mara.sells("limit", { size: 1, price: 50_000 });
    expect(alice.buys("market", { size: 1 }).status).toBe("filled");
    mara.buys("limit", { size: 9, price: 50_000 });
    expect(alice.sells("limit", { size: 5, price: 50_000 }).reason).toBe("insufficient_margin");
    const answer = alice.sells("limit", { size: 5, price: 50_000, timeInForce: "ioc" });
    expect(answer).toMatchObject({ status: "canceled", reason: "unfunded" });
    expect(answer.filled).toBeGreaterThan(1);
  });
});

describe("fok", () => {
  test("fills all of it, over several makers", () => {
    const { mara, alice } = twoTraders();
    for (const price of [50_000, 50_100, 50_200]) mara.sells("limit", { size: 1, price });
    const answer = alice.buys("limit", { size: 3, price: 50_200, timeInForce: "fok" });
    expect(answer).toMatchObject({ status: "filled", filled: 3, remaining: 0 });
    expect(mara.position().size).toBe(-3);
  });

  test("a lot too few: nothing has happened", () => {
    const { venue, mara, alice } = twoTraders();
    for (const price of [50_000, 50_100, 50_200]) mara.sells("limit", { size: 1, price });
    const before = describeDerived(venue.engine.state);
    const [wallet, makers] = [alice.wallet, mara.wallet];
    for (const [type, terms] of [
      ["limit", { size: 3.00001, price: 50_200 }],
      ["market", { size: 3.00001 }],
    ] as const) {
      const answer = alice.buys(type, { ...terms, timeInForce: "fok" });
      expect(answer).toMatchObject({ status: "canceled", reason: "not_filled", filled: 0 });
      expect(answer.remaining).toBe(3.00001);
      expect(venue.events.map(({ kind }) => kind)).toEqual([
        "OrderPlaced",
        "OrderExtended",
        "PositionSettled",
        "OrderAcknowledged",
      ]);
    }
    expect(describeDerived(venue.engine.state)).toEqual(before);
    expect([alice.wallet, mara.wallet]).toEqual([wallet, makers]);
    expect(alice.buys("market", { size: 3 }).filled).toBe(3);
  });

  test("own orders: canceled on the way if it fills, back in their place if it does not", () => {
    const { venue, mara, alice } = twoTraders();
    const first = alice.sells("limit", { size: 1, price: 50_000 });
    mara.sells("limit", { size: 1, price: 50_000 });
    const last = alice.sells("limit", { size: 1, price: 50_000 });
    const fok = { price: 50_000, timeInForce: "fok" } as const;
    expect(alice.buys("limit", { ...fok, size: 2 }).reason).toBe("not_filled");
    expect(alice.openOrders()).toBe(2);
    const answer = alice.buys("limit", { ...fok, size: 1 });
    expect(answer).toMatchObject({ status: "filled", filled: 1 });
    expect(venue.ended()).toContainEqual([first.orderId, "self_trade"]);
    expect(venue.ended()).not.toContainEqual([last.orderId, "self_trade"]);
  });

  test("makers that cannot pay end only if it fills", () => {
    const { venue, mara, alice } = twoTraders();
    const poor = venue.trader("poor", 6_000);
    const shaky = poor.sells("limit", { size: 1, price: 50_000 });
    mara.sells("limit", { size: 1, price: 50_000 });
    // Sold below a mark that has risen: the loss exceeds what the maker has.
    venue.index(52_400);
    venue.tick();
    const fok = { price: 50_100, timeInForce: "fok" } as const;
    expect(alice.buys("limit", { ...fok, size: 2 }).reason).toBe("not_filled");
    expect(poor.openOrders()).toBe(1);
    expect(alice.buys("limit", { ...fok, size: 1 })).toMatchObject({ status: "filled" });
    expect(venue.ended()).toContainEqual([shaky.orderId, "unfunded"]);
  });

  test("reduce-only makers give what their position has, and are back afterwards", () => {
    const { venue, mara, alice } = twoTraders();
    const holder = venue.trader("holder", 100_000);
    mara.sells("limit", { size: 1, price: 50_000 });
    holder.buys("market", { size: 1 });
    holder.sells("limit", { size: 1, price: 50_100, reduceOnly: true });
    holder.sells("stop", { size: 1, price: 49_000, reduceOnly: true });
    const fok = { price: 50_100, timeInForce: "fok" } as const;
    expect(alice.buys("limit", { ...fok, size: 1.5 }).reason).toBe("not_filled");
    expect(holder.openOrders()).toBe(2);
    expect(alice.buys("limit", { ...fok, size: 1 }).status).toBe("filled");
    expect(holder.openOrders()).toBe(0);
  });

  test("a reason of its own is named", () => {
    const { mara, alice } = twoTraders();
    mara.sells("limit", { size: 1, price: 50_000 });
    mara.sells("limit", { size: 5, price: 54_000 });
    expect(alice.buys("market", { size: 2, timeInForce: "fok" }).reason).toBe("band");
    const bounded = { size: 1, margin: 4_000, timeInForce: "fok" } as const;
    expect(alice.buys("market", bounded).reason).toBe("margin_spent");
    expect(mara.position().size).toBe(0);
  });

  test("its nonce is used: the same command again is a replay", () => {
    const { venue, alice } = twoTraders();
    const order = alice.order(1, "market", { size: 1, timeInForce: "fok", nonce: 77 });
    venue.apply(order);
    expect(venue.happened("OrderAcknowledged")).toHaveLength(1);
    venue.apply(order);
    expect(venue.happened("OrderReplayed")).toHaveLength(1);
  });
});

describe("what goes together", () => {
  const faulty = [
    ["market", { size: 1, timeInForce: "gtc" }],
    ["market", { margin: 100, timeInForce: "fok" }],
    ["stop", { size: 1, price: 51_000, timeInForce: "gtc" }],
    ["stop", { size: 1, price: 51_000, timeInForce: "fok" }],
    ["limit", { size: 1, price: 49_000, timeInForce: "ioc", postOnly: true }],
    ["limit", { size: 1, price: 49_000, timeInForce: "ioc", expiresAt: 2 ** 41 }],
    ["limit", { size: -1, price: 49_000 }],
    ["limit", { price: 49_000, timeInForce: "gtc" }],
    ["limit", { size: 1, price: 49_000, clientOrderId: "not one" }],
  ] as const;
  for (const [type, terms] of faulty) {
    test(`${type} ${JSON.stringify(terms)}: refused`, () => {
      expect(twoTraders().alice.buys(type, terms).reason).toBe("invalid_order");
    });
  }
});
