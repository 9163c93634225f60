/**
 * Liquidation in the book. Alice is long one coin from $50,000 at 50×: margin $1,000, bankrupt at
 * $49,000, due once 1,000 + mark − 50,000 ≤ 1 % of mark, that is at $49,494.9.
 */
import { describe, expect, test } from "vitest";
import { END_REASONS } from "../../reasons.js";
import type { Trader } from "./trader.js";
import { START_MS, Venue } from "./venue.js";

function aliceAt50(): { venue: Venue; alice: Trader; bob: Trader } {
  const venue = new Venue();
  const alice = venue.trader("alice", 1_025);
  const bob = venue.trader("bob", 1_000_000);
  bob.sells("limit", { margin: 50_000, leverage: 1, price: 50_000 });
  alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
  expect([alice.wallet, alice.position().margin]).toEqual([0, 1_000]);
  return { venue, alice, bob };
}

/** Bob bids for this many coins at a price; he closes his short first. */
function bid(bob: Trader, coins: number, price: number): void {
  bob.buys("limit", { margin: coins * price, leverage: 1, price });
}

describe("when", () => {
  const rows: [index: number, due: boolean][] = [
    [49_495, false], // equity 495, maintenance 494.95
    [49_494.9, true], // equity 494.90, maintenance 494.949
  ];
  for (const [index, due] of rows) {
    test(`a mark of $${index}: ${due ? "due" : "not yet"}`, () => {
      const { venue, alice } = aliceAt50();
      venue.index(index);
      expect(alice.position().size).toBe(1);
      venue.tick();
      expect(alice.position().size).toBe(due ? 0 : 1);
    });
  }

  test("her orders in that market go first", () => {
    const { venue, alice, bob } = aliceAt50();
    const close = alice.sells("limit", { margin: 2_000, price: 52_000 });
    const stop = alice.buys("stop", { margin: 2_000, price: 52_000 });
    bid(bob, 1, 49_400);
    venue.index(49_490);
    venue.tick();
    const ended = venue.happened("OrderEnded").filter((event) => event.account === alice.account);
    expect(ended.map((event) => [event.orderId, END_REASONS[event.reason]])).toEqual([
      [close.orderId, "liquidation"],
      [stop.orderId, "liquidation"],
    ]);
  });
});

describe("in the book, without taker fee", () => {
  test("closed above bankruptcy: 0.5 % to the fund, the rest of the margin back", () => {
    const { venue, alice, bob } = aliceAt50();
    bid(bob, 1, 49_400);
    venue.index(49_490);
    venue.tick();
    // 1,000 − 600 = 400 left; 0.5 % of 49,400 is 247.
    expect(venue.happened("Liquidated")).toMatchObject([
      { closedLots: 100_000, feeMicros: 247e6, backstopLots: 0, deleveragedLots: 0 },
    ]);
    expect(alice.wallet).toBe(153);
    expect(venue.fund).toBe(1_000_247);
    expect(venue.happened("Traded")).toMatchObject([{ tradeKind: 1, takerFeeMicros: 0 }]);
  });

  test("little margin left: the fee takes what there is", () => {
    const { venue, alice, bob } = aliceAt50();
    bid(bob, 1, 49_100);
    venue.index(49_490);
    venue.tick();
    expect(alice.wallet).toBe(0);
    expect(venue.fund).toBe(1_000_100);
  });

  test("exactly at bankruptcy price: nothing left, no fee; a tick lower is not taken", () => {
    const { venue, alice, bob } = aliceAt50();
    bid(bob, 0.5, 49_000);
    bid(bob, 1, 48_999.9);
    venue.index(49_490);
    venue.tick();
    expect(venue.happened("Liquidated")).toMatchObject([
      { closedLots: 50_000, feeMicros: 0, backstopLots: 50_000 },
    ]);
    expect(alice.position()).toEqual({ size: 0, cost: 0, margin: 0 });
    expect(venue.fund).toBe(1_000_000);
  });

  test("tested again after the fills: a position made healthy stays, the fee is full", () => {
    const { venue, alice, bob } = aliceAt50();
    bid(bob, 0.4, 49_400);
    venue.index(49_490);
    venue.tick();
    // Margin 1,000 − 240 = 760, equity of 0.6 coins 454 > 296.94; fee 0.5 % of 19,760.
    expect(alice.position()).toEqual({ size: 0.6, cost: 30_000, margin: 661.2 });
    expect(venue.fund).toBe(1_000_098.8);
  });

  test("the fee leaves a position that stays just above maintenance", () => {
    const { venue, alice, bob } = aliceAt50();
    bid(bob, 0.9, 49_040);
    venue.index(49_490);
    venue.tick();
    // Margin 136, equity 85, maintenance 49.49: of 220.68 only 35.509999 are taken.
    expect(alice.position()).toEqual({ size: 0.1, cost: 5_000, margin: 100.490001 });
    expect(venue.fund).toBe(1_000_035.509999);
    venue.tick();
    expect(venue.happened("Liquidated")).toEqual([]);
  });

  test("bankruptcy price is recomputed after each fill, up to the tick; dust to the fund", () => {
    const { venue, alice, bob } = aliceAt50();
    bid(bob, 0.1, 49_010);
    venue.index(49_490);
    venue.tick();
    // 901 margin for 0.9 coins that cost 45,000: 48,998.88… → 48,998.9, one cent too much.
    expect(venue.happened("Traded").map((event) => [event.tradeKind, event.priceTicks])).toEqual([
      [1, 490_100],
      [2, 489_989],
    ]);
    expect(venue.backstop()).toEqual({ size: 0.9, cost: 44_099.01 });
    expect(venue.fund).toBe(1_000_000.01);
    expect(alice.wallet).toBe(0);
  });

  test("a short, mirrored: bankrupt at 51,000, down to the tick", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_100);
    const bob = venue.trader("bob", 1_000_000);
    bob.buys("limit", { margin: 50_000, leverage: 1, price: 50_000 });
    alice.sells("limit", { margin: 1_000, leverage: 50, price: 50_000 });
    bob.sells("limit", { margin: 50_600, leverage: 1, price: 50_600 });
    // 1,000 + 50,000 − mark ≤ 1 % of mark from 50,495.0495… on.
    venue.index(50_495);
    venue.tick();
    expect(alice.position().size).toBe(-1);
    venue.index(50_495.1);
    venue.tick();
    // 400 left, 0.5 % of 50,600 is 253.
    expect(alice.wallet).toBe(75 + 147);
    expect(venue.fund).toBe(1_000_253);
  });
});

