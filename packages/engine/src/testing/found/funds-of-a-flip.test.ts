/**
 * With a tiny opposite position the check of funds was skipped: an order of twice the wallet was taken
 * and spent all of it.
 */
import { describe, expect, test } from "vitest";
import { RestoredVenue } from "../scenarios/restored-venue.js";

/** Alice has $1,000 and is long a coin's worth of dollars. */
function longBy(dollars: number) {
  const venue = new RestoredVenue();
  const alice = venue.trader("alice", 1_000);
  const bob = venue.trader("bob", 1_000_000);
  bob.sells("limit", { margin: dollars / 10, price: 50_000 });
  alice.buys("limit", { margin: dollars / 10, price: 50_000 });
  return { venue, alice, bob };
}

describe("twice the wallet against a position of one lot", () => {
  test("a limit that would rest: refused, and the margin named is the largest that passes", () => {
    const { alice } = longBy(0.5);
    const order = { margin: 2_000, price: 51_000 };
    const refused = alice.sells("limit", order);
    expect(refused.reason).toBe("insufficient_margin");
    const largest = refused.details[0] / 1e6;
    // One lot closes; the rest needs 0.1 + 0.0002 of its notional, from $999.95 less the fee.
    expect(largest).toBeGreaterThan(998);
    expect(largest).toBeLessThan(1_000);
    const wallet = alice.wallet;
    expect(alice.sells("limit", { ...order, margin: largest + 0.000001 }).status).toBe("refused");
    expect(alice.wallet).toBe(wallet);
    expect(alice.sells("limit", { ...order, margin: largest }).status).toBe("resting");
  });

  test("a limit that would fill immediately: refused alike", () => {
    const { alice, bob } = longBy(0.5);
    bob.buys("limit", { margin: 10_000, price: 50_000 });
    expect(alice.sells("limit", { margin: 2_000, price: 50_000 }).reason).toBe(
      "insufficient_margin",
    );
  });

  test("a market order: takes what it can pay, the rest is canceled", () => {
    const { alice, bob } = longBy(0.5);
    bob.buys("limit", { margin: 10_000, price: 50_000 });
    const answer = alice.sells("market", { margin: 2_000 });
    expect(answer).toMatchObject({ status: "canceled", reason: "unfunded" });
    expect(answer.spent).toBeLessThanOrEqual(10_000);
  });
});

describe("margin that closing releases", () => {
  test("pays for what opens immediately", () => {
    const { alice, bob } = longBy(9_900);
    bob.buys("limit", { margin: 10_000, price: 50_000 });
    // The wallet has about $5; closing releases $990.
    const flip = alice.sells("limit", { margin: 1_900, price: 50_000 });
    expect(flip).toMatchObject({ status: "filled", filled: 0.38 });
    expect(alice.position().size).toBe(-0.182);
  });

  test("does not pay for what rests", () => {
    const { alice } = longBy(9_900);
    const flip = alice.sells("limit", { margin: 1_900, price: 50_000 });
    expect(flip.reason).toBe("insufficient_margin");
    expect(alice.sells("limit", { margin: 990, price: 50_000 }).status).toBe("resting");
  });

  test("of a crossing limit only what the book does not show must be funded by the wallet", () => {
    const { alice, bob } = longBy(9_900);
    bob.buys("limit", { margin: 990, price: 50_000 });
    // All of the long is bid for; the other half would rest.
    expect(alice.sells("limit", { margin: 1_900, price: 50_000 }).reason).toBe(
      "insufficient_margin",
    );
    const exit = alice.sells("limit", { margin: 990, price: 50_000 });
    expect(exit).toMatchObject({ status: "filled", filled: 0.198 });
  });
});

describe("an exit is not blocked by a resting exit", () => {
  /** The wallet is empty and the whole position is offered at 52,000. */
  function offered(reduceOnly: boolean) {
    const { venue, alice, bob } = longBy(9_950);
    bob.buys("limit", { margin: 10_000, price: 50_000 });
    const exit = alice.sells("limit", { margin: 1_034.8, price: 52_000, reduceOnly });
    expect(exit).toMatchObject({ status: "resting", remaining: 0.199 });
    return { venue, alice, exit };
  }

  for (const reduceOnly of [false, true]) {
    const name = reduceOnly ? "reduce-only" : "plain";
    test(`a market order closes; the resting ${name} exit follows the position`, () => {
      const { venue, alice } = offered(reduceOnly);
      const answer = alice.sells("market", { margin: 995 });
      expect(answer).toMatchObject({ status: "filled", filled: 0.199 });
      expect(alice.position().size).toBe(0);
      // A plain exit has become an order that opens, and the wallet cannot fund all of it.
      expect(venue.happened("OrderEnded").map((event) => event.account)).toContain(alice.account);
      expect(alice.openOrders()).toBe(0);
    });

    test(`a crossing limit closes next to a resting ${name} exit, cohort closed`, () => {
      const { venue, alice } = offered(reduceOnly);
      venue.cohort("closed");
      const answer = alice.sells("limit", { margin: 995, price: 50_000 });
      expect(answer).toMatchObject({ status: "filled", filled: 0.199 });
    });
  }

  test("a stop of the position's size waits next to it, cohort closed", () => {
    const { venue, alice } = offered(false);
    venue.cohort("closed");
    const stop = alice.sells("stop", { margin: 975.1, price: 49_000 });
    expect(stop).toMatchObject({ status: "pending", remaining: 0.199 });
  });
});
