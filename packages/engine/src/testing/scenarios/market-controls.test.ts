/** An operator's controls of a market: reduce-only, halt, resume, settle. */
import { describe, expect, test } from "vitest";
import { audit } from "../../audit.js";
import { Engine } from "../../engine.js";
import { END_REASONS } from "../../reasons.js";
import { MARKET_HALTED } from "../../state/market.js";
import { LightVenue } from "../rules/light-venue.js";
import { BTC, ETH, MICROS, UNGUARDED } from "./listing.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

/** Alice long one coin at $50,000 with 10×, Bob short. */
function opposed(options: ConstructorParameters<typeof Venue>[0] = {}) {
  const venue = new Venue(options);
  const alice = venue.trader("alice", 20_000);
  const bob = venue.trader("bob", 20_000);
  bob.sells("limit", { margin: 5_000, price: 50_000 });
  alice.buys("limit", { margin: 5_000, price: 50_000 });
  return { venue, alice, bob };
}

function endReasons(venue: Venue): string[] {
  return venue.happened("OrderEnded").map(({ reason }) => END_REASONS[reason]!);
}

describe("reduce-only", () => {
  test("what would open is canceled, what closes stays, in the same command", () => {
    const { venue, alice } = opposed();
    alice.buys("limit", { margin: 490, price: 49_000 });
    const exit = alice.sells("limit", { margin: 10_200, price: 51_000 });
    expect(exit).toMatchObject({ status: "resting", remaining: 2 });
    expect(venue.controls("reduceOnly")).toBeNull();
    expect(venue.status()).toBe("reduceOnly");
    expect(endReasons(venue)).toEqual(["market_reduce_only"]);
    expect(venue.happened("OrderReduced")).toMatchObject([
      { orderId: exit.orderId, remainingLots: BTC.lotsPerCoin },
    ]);
    expect(venue.best()).toEqual({ bid: null, ask: [51_000, 1] });
    expect(alice.reserved()).toBe(0);
  });

  test("an order that opens is refused, one that closes trades", () => {
    const { venue, alice, bob } = opposed();
    venue.controls("reduceOnly");
    expect(alice.buys("limit", { margin: 490, price: 49_000 }).reason).toBe("market_reduce_only");
    expect(bob.buys("limit", { margin: 2_500, price: 50_000 })).toMatchObject({ remaining: 0.5 });
    const close = alice.sells("market", { margin: 1e6, reduceOnly: true });
    expect(close).toMatchObject({ filled: 0.5, reason: "book_empty" });
    expect([alice.position().size, bob.position().size]).toEqual([0.5, -0.5]);
  });

  test("an exit that its position has outgrown is cut to the position", () => {
    const { venue, alice, bob } = opposed();
    venue.controls("reduceOnly");
    const exit = alice.sells("limit", { margin: 5_100, price: 51_000 });
    bob.buys("limit", { margin: 2_500, price: 50_000 });
    // Closing half of it by another order leaves half of the exit to close anything.
    alice.sells("limit", { margin: 2_500, price: 50_000, reduceOnly: true });
    expect(venue.happened("OrderReduced")).toMatchObject([
      { orderId: exit.orderId, remainingLots: BTC.lotsPerCoin / 2 },
    ]);
  });

  test("liquidations go on; resume lets positions be opened again", () => {
    const { venue, alice } = opposed();
    venue.controls("reduceOnly");
    venue.index(45_300);
    venue.tick();
    expect(venue.happened("Liquidated")).toHaveLength(1);
    expect(venue.controls("resume")).toBeNull();
    expect(alice.buys("limit", { margin: 450, price: 45_000 }).status).toBe("resting");
  });
});

describe("orders that end with another order", () => {
  const stopTerms = { margin: 0, leverage: 1, price: 45_000, closePosition: true };

  test.each([false, true])(
    "settle: an entry and the stop for it end once each, another trader's stop too (there is one: %s)",
    (hasOther) => {
      const { venue, bob } = opposed();
      const carol = venue.trader("carol", 1_000);
      const entry = carol.buys("limit", { margin: 100, price: 49_000 });
      const stop = carol.sells("stop", stopTerms);
      const other = hasOther ? [bob.sells("stop", { margin: 100, price: 45_000 }).orderId] : [];
      expect(venue.controls("settle", 50_000)).toBeNull();
      const ended = venue.happened("OrderEnded");
      expect(ended.map(({ orderId }) => orderId).sort()).toEqual(
        [entry.orderId, stop.orderId, ...other].sort(),
      );
      const reasons = new Map(ended.map(({ orderId, reason }) => [orderId, END_REASONS[reason]]));
      expect(reasons.get(entry.orderId)).toBe("market_settled");
      expect(reasons.get(stop.orderId)).toBe("position_closed");
      expect(carol.openOrders()).toBe(0);
    },
  );

  test("a liquidation before reduce-only has reached the account: each order ends once", () => {
    const venue = new LightVenue({ markets: [UNGUARDED, ETH] });
    const alice = venue.trader("alice", 20_000);
    for (let i = 0; i < 8; i++) {
      const trader = venue.trader(`trader ${i}`, 10_000);
      for (let n = 0; n < 500; n++) trader.buys("limit", { margin: 0.1, price: 40_000 });
    }
    const dora = venue.trader("dora", 1_000);
    alice.sells("limit", { margin: 100, price: 50_000 });
    dora.buys("limit", { margin: 100, price: 50_000 });
    const bids = [40_000, 40_001].map((price) => dora.buys("limit", { margin: 10, price }).orderId);
    expect(venue.controls("reduceOnly")).toBeNull();
    venue.index(44_000);
    venue.tick();
    const ended = venue.happened("OrderEnded").filter(({ orderId }) => bids.includes(orderId));
    expect(ended.map(({ reason }) => END_REASONS[reason])).toEqual([
      "liquidation",
      "market_reduce_only",
    ]);
    expect(dora.openOrders()).toBe(0);
    expect(audit(venue.engine)).toEqual([]);
  });
});

