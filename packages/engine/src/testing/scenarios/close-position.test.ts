/** Stops that close the whole position, whatever its size when they trigger. */
import { describe, expect, test } from "vitest";
import { audit } from "../../audit.js";
import { SMALL_TIERS } from "./listing.js";
import { aliceIsLong, RestoredVenue } from "./restored-venue.js";
import type { Answer, Trader } from "./trader.js";

function stopLoss(trader: Trader, price: number): Answer {
  return trader.sells("stop", { margin: 0, leverage: 1, price, closePosition: true });
}

function takeProfit(trader: Trader, price: number): Answer {
  const terms = { margin: 0, leverage: 1, price, closePosition: true, takeProfit: true };
  return trader.sells("stop", terms);
}

describe("placing it", () => {
  test("one for each side and trigger, and only where there may be something to close", () => {
    const { venue, alice, bob } = aliceIsLong();
    const stop = stopLoss(alice, 49_000);
    expect(stop).toMatchObject({ status: "pending", remaining: 0 });
    expect(stopLoss(alice, 48_000)).toMatchObject({
      reason: "close_position_in_use",
      details: [stop.orderId, 0],
    });
    expect(takeProfit(alice, 51_000).status).toBe("pending");
    expect(stopLoss(bob, 49_000).reason).toBe("reduce_only_without_position");
    const carol = venue.trader("carol", 10_000);
    expect(stopLoss(carol, 49_000).reason).toBe("reduce_only_without_position");
    // An entry that waits is enough; one that only reduces is not.
    carol.buys("limit", { margin: 100, price: 49_500 });
    expect(stopLoss(carol, 49_000).status).toBe("pending");
    expect(alice.openOrders()).toBe(2);
  });

  test("it takes neither size nor limit, and is for stops", () => {
    const { alice } = aliceIsLong();
    const terms = { margin: 0, leverage: 1, price: 49_000, closePosition: true };
    expect(alice.sells("limit", terms).reason).toBe("invalid_order");
    expect(alice.sells("stop", { ...terms, limit: 49_000 }).reason).toBe("invalid_order");
    expect(alice.sells("stop", { ...terms, size: 0.00001 }).reason).toBe("invalid_order");
    expect(alice.sells("stop", { ...terms, price: 50_000 }).reason).toBe("stop_would_trigger");
  });
});

