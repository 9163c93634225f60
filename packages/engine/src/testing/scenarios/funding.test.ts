/** Hourly funding with worked numbers. Alice is long, Bob short, Quinn quotes. */
import { describe, expect, test } from "vitest";
import { DUST, type Listing } from "./listing.js";
import type { Trader } from "./trader.js";
import { START_MS, Venue } from "./venue.js";

const HOUR_MS = 3_600_000;
const HOUR_1 = START_MS + HOUR_MS;

interface Market {
  readonly venue: Venue;
  readonly alice: Trader;
  readonly bob: Trader;
  readonly quinn: Trader;
}

/** Alice bought `coins` from Bob at $50,000 (10×). */
function market(coins = 1): Market {
  const venue = new Venue();
  const alice = venue.trader("alice", 100_000);
  const bob = venue.trader("bob", 100_000);
  const quinn = venue.trader("quinn", 1_000_000);
  bob.sells("limit", { margin: coins * 5_000, price: 50_000 });
  alice.buys("limit", { margin: coins * 5_000, price: 50_000 });
  return { venue, alice, bob, quinn };
}

function quote(quinn: Trader, bid: number, ask: number, dollars = 50_000): number[] {
  const terms = { margin: dollars, leverage: 1 };
  return [
    quinn.buys("limit", { ...terms, price: bid }).orderId,
    quinn.sells("limit", { ...terms, price: ask }).orderId,
  ];
}

describe("rate = (P + clamp(0.01 % − P, ±0.05 %)) ÷ 8, at most 0.5 % an hour", () => {
  // P in 10^−9 of the index per 8 h; payment = 1 coin × mark × rate.
  const rows: [string, number, number, rate: number, mark: number, longPays: number][] = [
    // P = 0: interest alone, 0.01 % ÷ 8.
    ["around the index", 49_990, 50_010, 12_500, 50_000, 0.625],
    // P = 0.03 %: still pulled to 0.01 %.
    ["a premium within the clamp", 50_015, 50_025, 12_500, 50_015, 0.625188],
    // P = 0.8 %: (0.8 − 0.05) ÷ 8 = 0.09375 %; the mark is at its clamp.
    ["a premium of 0.8 %", 50_400, 50_500, 937_500, 50_250, 47.109375],
    ["a discount of 0.8 %: shorts pay", 49_500, 49_600, -937_500, 49_750, -46.640625],
    // P = 4.8 %: 0.59375 % is capped; quotes that far away do not move the mark.
    ["a premium of 4.8 %", 52_400, 52_500, 5_000_000, 50_000, 250],
    ["a discount of 4.8 %", 47_500, 47_600, -5_000_000, 50_000, -250],
  ];
  for (const [what, bid, ask, rate, mark, longPays] of rows) {
    test(`${what}: rate ${rate}`, () => {
      const { venue, alice, bob, quinn } = market();
      quote(quinn, bid, ask);
      venue.skipsTo(HOUR_1);
      venue.tick();
      const applied = venue.happened("FundingApplied")[0]!;
      expect(applied).toMatchObject({ rate, markTicks: mark * 10, hourEndMs: HOUR_1 });
      const up = Math.abs(longPays);
      expect(alice.fundingPaid()).toBe(longPays);
      // Exact here but for 0.625188: the payer's 0.6251875 rounds up, the receiver's down.
      const down = up === 0.625188 ? 0.625187 : up;
      expect(bob.fundingPaid()).toBe(longPays > 0 ? -down : down);
      expect(alice.position().margin).toBe((5_000e6 - longPays * 1e6) / 1e6);
      expect(venue.fund).toBe(1_000_000);
    });
  }
});

describe("the premium sample", () => {
  test("needs the impact notional on both sides; an hour without a sample has rate 0", () => {
    const { venue, quinn } = market();
    // 0.39682 coins at 50,400 are $19,999.73: a few cents short of $20,000.
    quinn.buys("limit", { margin: 19_999.74, leverage: 1, price: 50_400 });
    quinn.sells("limit", { margin: 50_000, leverage: 1, price: 50_500 });
    venue.skipsTo(HOUR_1);
    venue.tick();
    expect(venue.happened("FundingApplied")).toMatchObject([{ rate: 0, backstopMicros: 0 }]);
  });

  test("walks the book for the impact notional", () => {
    const { venue, quinn } = market();
    // $10,080 at 50,400 and the rest at 50,200: 0.19761 coins, $9,920.022.
    quinn.buys("limit", { margin: 10_080, leverage: 1, price: 50_400 });
    quinn.buys("limit", { margin: 50_000, leverage: 1, price: 50_200 });
    quinn.sells("limit", { margin: 50_000, leverage: 1, price: 50_500 });
    venue.skipsTo(HOUR_1);
    venue.tick();
    // 20,000.022 ÷ 0.39761 = 50,300.601092…: P = 0.601202 %, rate = (P − 0.05 %) ÷ 8.
    expect(venue.happened("FundingApplied")).toMatchObject([{ rate: 689_002 }]);
  });

  test("is averaged over the hour's ticks", () => {
    const { venue, quinn } = market();
    const ids = quote(quinn, 50_400, 50_500);
    venue.tick();
    for (const id of ids) quinn.cancels(id);
    quote(quinn, 49_990, 50_010);
    venue.skipsTo(HOUR_1);
    venue.tick();
    // (0.8 % + 0) ÷ 2 = 0.4 %; (0.4 − 0.05) ÷ 8.
    expect(venue.happened("FundingApplied")).toMatchObject([{ rate: 437_500 }]);
  });
});