describe("halt and resume", () => {
  test("halted: only cancels work; resumed: nothing is liquidated before a fresh index", () => {
    const { venue, alice } = opposed();
    const bid = alice.buys("limit", { margin: 490, price: 49_000 });
    venue.index(45_300);
    expect(venue.controls("halt")).toBeNull();
    venue.tick();
    expect(venue.happened("Liquidated")).toEqual([]);
    const close = { margin: 1e6, price: 50_000, reduceOnly: true };
    expect(alice.sells("limit", close).reason).toBe("market_halted");
    venue.index(50_000);
    expect(venue.refusal).toBe("market_halted");
    expect(alice.cancels(bid.orderId)).toBeNull();

    expect(venue.controls("resume")).toBeNull();
    venue.tick();
    expect(venue.happened("Liquidated")).toEqual([]);
    venue.index(45_300);
    venue.tick();
    expect(venue.happened("Liquidated")).toHaveLength(1);
  });

  test("a market that an invariant halted: resumed or settled by the operator", () => {
    for (const action of ["resume", "settle"] as const) {
      const venue = new Venue({ markets: [UNGUARDED] });
      const alice = venue.trader("alice", 1_000_000);
      const bob = venue.trader("bob", 1_000_000);
      bob.sells("limit", { margin: 80_000, price: 50_000 });
      alice.buys("limit", { margin: 80_000, price: 50_000 });
      // At this price her position has no value in safe integers.
      venue.index(2 ** 33 / 10);
      venue.tick();
      expect(venue.happened("MarketHalted")).toHaveLength(1);
      expect(venue.status()).toBe("halted");
      expect(venue.controls(action, 50_000)).toBeNull();
      if (action === "settle") {
        expect([venue.status(), alice.realized()]).toEqual(["settled", 0]);
        continue;
      }
      venue.index(50_000);
      expect(alice.buys("limit", { margin: 490, price: 49_000 }).status).toBe("resting");
    }
  });

  test("other markets are not concerned", () => {
    const venue = new Venue({ markets: [BTC, ETH] });
    const alice = venue.trader("alice", 10_000);
    venue.controls("halt", 0, BTC);
    expect(alice.buys("limit", { margin: 400, price: 3_900, market: ETH }).status).toBe("resting");
  });
});