describe("when it triggers", () => {
  test("it closes what is there then, and the other one ends with the position", () => {
    const { venue, alice, bob } = aliceIsLong();
    const stop = stopLoss(alice, 49_000);
    const profit = takeProfit(alice, 51_000);
    // Half a coin more than when it was placed.
    bob.sells("limit", { margin: 2_500, price: 50_000 });
    alice.buys("limit", { margin: 2_500, price: 50_000 });
    bob.buys("limit", { margin: 49_000, price: 49_000 });
    venue.restarts();
    venue.index(49_000);
    venue.tick();
    expect(alice.position().size).toBe(0);
    expect(venue.ended()).toContainEqual([stop.orderId, "none"]);
    expect(venue.ended()).toContainEqual([profit.orderId, "position_closed"]);
    expect(alice.openOrders()).toBe(0);
  });

  test("both reached in one tick: one closes, the other has nothing left to close", () => {
    const { venue, alice, bob } = aliceIsLong();
    const stop = stopLoss(alice, 49_900);
    bob.buys("limit", { margin: 49_000, price: 49_000 });
    venue.index(49_500);
    const profit = takeProfit(alice, 49_600);
    venue.index(49_700);
    venue.tick();
    expect(venue.happened("StopTriggered")).toMatchObject([{ orderId: stop.orderId }]);
    expect(venue.ended()).toContainEqual([stop.orderId, "none"]);
    expect(venue.ended()).toContainEqual([profit.orderId, "position_closed"]);
  });

  test("what the book cannot take is tried again, only when somebody is within the band", () => {
    const { venue, alice, bob } = aliceIsLong();
    const stop = stopLoss(alice, 49_000);
    bob.buys("limit", { margin: 2_450, price: 49_000 });
    venue.index(49_000);
    venue.tick();
    expect([alice.position().size, alice.openOrders()]).toEqual([1.5, 1]);
    expect(venue.ended().map(([id]) => id)).not.toContain(stop.orderId);
    venue.refreshesIndex();
    expect(venue.tick().map(({ kind }) => kind)).not.toContain("PositionSettled");
    // Below the band of 46,550, then at it; the mark has moved back meanwhile.
    bob.buys("limit", { margin: 4_600, price: 46_000 });
    venue.tick();
    expect(alice.position().size).toBe(1.5);
    venue.restarts();
    venue.index(49_400);
    bob.buys("limit", { margin: 4_900, price: 49_000 });
    venue.tick();
    expect(venue.happened("StopTriggered")).toEqual([]);
    expect(alice.position().size).toBe(0.5);
    bob.buys("limit", { margin: 4_900, price: 49_000 });
    venue.tick();
    expect(alice.position().size).toBe(0);
    expect(venue.ended()).toContainEqual([stop.orderId, "none"]);
  });

  test("at most 64 are tried again in a tick, the largest first, after all other stops", () => {
    const venue = new RestoredVenue();
    const bob = venue.trader("bob", 1_000_000);
    const holders = Array.from({ length: 70 }, (_, i) => venue.trader(`holder ${i}`, 1_000));
    const offer = bob.sells("limit", { margin: 100_000, price: 50_000 });
    // The later the larger.
    holders.forEach((holder, i) => {
      holder.buys("market", { margin: 10 + i });
      stopLoss(holder, 49_500);
    });
    bob.cancels(offer.orderId);
    const maker = venue.trader("maker", 1_000_000);
    venue.index(49_500);
    venue.tick();
    expect(venue.happened("StopTriggered")).toHaveLength(70);
    expect(holders.every((holder) => holder.position().size > 0)).toBe(true);
    const late = holders[0]!.sells("stop", { margin: 1, price: 49_400, reduceOnly: true });
    venue.index(49_400);
    maker.buys("limit", { margin: 100_000, price: 49_400 });
    venue.tick();
    expect(venue.happened("Traded")[0]).toMatchObject({ takerOrderId: late.orderId });
    const left = holders.filter((holder) => holder.position().size > 0);
    expect(left).toEqual(holders.slice(0, 6));
    venue.tick();
    expect(holders.every((holder) => holder.position().size === 0)).toBe(true);
  });

  test("once triggered it does not expire", () => {
    const { venue, alice, bob } = aliceIsLong();
    const terms = { margin: 0, leverage: 1, price: 49_000, closePosition: true };
    const stop = alice.sells("stop", { ...terms, expiresAt: venue.now + 1_000 });
    venue.index(49_000);
    venue.tick();
    venue.waits(2);
    expect(alice.openOrders()).toBe(1);
    bob.buys("limit", { margin: 10_000, price: 49_500 });
    venue.tick();
    expect(venue.ended()).toContainEqual([stop.orderId, "none"]);
    // One that waits does.
    bob.sells("limit", { margin: 5_000, price: 49_500 });
    alice.buys("market", { margin: 1_000 });
    const other = alice.sells("stop", {
      ...terms,
      price: 45_000,
      expiresAt: venue.now + 1_000,
    });
    expect(other.status).toBe("pending");
    venue.waits(1);
    expect(alice.openOrders()).toBe(0);
  });

  test.each([
    { version: 2, after: "it stays, triggered, and closes what comes after" },
    { version: 3, after: "it ends with the position of that moment, and what comes after is kept" },
  ])("version $version, with a partly filled entry: $after", ({ version }) => {
    const { venue, alice, bob } = aliceIsLong({ version });
    const entry = alice.buys("limit", { margin: 4_980, price: 49_800 });
    const stop = stopLoss(alice, 49_700);
    const carol = venue.trader("carol", 1_000_000);
    carol.buys("limit", { margin: 49_850, price: 49_850 });
    venue.index(49_600);
    venue.tick();
    // Two coins are sold to Carol; the entry of one still waits, and so does the stop of version 2.
    expect([alice.position().size, alice.openOrders()]).toEqual([0, version === 2 ? 2 : 1]);
    if (version === 3) expect(venue.ended()).toContainEqual([stop.orderId, "none"]);
    bob.sells("limit", { margin: 53_000, price: 49_800 });
    expect(alice.position().size).toBe(1);
    expect(venue.ended()).toContainEqual([entry.orderId, "none"]);
    carol.buys("limit", { margin: 9_940, price: 49_700 });
    venue.tick();
    expect(alice.position().size).toBe(version === 2 ? 0 : 1);
    if (version === 2) expect(venue.ended()).toContainEqual([stop.orderId, "none"]);
  });

  test("without a position: it ends, and what the entry opens later is not closed by it", () => {
    const venue = new RestoredVenue();
    const alice = venue.trader("alice", 100_000);
    alice.buys("limit", { margin: 4_950, price: 49_500 });
    const stop = takeProfit(alice, 50_500);
    venue.index(50_600);
    venue.tick();
    expect(venue.ended()).toContainEqual([stop.orderId, "position_closed"]);
    venue.trader("bob", 1_000_000).sells("limit", { margin: 4_950, price: 49_500 });
    venue.tick();
    expect(alice.position().size).toBe(1);
  });

  test.each([
    { version: 2, left: 0 },
    { version: 3, left: 1 },
  ])("version $version, lots opened after the trigger: $left of one left", ({ version, left }) => {
    const { venue, alice, bob } = aliceIsLong({ version });
    const stop = stopLoss(alice, 49_700);
    venue.index(49_600);
    // Nobody buys: it is triggered, and nothing trades.
    venue.tick();
    bob.sells("limit", { margin: 4_960, price: 49_600 });
    alice.buys("limit", { margin: 4_960, price: 49_600 });
    expect([alice.position().size, alice.openOrders()]).toEqual([3, 1]);
    bob.buys("limit", { margin: 50_000, price: 49_600 });
    venue.tick();
    expect(alice.position().size).toBe(left);
    expect(venue.ended()).toContainEqual([stop.orderId, "none"]);
  });

  test("other reductions take the newest lots first; its own only shrink", () => {
    const { venue, alice, bob } = aliceIsLong();
    const stop = stopLoss(alice, 49_700);
    venue.index(49_600);
    venue.tick();
    bob.sells("limit", { margin: 4_960, price: 49_600 });
    alice.buys("limit", { margin: 4_960, price: 49_600 });
    // Three coins, of which two are the stop's. Two are sold: one is left to the stop.
    bob.buys("limit", { margin: 9_920, price: 49_600 });
    alice.sells("limit", { margin: 9_920, price: 49_600 });
    expect([alice.position().size, alice.openOrders()]).toEqual([1, 1]);
    bob.sells("limit", { margin: 9_920, price: 49_600 });
    alice.buys("limit", { margin: 9_920, price: 49_600 });
    bob.buys("limit", { margin: 50_000, price: 49_600 });
    venue.tick();
    expect(alice.position().size).toBe(2);
    expect(venue.ended()).toContainEqual([stop.orderId, "none"]);
  });

  test("canceled with lots left: it counts nowhere any more", () => {
    const { venue, alice } = aliceIsLong();
    const stop = stopLoss(alice, 49_700);
    venue.index(49_600);
    venue.tick();
    expect(audit(venue.engine)).toEqual([]);
    expect(alice.cancels(stop.orderId)).toBeNull();
    expect(audit(venue.engine)).toEqual([]);
  });

  test("Upgrade fixes the lots of those triggered before, and ends those without a position", () => {
    const { venue, alice, bob } = aliceIsLong({ version: 2 });
    const kept = stopLoss(alice, 49_700);
    const carol = venue.trader("carol", 100_000);
    carol.buys("limit", { margin: 4_000, price: 40_000 });
    const idle = stopLoss(carol, 49_650);
    venue.index(49_600);
    venue.tick();
    venue.tick();
    expect([alice.openOrders(), carol.openOrders()]).toEqual([1, 2]);
    venue.operates({ kind: "Upgrade", version: 3 });
    expect(venue.ended()).toEqual([[idle.orderId, "position_closed"]]);
    bob.sells("limit", { margin: 4_960, price: 49_600 });
    alice.buys("limit", { margin: 4_960, price: 49_600 });
    bob.buys("limit", { margin: 50_000, price: 49_600 });
    venue.tick();
    expect(alice.position().size).toBe(1);
    expect(venue.ended()).toContainEqual([kept.orderId, "none"]);
  });
});

