/** Post-only, reduce-only, self-trade. */
import { describe, expect, test } from "vitest";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

/** Alice is long two coins from Bob at $50,000 (10×), and the book is empty. */
function aliceIsLong(): { venue: Venue; alice: Trader; bob: Trader } {
  const venue = new Venue();
  const alice = venue.trader("alice", 100_000);
  const bob = venue.trader("bob", 1_000_000);
  bob.sells("limit", { margin: 10_000, price: 50_000 });
  alice.buys("limit", { margin: 10_000, price: 50_000 });
  return { venue, alice, bob };
}

describe("post-only", () => {
  test("rests when it does not cross, is refused when it would, naming the best price", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 10_000);
    const bob = venue.trader("bob", 10_000);
    const postOnly = { margin: 1_000, postOnly: true };
    expect(alice.sells("limit", { ...postOnly, price: 50_100 }).status).toBe("resting");
    const crossing = bob.buys("limit", { ...postOnly, price: 50_100 });
    expect(crossing).toMatchObject({ reason: "post_only_would_cross", details: [501_000, 0] });
    expect(bob.buys("limit", { ...postOnly, price: 50_099.9 }).status).toBe("resting");
    const under = alice.sells("limit", { ...postOnly, price: 50_099.9 });
    expect(under).toMatchObject({ reason: "post_only_would_cross", details: [500_999, 0] });
  });
});

describe("self-trade", () => {
  test("the resting order is canceled and the new one goes on to others", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 100_000);
    const bob = venue.trader("bob", 100_000);
    const own = alice.sells("limit", { margin: 5_000, price: 50_000 });
    bob.sells("limit", { margin: 5_010, price: 50_100 });
    const answer = alice.buys("limit", { margin: 5_010, price: 50_100 });
    expect(answer).toMatchObject({ status: "filled", filled: 1, spent: 50_100 });
    expect(venue.endedWithRest()[0]).toEqual([own.orderId, "self_trade", 1]);
  });

  test("what the resting order had reserved can pay for the new one", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 10_000);
    const bob = venue.trader("bob", 100_000);
    // The ask reserves 5,000 + 10 maker fee; 4,990 stay, enough to place 4,900, not 5,000.
    alice.sells("limit", { margin: 5_000, price: 50_000 });
    bob.sells("limit", { margin: 10_000, price: 50_100 });
    const answer = alice.buys("market", { margin: 4_900 });
    expect(answer).toMatchObject({ status: "filled", filled: 0.97804 });
    // 10,000 − 4,899.9804 margin − 50 loss against mark… none: bought above the mark by 100 a coin.
    expect(alice.position()).toEqual({ size: 0.97804, cost: 48_999.804, margin: 4_997.7844 });
  });
});

describe("reduce-only at placement", () => {
  test("without an opposite position: refused", () => {
    const { alice, bob } = aliceIsLong();
    const terms = { margin: 10_000, price: 50_000, reduceOnly: true };
    expect(alice.buys("limit", terms).reason).toBe("reduce_only_without_position");
    expect(bob.sells("limit", terms).reason).toBe("reduce_only_without_position");
    expect(alice.sells("limit", terms).status).toBe("resting");
  });

  test("clamped to the position: margin × leverage is only a ceiling", () => {
    const { alice, venue } = aliceIsLong();
    const answer = alice.sells("limit", { margin: 1_000_000, price: 50_000, reduceOnly: true });
    expect(answer).toMatchObject({ status: "resting", remaining: 2 });
    expect(alice.reserved()).toBe(0);
    expect(venue.best().ask).toEqual([50_000, 2]);
  });

  test("smaller than the position it stays as it is", () => {
    const { alice } = aliceIsLong();
    const answer = alice.sells("limit", { margin: 2_500, price: 50_000, reduceOnly: true });
    expect(answer).toMatchObject({ status: "resting", remaining: 0.5 });
  });

  test("an exact close: any larger value closes to the lot and leaves nothing", () => {
    const { alice, bob } = aliceIsLong();
    bob.buys("limit", { margin: 30_000, price: 50_500 });
    const answer = alice.sells("market", { margin: 90_000_000, reduceOnly: true });
    expect(answer).toMatchObject({ status: "filled", filled: 2, spent: 101_000, fee: 50.5 });
    expect(alice.position()).toEqual({ size: 0, cost: 0, margin: 0 });
    // 100,000 − 50 (fee in) + 1,000 (profit) − 50.50 (fee out)
    expect(alice.wallet).toBe(100_899.5);
    expect(alice.realized()).toBe(1_000);
  });
});

