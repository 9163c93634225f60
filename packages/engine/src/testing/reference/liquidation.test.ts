/**
 * The reference by hand: liquidation in the book, backstop, deleveraging and socialised loss. Every
 * figure is worked out in the comment next to it, from docs/engine.md.
 */
import { describe, expect, test } from "vitest";
import { TRADE_ADL, TRADE_BACKSTOP, TRADE_LIQUIDATION } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { deleverage } from "./deleverage.js";
import { Bench, eventsOf, only } from "./test-venue.js";

describe("liquidation", () => {
  test("goes down to a tier bound if that is enough", () => {
    const bench = new Bench(100);
    bench.ask("bob", 100, { margin: 200_000, leverage: 10 });
    bench.buy("ann", { margin: 80_000, leverage: 25 }); // 20,000 lots, margin 80,000
    bench.bid("cat", 97, { margin: 194_000, leverage: 10 }); // 20,000 lots
    bench.index(97);
    // Notional 1,940,000, equity 80,000 − 60,000 = 20,000 ≤ maintenance 10,000 + 18,800.
    // B = 1,000,000: 20,000 − ⌈940,000 × 0.5 %⌉ = 15,300 > 10,000: close 20,000 − ⌊B/97⌋ = 9,691.
    const events = bench.tick();
    expect(only(events, "Traded")).toMatchObject({
      tradeKind: TRADE_LIQUIDATION,
      takerAccount: bench.account("ann"),
      takerOrderId: 0,
      lots: 9_691,
      takerFeeMicros: 0,
      takerPnlMicros: -29_073, // 940,027 − 969,100
    });
    // Fee ⌈940,027 × 0.5 %⌉ = 4,701, below 20,000 − 10,000 − 1.
    expect(only(events, "Liquidated")).toMatchObject({ closedLots: 9_691, feeMicros: 4_701 });
    // Margin 80,000 − 29,073 − 4,701.
    const position = { lots: 10_309n, cost: 1_030_900n, margin: 46_226n };
    expect(bench.position("ann")).toMatchObject(position);
    expect(bench.venue.state.fund).toBe(14_701n);
  });

  /** Ann long 100 lots at 1,000 with margin 2,000 (bankrupt at 980), Bob short. */
  function leveraged(settings: ConstructorParameters<typeof Bench>[1] = {}): Bench {
    const bench = new Bench(1_000, settings);
    bench.ask("bob", 1_000, { margin: 10_000, leverage: 10 });
    bench.buy("ann", { margin: 2_000, leverage: 50 });
    expect(bench.wallet("ann")).toBe(997_950n); // fee 50
    return bench;
  }

  test("closes everything in the book, ends the orders, and returns what the fee leaves", () => {
    const bench = leveraged();
    bench.ask("ann", 1_100, { margin: 1_100 });
    bench.bid("cat", 988, { margin: 98_800 });
    bench.index(985);
    // Equity 2,000 − 1,500 = 500 ≤ 985. At 988: PnL −1,200, margin 800, fee ⌈98,800 × 0.5 %⌉ = 494.
    const events = bench.tick();
    expect(eventsOf(events, "OrderEnded").map((each) => each.reason)).toEqual([
      END.liquidation,
      END.none,
    ]);
    expect(only(events, "Liquidated")).toMatchObject({ closedLots: 100, feeMicros: 494 });
    expect(bench.position("ann")).toMatchObject({ lots: 0n, cost: 0n, margin: 0n });
    expect(bench.wallet("ann")).toBe(998_256n); // 997,950 + 800 − 494
    expect(bench.venue.state.fund).toBe(10_494n);
  });

  test("what finds no maker goes to the backstop at the bankruptcy price, which sells it off", () => {
    const bench = leveraged();
    bench.index(985);
    // ⌊100,000 of cap/985⌋ = 101 lots of room for the 100, at ⌈98,000/100⌉ = 980.
    const events = bench.tick();
    expect(only(events, "Traded")).toMatchObject({
      tradeKind: TRADE_BACKSTOP,
      makerAccount: 0,
      makerOrderId: 0,
      priceTicks: 980,
      lots: 100,
      takerPnlMicros: -2_000,
    });
    expect(only(events, "Liquidated")).toMatchObject({ closedLots: 0, backstopLots: 100 });
    expect(bench.market.backstop).toEqual({ lots: 100n, cost: 98_000n });
    expect(bench.wallet("ann")).toBe(997_950n);

    // ⌊20,000/985⌋ = 20 lots a tick, at 985 − ⌊4.925⌋ = 981 or better: PnL 20 × 983 − 19,600 = 60.
    bench.bid("cat", 983, { margin: 49_150 }); // 50 lots
    const next = bench.tick();
    expect(only(next, "Traded")).toMatchObject({
      tradeKind: TRADE_BACKSTOP,
      takerAccount: 0,
      priceTicks: 983,
      lots: 20,
      takerPnlMicros: 60,
    });
    expect(bench.venue.state.fund).toBe(10_060n);
    expect(bench.market.backstop).toEqual({ lots: 80n, cost: 78_400n });
  });

  test("the backstop does not sell below the index at a loss", () => {
    const bench = leveraged();
    bench.index(985);
    bench.tick(); // 100 lots at 980
    bench.index(970);
    // Reach ⌊4.85⌋ = 4: 966; but the entry is 980 and the index 970: not below 970.
    bench.bid("cat", 969, { margin: 9_690 });
    expect(eventsOf(bench.tick(), "Traded")).toEqual([]);
    // ⌊20,000/970⌋ = 20 lots a tick, 10 are there: PnL 9,700 − 9,800.
    bench.bid("cat", 970, { margin: 9_700 });
    expect(only(bench.tick(), "Traded")).toMatchObject({ lots: 10, takerPnlMicros: -100 });
    expect(bench.venue.state.fund).toBe(9_900n);
  });

  test("without a fund it deleverages the highest ranked of the other side", () => {
    const bench = new Bench(1_000, { fundSeedMicros: 0 });
    bench.ask("bob", 1_000, { margin: 30_000, leverage: 2 }); // 60 lots
    bench.ask("cat", 1_000, { margin: 2_000, leverage: 20 }); // 40 lots
    bench.buy("ann", { margin: 2_000, leverage: 50 });
    bench.index(985);
    // Both have 15 ticks of profit per 1,000: 15,000 ppm. Bob: × ⌊100 × 59,100/30,900⌋ = 191; Cat:
    // × ⌊100 × 39,400/2,600⌋ = 1,515. Cat gives first.
    const traded = eventsOf(bench.tick(), "Traded");
    expect(traded.map((each) => [each.tradeKind, each.makerAccount, each.lots])).toEqual([
      [TRADE_ADL, bench.account("cat"), 40],
      [TRADE_ADL, bench.account("bob"), 60],
    ]);
    // PnL at 980: 40 × 20 and 60 × 20; Ann loses both.
    expect(traded.map((each) => each.makerPnlMicros)).toEqual([800, 1_200]);
    expect(traded.map((each) => each.takerPnlMicros)).toEqual([-800, -1_200]);
    // Maker fee ⌈40,000 × 0.02 %⌉ = 8; released 2,000.
    expect(bench.wallet("cat")).toBe(1_000_792n);
  });

  test("what would bankrupt the other side is charged to the fund, and logged", () => {
    const bench = leveraged({ fundSeedMicros: 0 });
    bench.index(900);
    // The winner leaves before the tick: Bob closes against Dan, a newcomer short from 900.
    bench.ask("dan", 900, { margin: 1_800, leverage: 50 });
    bench.buy("bob", { margin: 1_000_000, reduceOnly: true });
    expect(bench.position("bob").lots).toBe(0n);
    expect(bench.position("dan")).toMatchObject({ lots: -100n, margin: 1_800n });
    // Ann's 100 lots at 980: Dan has 1,800 + 90,000 − 98,000 = −6,200.
    const events = bench.tick();
    expect(only(events, "LossSocialised")).toEqual({
      kind: "LossSocialised",
      account: bench.account("dan"),
      market: 0,
      amountMicros: 6_200,
    });
    expect(only(events, "Traded")).toMatchObject({ tradeKind: TRADE_ADL, priceTicks: 980 });
    expect(only(events, "Liquidated")).toMatchObject({ backstopLots: 0, deleveragedLots: 100 });
    expect(bench.venue.state.fund).toBe(-6_200n);
    expect(bench.position("dan")).toMatchObject({ lots: 0n, cost: 0n, margin: 0n });
    // 1,000,000 − margin 1,800 − maker fee ⌈90,000 × 0.02 %⌉ = 18, and nothing comes back.
    expect(bench.wallet("dan")).toBe(998_182n);
  });
});

