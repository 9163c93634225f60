/** The backstop: what it takes, how much of it, and how it gets rid of it. */
import { describe, expect, test } from "vitest";
import { BTC, ETH } from "./listing.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

/** Alice long one coin at 50× (bankrupt at 49,000), Bob short; the index falls to 49,490. */
function alicesFall(config: ConstructorParameters<typeof Venue>[0] = {}) {
  const venue = new Venue(config);
  const alice = venue.trader("alice", 1_025);
  const bob = venue.trader("bob", 1_000_000);
  bob.sells("limit", { margin: 50_000, leverage: 1, price: 50_000 });
  alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
  venue.index(49_490);
  return { venue, alice, bob };
}

describe("taking", () => {
  test("an empty book: all lots at bankruptcy price, no fee, no margin of its own", () => {
    const { venue, alice } = alicesFall();
    venue.tick();
    expect(venue.happened("Traded")).toMatchObject([
      { tradeKind: 2, priceTicks: 490_000, lots: 100_000, makerAccount: 0, makerOrderId: 0 },
    ]);
    expect(venue.backstop()).toEqual({ size: 1, cost: 49_000 });
    expect([alice.wallet, venue.fund]).toEqual([0, 1_000_000]);
  });

  test("its cap, at mark: the rest is deleveraged", () => {
    // ⌊20,000 ÷ 49,490⌋ = 0.40412 coins.
    const { venue, bob } = alicesFall({ config: { backstopCapMicros: 20_000e6 } });
    venue.tick();
    expect(venue.happened("Liquidated")).toMatchObject([
      { backstopLots: 40_412, deleveragedLots: 59_588 },
    ]);
    expect(bob.position().size).toBe(-0.40412);
  });

  test("its position counts as open interest", () => {
    const listing = { ...BTC, config: { ...BTC.config, maxOpenInterestMicros: 74_235e6 } };
    const { venue, bob } = alicesFall({ markets: [listing] });
    venue.tick();
    expect(venue.backstop().size).toBe(1);
    // The bound is 1.5 coins at 49,490.
    const carol = venue.trader("carol", 100_000);
    bob.sells("limit", { size: 1, leverage: 1, price: 49_490 });
    expect(carol.buys("limit", { size: 1, price: 49_490 })).toMatchObject({
      reason: "open_interest_limit",
      filled: 0.5,
    });
  });

  test("the cap counts its positions in all markets", () => {
    const venue = new Venue({ markets: [BTC, ETH], config: { backstopCapMicros: 60_000e6 } });
    const alice = venue.trader("alice", 10_000);
    const bob = venue.trader("bob", 1_000_000);
    for (const [market, price] of [
      [BTC, 50_000],
      [ETH, 4_000],
    ] as const) {
      bob.sells("limit", { margin: 50_000, leverage: 1, price, market });
      alice.buys("limit", { margin: 1_000, leverage: 50, price, market });
    }
    venue.index(49_490, BTC);
    venue.index(3_959.2, ETH);
    venue.tick();
    // Both are short of 4.90, so BTC goes first: 49,490; ETH gets ⌊10,510 ÷ 3,959.2⌋ = 2.6545.
    expect(venue.backstop(BTC).size).toBe(1);
    expect(venue.backstop(ETH).size).toBe(2.6545);
  });

  test("no fund: it takes nothing that adds to its position", () => {
    const { venue } = alicesFall({ config: { fundSeedMicros: 0 } });
    venue.tick();
    expect(venue.happened("Liquidated")).toMatchObject([
      { backstopLots: 0, deleveragedLots: 100_000 },
    ]);
  });

  test("lots that reduce its position need neither cap nor fund", () => {
    const { venue, bob } = alicesFall();
    const carol = venue.trader("carol", 2_000);
    venue.tick();
    expect(venue.backstop().size).toBe(1);
    const config = { ...venue.config, backstopCapMicros: 0 };
    venue.operates({ kind: "Configure", config });
    // Carol shorts two coins at 50×; the mark rises; one coin nets the backstop, one is ADL'd.
    bob.buys("limit", { margin: 99_000, leverage: 1, price: 49_490 });
    carol.sells("limit", { margin: 1_900, leverage: 50, price: 49_490 });
    const { size, cost, margin } = carol.position();
    venue.index(50_000);
    venue.tick();
    const [netted, deleveraged] = venue.happened("Traded");
    // Down to the tick: ⌊(|cost| + margin) ÷ |size|⌋ = 50,479.8.
    expect(Math.floor(((-cost + margin) / -size) * 10) / 10).toBe(50_479.8);
    expect(netted).toMatchObject({ tradeKind: 2, priceTicks: 504_798, lots: 100_000 });
    expect(deleveraged).toMatchObject({ tradeKind: 3, lots: 91_957 });
    // Bought at 49,000, sold at 50,479.80: the fund's.
    expect(netted!.makerPnlMicros).toBe(1_479.8e6);
    expect(venue.backstop()).toEqual({ size: 0, cost: 0 });
    expect(Math.floor(venue.fund)).toBe(1_001_479);
  });
});