describe("how long it lives", () => {
  test("to the end of the position, if no entry waits", () => {
    const { venue, alice, bob } = aliceIsLong();
    const stop = stopLoss(alice, 49_000);
    bob.buys("limit", { margin: 10_000, price: 50_000 });
    alice.sells("market", { margin: 10_000 });
    expect(venue.ended()).toContainEqual([stop.orderId, "position_closed"]);
  });

  test("a flip ends it; with an entry on its other side it stays", () => {
    for (const hasEntry of [false, true]) {
      const { venue, alice, bob } = aliceIsLong();
      const stop = stopLoss(alice, 49_000);
      const entry = hasEntry ? alice.buys("stop", { margin: 510, price: 51_000 }) : null;
      bob.buys("limit", { margin: 15_000, price: 50_000 });
      alice.sells("market", { margin: 15_000 });
      expect(alice.position().size).toBe(-1);
      if (entry === null) {
        expect(venue.ended()).toContainEqual([stop.orderId, "position_closed"]);
        continue;
      }
      expect(alice.openOrders()).toBe(2);
      alice.cancels(entry.orderId);
      expect(venue.ended()).toEqual([
        [entry.orderId, "requested"],
        [stop.orderId, "position_closed"],
      ]);
    }
  });

  test("a reduce-only order, or one that closes too, does not keep it", () => {
    const { venue, alice, bob } = aliceIsLong();
    const buy = alice.buys("limit", { margin: 490, price: 49_000 });
    const stop = stopLoss(alice, 48_000);
    bob.buys("limit", { margin: 15_000, price: 50_000 });
    alice.sells("market", { margin: 15_000 });
    const cover = { margin: 0, leverage: 1, price: 52_000, closePosition: true };
    const other = alice.buys("stop", cover);
    alice.buys("limit", { margin: 490, price: 49_000, reduceOnly: true });
    alice.cancels(buy.orderId);
    expect(venue.ended()).toEqual([
      [buy.orderId, "requested"],
      [stop.orderId, "position_closed"],
    ]);
    expect(other.status).toBe("pending");
    expect(alice.openOrders()).toBe(2);
  });

  test("an entry stop that triggers keeps it, also while it meets the account's own quote", () => {
    const venue = new RestoredVenue();
    const alice = venue.trader("alice", 100_000);
    const bob = venue.trader("bob", 1_000_000);
    alice.buys("stop", { margin: 5_100, price: 51_000 });
    const stop = stopLoss(alice, 49_000);
    const own = alice.sells("limit", { margin: 510, price: 51_000 });
    bob.sells("limit", { margin: 10_000, price: 51_100 });
    venue.index(51_000);
    venue.tick();
    expect(alice.position().size).toBe(1);
    expect(venue.ended().map(([id]) => id)).toContain(own.orderId);
    expect(venue.ended().map(([id]) => id)).not.toContain(stop.orderId);
  });
});