test("rounding: the payer's up, the receiver's down, the difference stays in the pool", () => {
  const { venue, alice, bob, quinn } = market(0.33333);
  expect(alice.position().size).toBe(0.33333);
  quote(quinn, 50_400, 50_500);
  venue.skipsTo(HOUR_1);
  venue.tick();
  // 0.33333 × 50,250 × 0.0009375 = 15.702967968…
  expect([alice.fundingPaid(), bob.fundingPaid()]).toEqual([15.702968, -15.702967]);
  // A second such hour doubles the exact amounts, 31.405935936…, and rounds once, when it settles.
  venue.skipsTo(HOUR_1 + HOUR_MS);
  venue.tick();
  expect([alice.fundingPaid(), bob.fundingPaid()]).toEqual([31.405936, -31.405935]);
  for (const trader of [alice, bob]) {
    trader.sells("limit", { margin: 100, price: 60_000 });
    const size = trader === alice ? 1 : -1;
    const [settled] = venue.happened("FundingSettled");
    const amountMicros = size > 0 ? 31_405_936 : -31_405_935;
    expect(settled).toMatchObject({ amountMicros, marginMicros: -amountMicros });
  }
  expect(venue.engine.state.totals.fundingPool).toBe(1);
  expect(venue.fund).toBe(1_000_000);
});

test("missed hours: each applied once, in order, those without samples at rate 0", () => {
  const { venue, alice, quinn } = market();
  quote(quinn, 50_400, 50_500);
  venue.tick();
  venue.resumes(START_MS + 3.5 * HOUR_MS);
  venue.index(50_000);
  venue.tick();
  const applied = venue.happened("FundingApplied");
  expect(applied.map((event) => [event.hourEndMs - START_MS, event.rate])).toEqual([
    [HOUR_MS, 937_500],
    [2 * HOUR_MS, 0],
    [3 * HOUR_MS, 0],
  ]);
  expect(alice.fundingPaid()).toBeGreaterThan(0);
  venue.tick();
  expect(venue.happened("FundingApplied")).toEqual([]);
});

test("after each hour's payment every due account is liquidated, in the same tick", () => {
  const venue = new Venue();
  const alice = venue.trader("alice", 100_000);
  const bob = venue.trader("bob", 100_000);
  const quinn = venue.trader("quinn", 1_000_000);
  bob.sells("limit", { margin: 1_000, leverage: 10, price: 50_000 });
  alice.buys("limit", { margin: 205, leverage: 49, price: 50_000 });
  // Margin 2.04 %, maintenance 1 %; longs pay 0.5 % an hour.
  quote(quinn, 52_400, 52_500);
  const liquidated: number[] = [];
  for (let hour = 1; hour <= 4; hour++) {
    venue.skipsTo(START_MS + hour * HOUR_MS);
    venue.tick();
    if (venue.happened("Liquidated").length > 0) liquidated.push(hour);
  }
  // Equity 2.04 → 1.54 → 1.04 → 0.54 % of the notional: due after the third payment.
  expect(liquidated).toEqual([3]);
  expect(alice.position().size).toBe(0);
});