describe("settle", () => {
  test("every position is closed at the price, orders are canceled, and it is final", () => {
    const { venue, alice, bob } = opposed();
    alice.buys("limit", { margin: 490, price: 49_000 });
    bob.buys("stop", { margin: 5_200, price: 52_000 });
    const before = alice.wallet + alice.reserved() + alice.position().margin;
    expect(venue.controls("settle", 51_000)).toBeNull();
    expect(endReasons(venue)).toEqual(["market_settled", "market_settled"]);
    expect(venue.happened("CashSettled")).toMatchObject([
      { account: bob.account, pnlMicros: -1_000 * MICROS, paidMicros: 4_000 * MICROS },
      { account: alice.account, pnlMicros: 1_000 * MICROS, paidMicros: 6_000 * MICROS },
    ]);
    expect(alice.wallet).toBe(before + 1_000);
    expect([alice.position().size, bob.position().size]).toEqual([0, 0]);
    expect([alice.realized(), bob.realized()]).toEqual([1_000, -1_000]);
    expect(venue.status()).toBe("settled");
    for (const action of ["reduceOnly", "halt", "resume", "settle"] as const) {
      expect(venue.controls(action, 51_000)).toBe("market_settled");
    }
    expect(alice.buys("limit", { margin: 490, price: 49_000 }).reason).toBe("market_settled");
  });

  test("a loser pays its margin, and the fund the rest", () => {
    const { venue, alice, bob } = opposed();
    const [wallet, fund] = [bob.wallet, venue.fund];
    venue.controls("settle", 58_000);
    expect(bob.wallet).toBe(wallet);
    expect(venue.fund).toBe(fund - 3_000);
    expect(alice.realized()).toBe(8_000);
  });

  test("a fund that is too small: the winners are scaled alike, and it ends at zero", () => {
    const venue = new Venue({ config: { fundSeedMicros: 1_000 * MICROS } });
    const bob = venue.trader("bob", 20_000);
    const winners = [500, 1_000, 1_500].map((margin) => {
      const winner = venue.trader(`winner with ${margin}`, 20_000);
      bob.sells("limit", { margin, price: 50_000 });
      winner.buys("limit", { margin, price: 50_000 });
      return winner;
    });
    // They gained 1,000, 2,000 and 3,000. Bob has 3,000 of margin and the fund 1,000: each gets two
    // thirds, rounded down, and the micro that is left is the fund's.
    venue.controls("settle", 60_000);
    expect(winners.map((winner) => winner.realized())).toEqual([666.666666, 1_333.333333, 2_000]);
    expect(venue.fund).toBe(0.000001);
  });

  test("a fund below zero pays nothing and is not charged", () => {
    const { venue, alice } = opposed({ config: { fundSeedMicros: 0 } });
    venue.controls("settle", 58_000);
    expect(alice.realized()).toBe(5_000);
    expect(venue.fund).toBe(0);
  });

  test("the backstop settles against the fund", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_025);
    const bob = venue.trader("bob", 1_000_000);
    bob.sells("limit", { margin: 50_000, leverage: 1, price: 50_000 });
    alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
    venue.index(49_490);
    venue.tick();
    const { size, cost } = venue.backstop();
    expect(size).toBeGreaterThan(0);
    const fund = venue.fund;
    venue.controls("settle", 48_000);
    expect(venue.fund).toBeCloseTo(fund + 48_000 * size - cost, 5);
    expect(venue.backstop()).toEqual({ size: 0, cost: 0 });
    expect(bob.realized()).toBeCloseTo(2_000, 5);
  });

  test("a price that is no price, or no figure could hold: refused", () => {
    const { venue } = opposed();
    for (const price of [0, -1, 2 ** 50]) {
      expect(venue.controls("settle", price)).toBe("invalid_command");
    }
    expect(venue.status()).toBe("active");
  });

  test("continued after an invariant has stopped it among the losers: winners are paid the same", () => {
    const paidWith = (isInterrupted: boolean): number[] => {
      // The maker's margin pays only a part of what it loses, and there is no fund.
      const venue = new LightVenue({ config: { fundSeedMicros: 0 } });
      const maker = venue.trader("maker", 10_000_000);
      for (let i = 0; i < 1_500; i++) {
        maker.sells("limit", { margin: 5, price: 50_000 });
        venue.trader(`${i}`, 100).buys("limit", { margin: 5, price: 50_000 });
      }
      venue.controls("settle", 60_000);
      const paid = [...venue.happened("CashSettled")];
      if (isInterrupted) {
        // What a failure leaves, once its own changes are undone.
        venue.market().status = MARKET_HALTED;
        expect(venue.controls("settle", 60_000)).toBeNull();
        paid.push(...venue.happened("CashSettled"));
      }
      while (venue.status() === "settling") {
        venue.tick();
        paid.push(...venue.happened("CashSettled"));
      }
      return paid.map(({ paidMicros }) => paidMicros);
    };
    const paid = paidWith(false);
    expect(paid).toHaveLength(1_501);
    expect(paidWith(true)).toEqual(paid);
  });

  test("more than a tick may settle: 1,024 a tick, and a restore in between is the same", () => {
    const venue = new LightVenue();
    const maker = venue.trader("maker", 10_000_000);
    const crowd: Trader[] = [];
    for (let i = 0; i < 1_500; i++) {
      const trader = venue.trader(`${i}`, 100);
      crowd.push(trader);
      maker.sells("limit", { margin: 5, price: 50_000 });
      trader.buys("limit", { margin: 5, price: 50_000 });
    }
    expect(venue.market().longLots).toBe(1_500 * 0.001 * BTC.lotsPerCoin);
    venue.controls("settle", 51_000);
    const settled = [venue.happened("CashSettled").length];
    const other = Engine.restore(venue.engine.snapshot());
    while (venue.status() === "settling") {
      expect(audit(venue.engine)).toEqual([]);
      venue.tick();
      settled.push(venue.happened("CashSettled").length);
      venue.repeats(other, { kind: "Tick", slot: venue.engine.state.lastTickMs / 200 });
      expect(Buffer.compare(other.snapshot(), venue.engine.snapshot())).toBe(0);
    }
    expect(audit(venue.engine)).toEqual([]);
    expect(settled.every((count) => count <= 1_024)).toBe(true);
    expect(settled.length).toBeGreaterThan(1);
    expect(settled.reduce((a, b) => a + b)).toBe(1_501);
    expect(crowd.every((trader) => trader.realized() === 1)).toBe(true);
  });
});