describe("partial liquidation to a tier boundary", () => {
  /** Alice holds 30 coins, $1.5M, at 25×: margin 60,000, maintenance 10,000 + 2 % above $1M. */
  function large() {
    // Three times 2 % of the fund cover what the backstop takes.
    const venue = new Venue({ config: { fundSeedMicros: 50_000_000e6 } });
    const alice = venue.trader("alice", 61_000);
    const bob = venue.trader("bob", 5_000_000);
    bob.sells("limit", { margin: 1_500_000, leverage: 1, price: 50_000 });
    alice.buys("limit", { margin: 60_000, leverage: 25, price: 50_000 });
    return { venue, alice, bob };
  }

  test("closes down to $1M where that heals it, and no more", () => {
    const { venue, alice, bob } = large();
    bob.buys("limit", { margin: 486_000, leverage: 1, price: 48_600 });
    venue.index(48_620);
    venue.tick();
    // Equity 18,600 ≤ 19,172; less 0.5 % of 458,600 it is above 10,000. 20.56766 coins may stay.
    // 9.43234 coins at 48,600: PnL −13,205.276, fee 2,292.05862.
    expect(venue.happened("Liquidated")).toMatchObject([
      { closedLots: 943_234, feeMicros: 2_292_058_620, backstopLots: 0 },
    ]);
    expect(alice.position()).toEqual({ size: 20.56766, cost: 1_028_383, margin: 44_502.66538 });
  });

  test("an empty book: only the target lots go to the backstop", () => {
    const { venue, alice } = large();
    venue.index(48_620);
    venue.tick();
    // At bankruptcy price (1,500,000 − 60,000) ÷ 30 = 48,000, without fee.
    expect(venue.happened("Liquidated")).toMatchObject([
      { closedLots: 0, feeMicros: 0, backstopLots: 943_234 },
    ]);
    expect(venue.backstop()).toEqual({ size: 9.43234, cost: 452_752.32 });
    expect(alice.position().size).toBe(20.56766);
    expect(alice.position().margin).toBe(60_000 - 18_864.68);
  });

  test("too poor for the boundary: everything goes", () => {
    const { venue, alice } = large();
    // Equity 12,000; closing 448,000 would cost 2,240 of it: 9,760 is not above 10,000.
    venue.index(48_400);
    venue.tick();
    expect(alice.position().size).toBe(0);
    expect(venue.happened("Liquidated")).toMatchObject([{ backstopLots: 3_000_000 }]);
  });

  test("the fee takes no more than the margin, whatever the position's profit", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 200_000);
    const bob = venue.trader("bob", 5_000_000);
    const quinn = venue.trader("quinn", 1_000_000);
    // 60 coins 5 % under the mark; longs pay 0.5 % an hour, 15,000, until no margin is left.
    bob.sells("limit", { size: 60, leverage: 1, price: 47_500 });
    alice.buys("limit", { size: 60, leverage: 25, price: 47_500 });
    const quote = { margin: 50_000, leverage: 1 };
    const bid = quinn.buys("limit", { ...quote, price: 52_400 });
    const ask = quinn.sells("limit", { ...quote, price: 52_500 });
    for (let hour = 1; hour <= 14; hour++) {
      venue.skipsTo(START_MS + hour * 3_600_000);
      venue.tick();
    }
    expect(alice.position()).toEqual({ size: 60, cost: 2_946_000, margin: 0 });
    quinn.cancels(bid.orderId);
    quinn.cancels(ask.orderId);
    bob.buys("limit", { size: 60, leverage: 1, price: 49_131.2 });
    venue.index(49_931);
    venue.tick();
    // 39.97237 coins at 31.20 above their cost are all the margin; 9,819.45 would be the fee, and
    // the position is 6,642.96 above maintenance.
    expect(venue.happened("Liquidated")).toMatchObject([
      { closedLots: 3_997_237, feeMicros: 1_247_137_944, backstopLots: 0 },
    ]);
    expect(alice.position()).toEqual({ size: 20.02763, cost: 983_356.633, margin: 0 });
  });
});