describe("deleveraging in two passes", () => {
  test("one passed over for a rounding gives fewer lots later without a loss to socialise", () => {
    const bench = new Bench(100, { fundSeedMicros: 0 });
    // Bob and Cat are set by hand: a difference of one micro is hard to trade into being.
    bench.ask("bob", 100, { margin: 1_000 });
    bench.ask("cat", 100, { margin: 300 });
    bench.buy("dan", { margin: 1_300 });
    const bob = bench.position("bob");
    const cat = bench.position("cat");
    expect([bob.lots, cat.lots]).toEqual([-10n, -3n]);
    bob.margin = 5n;
    bob.cost = -995n;
    const trades: [number, bigint, bigint][] = [];
    // At 100: Bob is ranked first (no equity to speak of). Five lots: ⌊2.5⌋ + ⌊497.5⌋ − 500 = −1:
    // passed over. Cat gives three. Of the two left Bob has 1 + 199 − 200 = 0: nothing is missing.
    deleverage(bench.venue.state, bench.market, -1, 5n, 100n, (maker, lots, pnl) => {
      trades.push([maker.account, lots, pnl]);
    });
    expect(trades).toEqual([
      [bench.account("cat"), 3n, 0n],
      [bench.account("bob"), 2n, -1n],
    ]);
    expect(bench.venue.state.fund).toBe(0n);
    expect(bob).toMatchObject({ lots: -8n, cost: -796n, margin: 4n });
  });
});