describe("funding beyond margin", () => {
  /** Alice bought 20 coins 5 % under the mark: margin 38,000, profit 50,000. Longs pay 0.5 %. */
  function richOnPaper() {
    const venue = new Venue();
    const alice = venue.trader("alice", 100_000);
    const bob = venue.trader("bob", 200_000);
    bob.sells("limit", { margin: 38_000, leverage: 25, price: 47_500 });
    alice.buys("limit", { margin: 38_000, leverage: 25, price: 47_500 });
    quote(venue.trader("quinn", 1_000_000), 52_400, 52_500);
    const hour = (number: number): void => {
      venue.skipsTo(START_MS + number * HOUR_MS);
      venue.tick();
    };
    return { venue, alice, bob, hour };
  }

  test("a payer in profit pays on from the profit: its cost rises, the fund stays out of it", () => {
    const { venue, alice, bob, hour } = richOnPaper();
    // 20 × 50,000 × 0.5 % = 5,000 an hour: seven from the margin, 3,000 are left.
    for (let i = 1; i <= 7; i++) hour(i);
    expect(alice.position()).toEqual({ size: 20, cost: 950_000, margin: 3_000 });
    hour(8);
    expect(alice.position()).toEqual({ size: 20, cost: 952_000, margin: 0 });
    hour(9);
    expect(alice.position()).toEqual({ size: 20, cost: 957_000, margin: 0 });
    expect(bob.fundingPaid()).toBe(-9 * 5_000);
    expect(venue.fund).toBe(1_000_000);
  });

  test("nothing left: it is liquidated before the fund would pay for it", () => {
    const { venue, alice, hour } = richOnPaper();
    let hours = 0;
    while (alice.position().size === 20 && hours < 30) hour(++hours);
    // Equity 88,000; due at 10,000 after 16 hours.
    expect(hours).toBe(16);
    expect(venue.fund).toBeGreaterThanOrEqual(1_000_000);
  });

  /** Alice is far below water when the hour ends: a gap that no tick has seen. */
  function drowned() {
    const venue = new Venue({ config: { backstopCapMicros: 0 } });
    const alice = venue.trader("alice", 100_000);
    const bob = venue.trader("bob", 100_000);
    const carol = venue.trader("carol", 100_000);
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    carol.sells("limit", { margin: 10_000, price: 50_000 });
    alice.buys("limit", { margin: 3_000, leverage: 50, price: 50_000 });
    expect(alice.position().size).toBe(3);
    venue.skipsTo(HOUR_1);
    venue.index(40_000.3);
    quote(venue.trader("quinn", 1_000_000), 41_900, 42_000);
    venue.tick();
    return { venue, alice, bob, carol };
  }

  test("a payer under water: the debt is part of its bankruptcy price, receivers get all", () => {
    const { venue, alice, bob, carol } = drowned();
    // Mark 40,000.30: 0.5 % is 200.0015 a coin, of 1,000 margin a coin.
    expect(venue.happened("FundingSettled")).toMatchObject([
      { amountMicros: 600_004_500, marginMicros: -600_004_500 },
      { amountMicros: -200_001_500 },
      { amountMicros: -400_003_000 },
    ]);
    expect([bob.fundingPaid(), carol.fundingPaid()]).toEqual([-200.0015, -400.003]);
    // 50,000 − 1,000 + 200.0015, up to the tick; the dust of rounding is the fund's.
    const traded = venue.happened("Traded").filter((event) => event.tradeKind === 3);
    expect(traded.map((event) => event.priceTicks)).toEqual([492_001, 492_001]);
    expect(alice.position().size).toBe(0);
    expect(venue.fund).toBeCloseTo(1_000_000.2955, 6);
  });

  test("a short under water: its cost rises to a tick per lot, the fund pays what is left", () => {
    const penny: Listing = {
      ...DUST,
      startPrice: 3,
      config: { ...DUST.config, maxIndexJumpPpm: 10 ** 12, impactNotionalMicros: 1_000 },
    };
    const venue = new Venue({ markets: [penny] });
    const [alice, bob, quinn] = ["alice", "bob", "quinn"].map((name) => venue.trader(name, 10));
    alice!.sells("limit", { size: 0.001, price: 3, leverage: 20 });
    bob!.buys("limit", { size: 0.001, price: 3, leverage: 1 });
    // 1,000 lots at 3: cost −3,000, margin 150.
    expect(alice!.position()).toEqual({ size: -0.001, cost: -0.003, margin: 0.00015 });
    venue.skipsTo(HOUR_1);
    venue.index(1_000_000);
    quinn!.buys("limit", { size: 0.000001, price: 960_000, leverage: 1 });
    quinn!.sells("limit", { size: 0.000001, price: 965_000, leverage: 1 });
    venue.tick();
    // (3.5 − 0.05) ÷ 8 = 0.43125 % of 1,000 lots at 1,000,000.
    const owed = 4_312_500;
    const [applied] = venue.happened("FundingApplied");
    expect(applied).toMatchObject({ rate: -owed, markTicks: 1_000_000 });
    // The margin, and two of the three ticks per lot.
    const [settled] = venue.happened("FundingSettled");
    expect(settled).toMatchObject({ account: 1, amountMicros: 2_150, marginMicros: -150 });
    const socialised = venue.happened("LossSocialised").filter((loss) => loss.account === 1);
    expect(socialised).toMatchObject([{ amountMicros: owed - 2_150 }]);
    expect(alice!.fundingPaid()).toBe(0.00215);
    // So its lots have a price at which they can be handed over: one tick.
    const handedOver = venue.happened("Traded").filter((event) => event.takerAccount === 1);
    expect(handedOver.map((event) => [event.priceTicks, event.lots])).toEqual([[1, 1_000]]);
  });
});

test("an hour that ended while the market was halted: its samples count in no other", () => {
  const { venue, quinn } = market();
  const quotes = quote(quinn, 50_400, 50_500);
  venue.tick();
  venue.controls("halt");
  venue.pauses(HOUR_1);
  venue.tick();
  expect(venue.happened("FundingApplied")).toEqual([]);
  for (const id of quotes) quinn.cancels(id);
  venue.controls("resume");
  venue.skipsTo(HOUR_1 + HOUR_MS);
  venue.tick();
  expect(venue.happened("FundingApplied")).toMatchObject([{ rate: 0 }]);
});