describe("liquidation", () => {
  test("a partial one leaves it; one that ends the position ends it", () => {
    const venue = new RestoredVenue({ markets: [SMALL_TIERS] });
    const alice = venue.trader("alice", 2_000);
    const bob = venue.trader("bob", 1_000_000);
    // 0.08 coins, $4,000: in the second tier, 25×.
    bob.sells("limit", { margin: 4_000, leverage: 1, price: 50_000 });
    alice.buys("limit", { margin: 160, leverage: 25, price: 50_000 });
    const stop = stopLoss(alice, 47_000);
    const other = alice.sells("limit", { margin: 100, leverage: 1, price: 52_000 });
    bob.buys("limit", { margin: 10_000, leverage: 10, price: 49_000 });
    // Equity 160 − 96 = 64 against a maintenance of 68.08.
    venue.index(48_800);
    venue.tick();
    expect(venue.happened("Liquidated").length).toBeGreaterThan(0);
    expect(venue.ended()).toContainEqual([other.orderId, "liquidation"]);
    expect(alice.position().size).toBeGreaterThan(0);
    expect(alice.openOrders()).toBe(1);
    venue.index(47_900);
    venue.tick();
    expect(alice.position().size).toBe(0);
    expect(venue.ended()).toContainEqual([stop.orderId, "position_closed"]);
  });
});

describe("deleveraging", () => {
  /** Alice is long a coin at 50×, Bob short from her at 10×, with a take-profit and a stop-loss. */
  function bobIsShort(bobsCoins: number) {
    const venue = new RestoredVenue({ config: { backstopCapMicros: 0 } });
    const alice = venue.trader("alice", 1_100);
    const bob = venue.trader("bob", 100_000);
    const carol = venue.trader("carol", 100_000);
    bob.sells("limit", { size: bobsCoins, price: 50_000 });
    alice.buys("limit", { size: 1, leverage: 50, price: 50_000 });
    carol.buys("limit", { size: bobsCoins - 1, price: 50_000 });
    const terms = { margin: 0, leverage: 1, closePosition: true };
    const orders = [
      bob.buys("stop", { ...terms, price: 47_000, takeProfit: true }),
      bob.buys("stop", { ...terms, price: 52_000 }),
    ];
    venue.index(49_400);
    venue.tick();
    expect(venue.happened("Liquidated")).toMatchObject([{ deleveragedLots: 100_000 }]);
    return { venue, bob, ids: orders.map(({ orderId }) => orderId) };
  }

  test("a part of the position: both stay, and close what is left", () => {
    const { venue, bob, ids } = bobIsShort(3);
    expect(bob.position().size).toBe(-2);
    expect(venue.ended()).toEqual([]);
    venue.trader("dora", 1_000_000).sells("limit", { size: 5, price: 47_000 });
    venue.index(46_900);
    venue.tick();
    expect(bob.position().size).toBe(0);
    expect(venue.ended()).toContainEqual([ids[0], "none"]);
    expect(venue.ended()).toContainEqual([ids[1], "position_closed"]);
  });

  test("all of it: both end in the same tick", () => {
    const { venue, bob, ids } = bobIsShort(1);
    expect(bob.position().size).toBe(0);
    expect(venue.ended()).toEqual(ids.map((id) => [id, "position_closed"]));
  });
});
