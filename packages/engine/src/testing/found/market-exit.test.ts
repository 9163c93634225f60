/**
 * A market sell sized to close took more lots at lower bids, and opened a short without any check.
 * What it closes is never held back; what would open is judged at the fill.
 */
import { describe, expect, test } from "vitest";
import { END_REASONS } from "../../reasons.js";
import { BTC, SMALL_TIERS } from "../scenarios/listing.js";
import { RestoredVenue } from "../scenarios/restored-venue.js";
import type { Trader } from "../scenarios/trader.js";
import type { Venue } from "../scenarios/venue.js";

/** Alice is long one coin of $50,000; half a coin is bid at 50,000, the rest at 48,000. */
function thinBids(maxNotionalMicros = 0) {
  const venue = new RestoredVenue();
  const alice = venue.trader("alice", 100_000);
  const bob = venue.trader("bob", 1_000_000);
  bob.sells("limit", { margin: 5_000, price: 50_000 });
  alice.buys("market", { margin: 5_000 });
  bob.buys("limit", { margin: 2_500, price: 50_000 });
  bob.buys("limit", { margin: 96_000, price: 48_000 });
  if (maxNotionalMicros > 0) alice.signsIn({ maxNotionalMicros });
  return { venue, alice, bob };
}

/** Only Bob, who makes the market, may open. */
function closeCohort(venue: Venue, bob: Trader): void {
  venue.cohort("allowlist", [bob.address]);
}

describe("a market sell sized to close", () => {
  test("opens what its money buys at lower bids, where that is allowed", () => {
    const { alice } = thinBids();
    expect(alice.sells("market", { margin: 5_000 })).toMatchObject({ status: "filled" });
    // 25,000 ÷ 48,000 = 0.52083 coins at the second price.
    expect(alice.position().size).toBe(-0.02083);
  });

  test("cohort closed: closes exactly, and the rest is canceled", () => {
    const { venue, alice, bob } = thinBids();
    closeCohort(venue, bob);
    const answer = alice.sells("market", { margin: 5_000 });
    expect(answer).toMatchObject({ filled: 1, status: "canceled", reason: "not_in_cohort" });
    expect(alice.position().size).toBe(0);
  });

  test("stale index: closes exactly, and the rest is canceled", () => {
    const { venue, alice } = thinBids();
    venue.waits(11);
    const answer = alice.sells("market", { margin: 5_000 });
    expect(answer).toMatchObject({ filled: 1, status: "canceled", reason: "stale_index" });
    expect(alice.position().size).toBe(0);
  });

  test("session cap: opens up to it, at mark", () => {
    const { alice } = thinBids(500e6);
    const answer = alice.sells("market", { margin: 5_000 });
    expect(answer).toMatchObject({ filled: 1.01, reason: "session_notional_cap_exceeded" });
    expect(alice.position().size).toBe(-0.01);
  });

  test("an order larger than the position is taken, whatever may open: it closes first", () => {
    const { venue, alice, bob } = thinBids();
    closeCohort(venue, bob);
    expect(alice.sells("market", { margin: 20_000 })).toMatchObject({
      filled: 1,
      reason: "not_in_cohort",
    });
    // There is nothing to close any more.
    expect(alice.sells("market", { margin: 5_000 }).reason).toBe("not_in_cohort");
  });

  test("a crossing limit does the same", () => {
    const { venue, alice, bob } = thinBids();
    closeCohort(venue, bob);
    const answer = alice.sells("limit", { margin: 9_600, price: 48_000 });
    expect(answer).toMatchObject({ filled: 1, status: "canceled", reason: "not_in_cohort" });
  });
});

describe("tiers, at the fill", () => {
  function small(leverage: number) {
    const venue = new RestoredVenue({ markets: [SMALL_TIERS] });
    const alice = venue.trader("alice", 100_000);
    const bob = venue.trader("bob", 100_000);
    const carol = venue.trader("carol", 100_000);
    bob.sells("limit", { margin: 1, price: 50_000 });
    alice.buys("limit", { margin: 1, price: 50_000 });
    for (const maker of [bob, carol]) maker.buys("limit", { margin: 1_900, price: 50_000 });
    return alice.sells("market", { margin: 30_000 / leverage, leverage });
  }

  test("leverage 25: up to $5,000 beyond the closed $10", () => {
    expect(small(25)).toMatchObject({ spent: 5_010, reason: "leverage_above_tier" });
  });

  test("leverage 10: up to the position limit of $20,000", () => {
    expect(small(10)).toMatchObject({ spent: 20_010, reason: "position_limit" });
  });
});

describe("a stop sized to close", () => {
  /** The position shrinks to half before the stop triggers. */
  function halved(restrict: (venue: Venue, bob: Trader) => void) {
    const { venue, alice, bob } = thinBids();
    const stop = alice.sells("stop", { margin: 4_950, price: 49_500 });
    alice.sells("market", { margin: 2_500 });
    expect(alice.position().size).toBe(0.5);
    restrict(venue, bob);
    venue.index(49_400);
    venue.tick();
    const ended = venue.happened("OrderEnded").find((event) => event.orderId === stop.orderId)!;
    return {
      size: alice.position().size,
      reason: END_REASONS[ended.reason],
      left: ended.remainingLots / BTC.lotsPerCoin,
    };
  }

  test("opens the difference, where that is allowed", () => {
    expect(halved(() => {})).toEqual({ size: -0.5, reason: "none", left: 0 });
  });

  test("cohort closed: closes what is left, and ends", () => {
    expect(halved(closeCohort)).toEqual({ size: 0, reason: "not_in_cohort", left: 0.5 });
  });
});