describe("unwinding", () => {
  /** The backstop is long a coin from 49,000; the mark is 49,490, reach 247.4, slice 0.40412. */
  function unwinding(version = 3): { venue: Venue; bob: Trader } {
    const { venue, bob } = alicesFall({ version });
    venue.tick();
    return { venue, bob };
  }

  test("one slice of the impact notional a tick, its profit to the fund", () => {
    const { venue, bob } = unwinding();
    bob.buys("limit", { margin: 49_500, leverage: 1, price: 49_500 });
    const sizes: number[] = [];
    for (let i = 0; i < 4; i++) {
      venue.tick();
      sizes.push(venue.backstop().size);
    }
    expect(sizes).toEqual([0.59588, 0.19176, 0, 0]);
    expect(venue.fund).toBe(1_000_500);
    // The maker pays its usual fee, each fill's rounded up.
    expect(venue.fees).toBe(44.9);
  });

  const rows: [version: number, price: number, taken: boolean][] = [
    [2, 49_242.6, true], // mark − ⌊0.5 %⌋, above its entry
    [2, 49_242.5, false],
    // Never below the index, whatever its entry.
    [3, 49_490, true],
    [3, 49_489.9, false],
  ];
  for (const [version, price, taken] of rows) {
    test(`version ${version}, a bid at ${price}: ${taken ? "taken" : "too low"}`, () => {
      const { venue, bob } = unwinding(version);
      bob.buys("limit", { margin: 49_300, leverage: 1, price });
      venue.tick();
      expect(venue.backstop().size).toBe(taken ? 0.59588 : 1);
    });
  }

  test("at a loss it sells no lower than the index", () => {
    const { venue, bob } = unwinding();
    // The index falls under its entry of 49,000; the mark with the book is index + 0.
    venue.index(48_800);
    bob.buys("limit", { margin: 49_300, leverage: 1, price: 48_799.9 });
    venue.tick();
    expect(venue.backstop().size).toBe(1);
    bob.buys("limit", { margin: 49_300, leverage: 1, price: 48_800 });
    venue.tick();
    expect(venue.backstop().size).toBe(0.59017);
    // 0.40983 coins, $200 a coin under cost.
    expect(venue.fund).toBe(1_000_000 - 81.966);
  });

  test("waits while the index is stale", () => {
    const { venue, bob } = unwinding();
    bob.buys("limit", { margin: 49_500, leverage: 1, price: 49_500 });
    venue.resumes(venue.now + 20_000);
    venue.tick();
    expect(venue.backstop().size).toBe(1);
    venue.refreshesIndex();
    venue.tick();
    expect(venue.backstop().size).toBe(0.59588);
  });
});

test("funding: the backstop pays and receives, from and into the fund", () => {
  for (const [bid, ask, sign] of [
    [47_100, 47_200, -1],
    [51_000, 51_100, 1],
  ] as const) {
    const { venue, bob } = alicesFall();
    venue.tick();
    const quinn = venue.trader("quinn", 1_000_000);
    // The backstop is the only long. A discount makes shorts pay it, a premium makes it pay them;
    // Quinn's bid above the mark is taken by its reduction, so she quotes just before the hour.
    venue.skipsTo(1_750_006_800_000);
    quinn.buys("limit", { margin: 30_000, leverage: 1, price: bid });
    quinn.sells("limit", { margin: 30_000, leverage: 1, price: ask });
    const lots = Math.round(venue.backstop().size * 1e5);
    const fund = venue.fund;
    venue.tick();
    const applied = venue.happened("FundingApplied")[0]!;
    expect(Math.sign(applied.rate)).toBe(sign);
    expect(applied.backstopMicros).toBe(Math.ceil((lots * applied.markTicks * applied.rate) / 1e9));
    if (sign < 0) {
      // He pays, rounded up.
      const exact = -(lots * applied.markTicks * applied.rate) / 1e9;
      expect(bob.fundingPaid()).toBe(Math.ceil(exact) / 1e6);
      expect(venue.fund).toBe((fund * 1e6 - applied.backstopMicros) / 1e6);
    }
  }
});
