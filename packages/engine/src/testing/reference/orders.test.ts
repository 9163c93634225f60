/**
 * The reference by hand: limit and market orders, and their fees. Every figure is worked out in the comment
 * next to it, from docs/engine.md.
 */
import { describe, expect, test } from "vitest";
import { STATUS_CANCELED, STATUS_FILLED, STATUS_RESTING } from "../../events/event-table.js";
import { END, REFUSAL } from "../../reasons.js";
import { Bench, eventsOf, only } from "./test-venue.js";

describe("a limit order", () => {
  test("rests with its reserve, fills in part, and keeps the rest", () => {
    const bench = new Bench(100);
    // 1,000 × 10 = 10,000 buys 100 lots at 100. Reserve: 10,000/10 + 10,000 × 0.02 % = 1,002.
    const placed = bench.bid("ann", 100, { margin: 1_000, leverage: 10 });
    expect(only(placed, "OrderRested").remainingLots).toBe(100);
    expect(only(placed, "OrderAcknowledged").status).toBe(STATUS_RESTING);
    expect(bench.wallet("ann")).toBe(998_998n);

    // 500 × 10 = 5,000 sells 50 lots at 100. Fees: taker ⌈2.5⌉ = 3, maker ⌈1⌉ = 1.
    const taken = bench.sell("bob", { margin: 500, leverage: 10 });
    expect(only(taken, "Traded")).toMatchObject({
      tradeKind: 0,
      takerSide: -1,
      priceTicks: 100,
      lots: 50,
      makerFeeMicros: 1,
      takerFeeMicros: 3,
    });
    expect(only(taken, "OrderAcknowledged")).toMatchObject({
      status: STATUS_FILLED,
      filledLots: 50,
      filledMicros: 5_000,
      feeMicros: 3,
      remainingLots: 0,
      positionLots: -50,
      positionCostMicros: -5_000,
      unrealizedMicros: 0,
    });
    expect(bench.wallet("bob")).toBe(999_497n); // 1,000,000 − 500 − 3
    // Ann: margin 500, fee 1, and 50 lots still reserve 500 + 1.
    expect(bench.wallet("ann")).toBe(998_998n); // 1,000,000 − 500 − 1 − 501
    expect(bench.position("ann")).toMatchObject({ lots: 50n, cost: 5_000n, margin: 500n });
    // Bob is touched first (his order), then Ann (the fill); fees came in.
    const settled = eventsOf(taken, "PositionSettled");
    expect(settled.map((each) => each.account)).toEqual([bench.account("bob"), 1]);
    expect(only(taken, "FundChanged")).toMatchObject({ fundMicros: 10_000, feesMicros: 4 });
  });

  test("a crossing short is sized at the best bid, not at its own lower price", () => {
    const bench = new Bench(100);
    bench.bid("ann", 103, { margin: 1_030, leverage: 1 });
    // ref = max(98, 103): ⌊1,000/103⌋ = 9 lots, all filled at 103.
    const placed = bench.ask("bob", 98, { margin: 1_000 });
    expect(only(placed, "OrderPlaced").lots).toBe(9);
    expect(only(placed, "OrderAcknowledged")).toMatchObject({
      status: STATUS_FILLED,
      filledMicros: 927,
    });
  });

  test("post-only refuses to cross and names the price in the way", () => {
    const bench = new Bench(100);
    bench.ask("ann", 101, { margin: 1_010 });
    const refused = bench.bid("bob", 101, { margin: 1_010, postOnly: true });
    expect(refused).toEqual([
      {
        kind: "CommandRefused",
        refusal: REFUSAL.post_only_would_cross,
        detail1: 101,
        detail2: 0,
      },
    ]);
  });
});

describe("a market order", () => {
  test("spends its budget level by level and is filled when no lot is affordable", () => {
    const bench = new Bench(100);
    bench.ask("ann", 100, { margin: 1_000 }); // 10 lots
    bench.ask("ann", 101, { margin: 1_010 }); // 10 lots
    bench.ask("ann", 102, { margin: 10_200 }); // 100 lots
    // Budget 2,500: 10 × 100, then 1,500 buys 14 at 101 but 10 are there, then 490 buys 4 at 102.
    // 82 left buy nothing at 102: filled.
    const taken = bench.buy("bob", { margin: 250, leverage: 10 });
    expect(only(taken, "OrderPlaced").lots).toBe(25);
    expect(only(taken, "OrderAcknowledged")).toMatchObject({
      status: STATUS_FILLED,
      reason: END.none,
      filledLots: 24,
      filledMicros: 2_418, // 1,000 + 1,010 + 408
      feeMicros: 3, // ⌈0.5⌉ + ⌈0.505⌉ + ⌈0.204⌉
      remainingLots: 0,
    });
    // Margin: 100 + (101 + loss 10) + (⌈40.8⌉ = 41 + loss 8) = 260.
    expect(bench.position("bob").margin).toBe(260n);
    expect(bench.wallet("bob")).toBe(999_737n); // 1,000,000 − 260 − 3
  });

  test("stops at the worst price, at the band, and at the end of the book", () => {
    const bench = new Bench(100);
    bench.ask("ann", 101, { margin: 1_010 });
    bench.ask("ann", 106, { margin: 1_060 });
    const worst = bench.buy("bob", { margin: 5_000, price: 100 });
    expect(only(worst, "OrderAcknowledged")).toMatchObject({
      status: STATUS_CANCELED,
      reason: END.worst_price,
      filledLots: 0,
      remainingLots: 50,
    });
    // 10 at 101 = 1,010; 106 is beyond 100 + 5: ⌊3,990/100⌋ = 39 lots' worth is left.
    const band = bench.buy("bob", { margin: 5_000 });
    expect(only(band, "OrderAcknowledged")).toMatchObject({
      reason: END.band,
      filledLots: 10,
      remainingLots: 39,
    });
    const empty = bench.sell("bob", { margin: 5_000 });
    expect(only(empty, "OrderAcknowledged")).toMatchObject({ reason: END.book_empty });
  });

  test("a self-trade ends the resting order", () => {
    const bench = new Bench(100);
    bench.ask("ann", 100, { margin: 1_000 });
    const taken = bench.buy("ann", { margin: 1_000 });
    expect(only(taken, "OrderEnded")).toMatchObject({ reason: END.self_trade, remainingLots: 10 });
    expect(only(taken, "OrderAcknowledged").reason).toBe(END.book_empty);
  });

  test("that can afford no lot of the first level that is not its own is below a lot", () => {
    const bench = new Bench(100);
    bench.ask("ann", 100, { margin: 1_000 });
    bench.ask("bob", 104, { margin: 1_040 });
    // Sized at 100: one lot. Its own order ends, and 102 buys nothing at 104.
    const taken = bench.buy("ann", { margin: 102 });
    expect(only(taken, "OrderPlaced").lots).toBe(1);
    expect(only(taken, "OrderAcknowledged")).toMatchObject({
      status: STATUS_CANCELED,
      reason: END.below_lot,
      filledLots: 0,
      remainingLots: 1, // ⌊102/100⌋
    });
  });
});
