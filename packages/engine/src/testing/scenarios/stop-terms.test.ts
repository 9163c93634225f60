/** Take-profits, and stops that become limit orders. */
import { describe, expect, test } from "vitest";
import { END_REASONS } from "../../reasons.js";
import { BTC, type Listing, SMALL_TIERS } from "./listing.js";
import { RestoredVenue } from "./restored-venue.js";
import type { Trader } from "./trader.js";
import type { Venue } from "./venue.js";

function traders(...wallets: number[]): { venue: Venue; all: Trader[] } {
  return tradersOf(BTC, ...wallets);
}

function tradersOf(listing: Listing, ...wallets: number[]): { venue: Venue; all: Trader[] } {
  const venue = new RestoredVenue({ markets: [listing] });
  return { venue, all: wallets.map((dollars, i) => venue.trader(`trader ${i}`, dollars)) };
}

describe("a take-profit", () => {
  test("waits on the other side of the mark than a stop", () => {
    const { venue, all } = traders(10_000);
    const alice = all[0]!;
    const terms = { margin: 100, takeProfit: true };
    for (const price of [50_000, 51_000]) {
      expect(alice.buys("stop", { ...terms, price }).reason).toBe("stop_would_trigger");
    }
    expect(alice.sells("stop", { ...terms, price: 50_000 }).reason).toBe("stop_would_trigger");
    expect(alice.buys("stop", { ...terms, price: 49_999.9 }).status).toBe("pending");
    expect(alice.sells("stop", { ...terms, price: 50_000.1 }).status).toBe("pending");
    venue.tick();
    expect(venue.happened("StopTriggered")).toEqual([]);
  });

  test("triggers when the mark has come far enough, long below and short above", () => {
    const { venue, all } = traders(100_000, 1_000_000);
    const [alice, bob] = all as [Trader, Trader];
    bob.buys("limit", { margin: 20_000, price: 49_000 });
    bob.sells("limit", { margin: 20_000, price: 51_000 });
    const high = alice.sells("stop", { margin: 1_010, price: 50_500, takeProfit: true });
    const low = alice.buys("stop", { margin: 990, price: 49_500, takeProfit: true });
    venue.index(50_500);
    venue.tick();
    expect(venue.happened("StopTriggered")).toMatchObject([{ orderId: high.orderId }]);
    venue.index(49_500);
    venue.tick();
    expect(venue.happened("StopTriggered")).toMatchObject([{ orderId: low.orderId }]);
  });

  test("only for stops", () => {
    const { all } = traders(10_000);
    const terms = { margin: 100, price: 49_000, takeProfit: true };
    expect(all[0]!.buys("limit", terms).reason).toBe("invalid_order");
    expect(all[0]!.buys("market", terms).reason).toBe("invalid_order");
  });
});

