/**
 * An index that jumps by more than 20 % is held back until it is confirmed, and after a start or a
 * resume nothing happens to anybody before a fresh index.
 */
import { describe, expect, test } from "vitest";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

/** Alice is long 1 at 50,000 with $1,000; Bob short, with a bid far below. */
function guarded(): { venue: Venue; alice: Trader; bob: Trader } {
  const venue = new Venue();
  const alice = venue.trader("alice", 100_000);
  const bob = venue.trader("bob", 100_000);
  bob.sells("limit", { margin: 5_000, price: 50_000 });
  alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
  return { venue, alice, bob };
}

function isHeld(venue: Venue): boolean {
  return venue.market().guard.isHolding;
}

describe("a jump", () => {
  test("of exactly 20 % passes; one tick more is held, and the mark stays", () => {
    const { venue } = guarded();
    venue.index(60_000);
    expect([isHeld(venue), venue.mark()]).toEqual([false, 60_000]);
    const again = guarded().venue;
    again.index(60_000.1);
    expect(again.happened("IndexHeld")).toMatchObject([{ indexTicks: 600_001 }]);
    expect([isHeld(again), again.mark()]).toEqual([true, 50_000]);
    const down = guarded().venue;
    down.index(40_000);
    expect(isHeld(down)).toBe(false);
    // From 50,000 and from 40,000 at most 20 %: 40,000 to 48,000.
    down.index(48_000);
    expect(isHeld(down)).toBe(false);
    down.index(48_000.1);
    expect(isHeld(down)).toBe(true);
  });

  test("in small steps: each is near the one before, the sum is too far from 10 s ago", () => {
    const { venue } = guarded();
    for (const price of [55_000, 60_000]) venue.index(price);
    venue.index(61_000);
    expect(isHeld(venue)).toBe(true);
    const slow = guarded().venue;
    slow.index(55_000);
    slow.waits(6);
    slow.index(60_000);
    slow.waits(4.4);
    // The 50,000 of the start is more than 10 s old.
    slow.index(65_000);
    expect(isHeld(slow)).toBe(false);
  });

  test("while held: no orders of any kind, no triggers, no liquidations; cancels work", () => {
    const { venue, alice, bob } = guarded();
    const bid = bob.buys("limit", { margin: 100, price: 40_000 });
    alice.sells("stop", { margin: 100, price: 49_000, reduceOnly: true });
    venue.index(30_000);
    expect(alice.buys("limit", { margin: 10, price: 49_000 }).reason).toBe("index_held");
    const exit = alice.sells("market", { margin: 10_000, reduceOnly: true });
    expect(exit.reason).toBe("index_held");
    expect(exit.details).toEqual([300_000, 500_000]);
    expect(bob.cancels(bid.orderId)).toBeNull();
    expect(venue.tick().map((event) => event.kind)).toEqual(["BlockSealed"]);
    expect(alice.position().size).toBe(1);
  });

  test("is confirmed by two updates within 5 %, the last at least 2 s after the jump", () => {
    const { venue, alice } = guarded();
    venue.index(30_000);
    venue.waits(1);
    venue.index(31_500);
    venue.waits(0.8);
    venue.index(28_500);
    // 1.8 s.
    expect(isHeld(venue)).toBe(true);
    venue.tick();
    venue.index(30_100);
    expect([isHeld(venue), venue.mark()]).toEqual([false, 30_100]);
    venue.tick();
    expect(alice.position().size).toBe(0);
    // The price of before no longer counts: the next one is compared with 30,100.
    venue.index(30_000);
    expect(isHeld(venue)).toBe(false);
    venue.index(50_000);
    expect(isHeld(venue)).toBe(true);
  });

  test("one update is not enough, however late it comes", () => {
    const { venue } = guarded();
    venue.index(30_000);
    venue.waits(5);
    venue.index(30_000);
    expect(isHeld(venue)).toBe(true);
    venue.index(30_000);
    expect(isHeld(venue)).toBe(false);
  });

  test("that is taken back: one update in range ends the hold", () => {
    const { venue, alice } = guarded();
    venue.index(30_000);
    venue.waits(1);
    venue.index(50_010);
    expect([isHeld(venue), venue.mark()]).toEqual([false, 50_010]);
    venue.tick();
    expect(alice.position().size).toBe(1);
  });

  test("followed by a third price, near neither: the hold begins again with it", () => {
    const { venue } = guarded();
    venue.index(30_000);
    venue.waits(1.8);
    venue.index(30_000);
    venue.index(70_000);
    venue.waits(1);
    venue.index(70_000);
    venue.index(70_000);
    expect(isHeld(venue)).toBe(true);
    venue.waits(1);
    venue.index(70_000);
    expect([isHeld(venue), venue.mark()]).toEqual([false, 70_000]);
  });

  test("a hold does not end by the age of the accepted indexes", () => {
    const { venue } = guarded();
    venue.index(30_000);
    for (let i = 0; i < 12; i++) {
      venue.waits(1);
      venue.index(i % 2 === 0 ? 70_000 : 30_000);
    }
    expect(isHeld(venue)).toBe(true);
    venue.index(50_000);
    expect(isHeld(venue)).toBe(false);
  });

  test("after ten seconds without any index the first one is taken as it is", () => {
    const { venue } = guarded();
    venue.waits(10.4);
    venue.index(30_000);
    expect([isHeld(venue), venue.mark()]).toEqual([false, 30_000]);
  });

  test("a restored venue holds on", () => {
    const { venue } = guarded();
    venue.index(30_000);
    venue.index(30_000);
    venue.restarts();
    expect(isHeld(venue)).toBe(true);
    venue.waits(2);
    venue.index(30_000);
    expect(isHeld(venue)).toBe(false);
  });
});

describe("after a start or a resume", () => {
  test("nothing is liquidated or triggered before an index of its slot or later", () => {
    const { venue, alice } = guarded();
    const stop = alice.sells("stop", { margin: 100, price: 49_900, reduceOnly: true });
    expect(stop.status).toBe("pending");
    venue.index(49_400);
    const resumedAt = venue.now + 1_000;
    const slot = resumedAt / 200;
    venue.resumes(resumedAt);
    // The index is one second old, and the position is due.
    expect(venue.tick().map((event) => event.kind)).toEqual(["BlockSealed"]);
    venue.apply({
      kind: "UpdateIndex",
      stampMs: resumedAt,
      market: 0,
      indexTicks: 494_000,
      slot: slot - 1,
    });
    venue.tick();
    expect(alice.position().size).toBe(1);
    venue.apply({ kind: "UpdateIndex", stampMs: resumedAt, market: 0, indexTicks: 494_000, slot });
    venue.tick();
    expect(alice.position().size).toBe(0);
  });

  test("an hour that ends meanwhile has no funding", () => {
    const { venue } = guarded();
    const quinn = venue.trader("quinn", 1_000_000);
    quinn.buys("limit", { margin: 50_000, leverage: 1, price: 50_400 });
    quinn.sells("limit", { margin: 50_000, leverage: 1, price: 50_500 });
    venue.tick();
    const hour = (Math.floor(venue.now / 3_600_000) + 1) * 3_600_000;
    venue.resumes(hour - 4_000);
    venue.refreshesIndex();
    venue.tick();
    venue.resumes(hour);
    venue.tick();
    expect(venue.happened("FundingApplied")).toMatchObject([{ rate: 0 }]);
  });
});