describe("reduce-only while it rests", () => {
  test("competing reduce-only orders: the first to fill ends the others when flat", () => {
    const { alice, bob, venue } = aliceIsLong();
    const terms = { margin: 1_000_000, reduceOnly: true };
    const near = alice.sells("limit", { ...terms, price: 50_100 });
    const far = alice.sells("limit", { ...terms, price: 50_200 });
    const stop = alice.sells("stop", { ...terms, price: 49_000 });
    expect([near, far, stop].map((each) => each.remaining)).toEqual([2, 2, 2]);
    bob.buys("limit", { margin: 10_020, price: 50_100 });
    expect(alice.position().size).toBe(0);
    expect(venue.endedWithRest()).toEqual([
      [near.orderId, "none", 0],
      [far.orderId, "reduce_only", 2],
      [stop.orderId, "reduce_only", 2],
    ]);
    expect(alice.openOrders()).toBe(0);
  });

  test("clamped at each fill: a taker sweeping both takes no more than the position", () => {
    const { alice, bob, venue } = aliceIsLong();
    const terms = { margin: 1_000_000, reduceOnly: true };
    alice.sells("limit", { ...terms, price: 50_100 });
    const far = alice.sells("limit", { ...terms, price: 50_200 });
    bob.sells("limit", { margin: 5_030, price: 50_300 });
    const carol = venue.trader("carol", 100_000);
    const answer = carol.buys("market", { margin: 40_000 });
    expect(alice.position().size).toBe(0);
    // Two coins of Alice's, one of Bob's; the second reduce-only order ended in between.
    expect(answer).toMatchObject({ filled: 3, reason: "book_empty" });
    expect(venue.endedWithRest()).toContainEqual([far.orderId, "reduce_only", 2]);
  });

  test("half of the position closed elsewhere: the order fills only what is left", () => {
    const { alice, bob } = aliceIsLong();
    const resting = alice.sells("limit", { margin: 1_000_000, price: 50_100, reduceOnly: true });
    expect(resting.remaining).toBe(2);
    bob.buys("limit", { margin: 7_500, price: 50_000 });
    alice.sells("market", { margin: 7_500, leverage: 10 });
    expect(alice.position().size).toBe(0.5);
    const answer = bob.buys("limit", { margin: 10_020, price: 50_100 });
    expect(answer).toMatchObject({ filled: 0.5, status: "resting", remaining: 1.5 });
    expect(alice.position().size).toBe(0);
  });

  test("canceled in the same command when the position changes side", () => {
    const { alice, bob, venue } = aliceIsLong();
    const resting = alice.sells("limit", { margin: 1_000_000, price: 50_100, reduceOnly: true });
    bob.buys("limit", { margin: 15_000, price: 50_000 });
    alice.sells("market", { margin: 15_000 });
    expect(alice.position().size).toBe(-1);
    expect(venue.endedWithRest()).toContainEqual([resting.orderId, "reduce_only", 2]);
  });

  test("a reduce-only taker never flips, whatever the book offers", () => {
    const { alice, bob } = aliceIsLong();
    bob.buys("limit", { margin: 50_000, price: 50_000 });
    const limit = alice.sells("limit", { margin: 900_000, price: 50_000, reduceOnly: true });
    expect(limit).toMatchObject({ status: "filled", filled: 2, remaining: 0 });
    expect(alice.position().size).toBe(0);
  });

  test("a triggered reduce-only stop closes what is there now, not what was there", () => {
    const { alice, bob, venue } = aliceIsLong();
    const stop = alice.sells("stop", { margin: 1_000_000, price: 49_500, reduceOnly: true });
    bob.buys("limit", { margin: 5_000, price: 50_000 });
    alice.sells("market", { margin: 5_000 });
    expect(alice.position().size).toBe(1);
    bob.buys("limit", { margin: 50_000, price: 49_000 });
    venue.index(49_400);
    venue.tick();
    expect(alice.position().size).toBe(0);
    expect(venue.endedWithRest()).toContainEqual([stop.orderId, "reduce_only", 1]);
  });
});