describe("a stop with a limit", () => {
  test("the limit lies within the band of its price, on both sides", () => {
    const { all } = traders(10_000);
    const terms = { margin: 102, price: 51_000 };
    // 5 % of 51,000 are 2,550.
    const rows: [number, string][] = [
      [53_550.1, "limit_price_outside_band"],
      [48_449.9, "limit_price_outside_band"],
      [53_550, "none"],
      [48_450, "none"],
    ];
    for (const [limit, reason] of rows) {
      const answer = all[0]!.buys("stop", { ...terms, limit });
      expect(answer.reason).toBe(reason);
      if (reason !== "none") expect(answer.details).toEqual([484_500, 535_500]);
    }
  });

  test("takes what its limit crosses and rests with the rest, behind those who wait", () => {
    const { venue, all } = traders(100_000, 1_000_000, 100_000);
    const [alice, bob, carol] = all as [Trader, Trader, Trader];
    const stop = alice.buys("stop", { margin: 10_200, price: 51_000, limit: 51_100 });
    expect(stop).toMatchObject({ status: "pending", remaining: 2 });
    expect(alice.reserved()).toBe(0);
    const early = carol.buys("limit", { margin: 511, price: 51_100 });
    bob.sells("limit", { margin: 2_560, price: 51_200 });
    venue.index(51_000);
    venue.tick();
    expect(venue.happened("OrderRested")).toMatchObject([{ orderId: stop.orderId }]);
    // 2 coins at 51,100: 10,220 margin and 20.44 maker fee.
    expect([alice.reserved(), alice.openOrders()]).toEqual([10_240.44, 1]);
    expect(venue.best().bid).toEqual([51_100, 2.1]);
    venue.restarts();
    bob.sells("limit", { margin: 2_555, price: 51_100 });
    const makers = venue.happened("Traded").map(({ makerOrderId }) => makerOrderId);
    expect(makers).toEqual([early.orderId, stop.orderId]);
    expect(alice.position().size).toBe(0.4);
    expect(alice.cancels(stop.orderId)).toBeNull();
    expect(alice.reserved()).toBe(0);
  });

  test("an older order that triggers now is newer in the queue", () => {
    const { venue, all } = traders(100_000, 100_000, 100_000);
    const [alice, bob, carol] = all as [Trader, Trader, Trader];
    const stop = alice.buys("stop", { margin: 5_100, price: 51_000, limit: 51_000 });
    const limit = bob.buys("limit", { margin: 5_100, price: 51_000 });
    venue.index(51_000);
    venue.tick();
    carol.sells("market", { margin: 7_650 });
    expect(venue.happened("Traded").map((trade) => [trade.makerOrderId, trade.lots])).toEqual([
      [limit.orderId, 100_000],
      [stop.orderId, 50_000],
    ]);
  });

  test("nothing trades beyond the band, nor rests outside it", () => {
    const { venue, all } = traders(100_000, 1_000_000);
    const [alice, bob] = all as [Trader, Trader];
    // A take-profit to buy at 49,000 or below finds the mark at 45,000, its band up to 47,250.
    const far = alice.buys("stop", {
      margin: 4_900,
      price: 49_000,
      limit: 49_000,
      takeProfit: true,
    });
    const gone = alice.sells("stop", { margin: 4_900, price: 49_000, limit: 49_000 });
    bob.sells("limit", { margin: 1_000, leverage: 10, price: 47_500 });
    venue.index(45_000);
    venue.tick();
    expect(venue.endedWithRest()).toEqual([
      [far.orderId, "band", 1],
      [gone.orderId, "band", 1],
    ]);
    expect(venue.happened("Traded")).toEqual([]);
  });

  test("immediate or cancel: what does not fill is canceled", () => {
    const { venue, all } = traders(100_000, 1_000_000);
    const [alice, bob] = all as [Trader, Trader];
    const stop = alice.buys("stop", {
      margin: 10_200,
      price: 51_000,
      limit: 51_000,
      timeInForce: "ioc",
    });
    bob.sells("limit", { margin: 5_100, price: 51_000 });
    venue.index(51_000);
    venue.tick();
    expect(alice.position().size).toBe(1);
    expect(venue.endedWithRest().at(-1)).toEqual([stop.orderId, "not_filled", 1]);
  });

  test("the wallet does not fund all of it: the funded part rests", () => {
    const { venue, all } = traders(5_000, 1_000_000);
    const [alice] = all as [Trader];
    const stop = alice.buys("stop", { margin: 10_200, price: 51_000, limit: 51_000 });
    venue.index(51_000);
    venue.tick();
    // A coin needs 5,100 + 10.20; 5,000 fund 0.97843.
    expect(venue.happened("OrderReduced")).toMatchObject([
      { orderId: stop.orderId, remainingLots: 97_843 },
    ]);
    expect(alice.openOrders()).toBe(1);
    expect(alice.wallet).toBeLessThan(0.1);
  });

  test("without funds what closes rests all the same", () => {
    const { venue, all } = traders(5_025, 1_000_000);
    const [alice, bob] = all as [Trader, Trader];
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("limit", { margin: 5_000, price: 50_000 });
    expect(alice.wallet).toBe(0);
    const stop = alice.sells("stop", { margin: 9_800, price: 49_000, limit: 49_000 });
    venue.index(49_000);
    venue.tick();
    expect(venue.happened("OrderReduced")).toMatchObject([
      { orderId: stop.orderId, remainingLots: 100_000 },
    ]);
    expect(venue.best().ask).toEqual([49_000, 1]);
  });

  test("a session's cap cancels what would open, and the market's state, too", () => {
    const { venue, all } = traders(100_000);
    const [alice] = all as [Trader];
    const stop = alice.buys("stop", { margin: 5_100, price: 51_000, limit: 51_000 });
    venue.controls("reduceOnly");
    venue.index(51_000);
    venue.tick();
    expect(venue.endedWithRest()).toEqual([[stop.orderId, "market_reduce_only", 1]]);
  });

  test("what another order is to close already opens: the session's cap applies to it", () => {
    // A lot of which a tick is worth ten micros, too.
    const coarse = { ...BTC, lotsPerCoin: 10_000, config: { ...BTC.config, microsPerTickLot: 10 } };
    // One coin of the position at 49,000, and half of one that would open.
    for (const [listing, capMicros, rests] of [
      [BTC, 73_500_000_000, 0.9],
      [BTC, 73_499_999_999, 0.4],
      [coarse, 73_500_000_000, 0.9],
      [coarse, 73_499_999_999, 0.4],
    ] as const) {
      const { venue, all } = tradersOf(listing, 100_000, 1_000_000);
      const [alice, bob] = all as [Trader, Trader];
      bob.sells("limit", { margin: 5_000, price: 50_000 });
      alice.buys("limit", { margin: 5_000, price: 50_000 });
      alice.sells("limit", { size: 0.6, price: 51_000 });
      alice.signsIn({ maxNotionalMicros: capMicros });
      const stop = alice.sells("stop", { size: 0.9, price: 49_000, limit: 49_000 });
      expect(stop.status).toBe("pending");
      venue.index(49_000);
      venue.tick();
      expect(venue.best().ask).toEqual([49_000, rests]);
      const reasons = venue.happened("OrderReduced").map(({ reason }) => END_REASONS[reason]);
      expect(reasons).toEqual(rests === 0.9 ? [] : ["session_notional_cap_exceeded"]);
    }
  });

  test("lots that other orders close do not count against the other side", () => {
    const { venue, all } = traders(100_000, 1_000_000);
    const [alice, bob] = all as [Trader, Trader];
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("limit", { margin: 5_000, price: 50_000 });
    alice.sells("limit", { size: 0.6, price: 52_000 });
    // One coin of the position at 51,000, and half of one that would open.
    alice.signsIn({ maxNotionalMicros: 76_500_000_000 });
    alice.buys("stop", { size: 0.5, price: 51_000, limit: 51_000 });
    venue.index(51_000);
    venue.tick();
    expect(venue.best().bid).toEqual([51_000, 0.5]);
  });

  test("what rests beyond the position flips it: only that counts for its tier", () => {
    const { venue, all } = tradersOf(SMALL_TIERS, 100_000, 100_000);
    const [alice, bob] = all as [Trader, Trader];
    bob.sells("limit", { size: 0.016, leverage: 10, price: 50_000 });
    alice.buys("limit", { size: 0.016, leverage: 50, price: 50_000 });
    // 0.016 coins are below the $1,000 of 50×, twice as many are not.
    alice.sells("stop", { size: 0.032, leverage: 50, price: 49_900, limit: 49_900 });
    venue.index(49_900);
    venue.tick();
    expect(venue.best().ask).toEqual([49_900, 0.032]);
  });

  test("reduce-only, and larger than what is left of the position: it ends, reduce_only", () => {
    const { venue, all } = traders(100_000, 1_000_000);
    const [alice, bob] = all as [Trader, Trader];
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("limit", { margin: 5_000, price: 50_000 });
    const terms = { size: 1, reduceOnly: true, price: 49_000 };
    const stops = [alice.sells("stop", terms), alice.sells("stop", { ...terms, limit: 48_900 })];
    bob.buys("limit", { size: 2, leverage: 1, price: 48_950 });
    alice.sells("market", { size: 0.6 });
    venue.index(49_000);
    venue.tick();
    expect(alice.position().size).toBe(0);
    const ended = venue.endedWithRest();
    // The first takes what is left, and with that the second has nothing to reduce.
    expect(ended).toContainEqual([stops[0]!.orderId, "reduce_only", 0.6]);
    expect(ended).toContainEqual([stops[1]!.orderId, "reduce_only", 1]);
  });
});
