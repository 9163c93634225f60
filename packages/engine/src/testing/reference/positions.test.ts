/**
 * The reference by hand: flips, reduce-only, rounding, and the reserves that settle keeps. Every
 * figure is worked out in the comment next to it, from docs/engine.md.
 */
import { describe, expect, test } from "vitest";
import { STATUS_RESTING } from "../../events/event-table.js";
import { END, REFUSAL } from "../../reasons.js";
import { Bench, eventsOf, only } from "./test-venue.js";

describe("a position", () => {
  /** Ann long 50 lots at 100 with margin 500; Bob the other side. */
  function longFifty(): Bench {
    const bench = new Bench(100);
    bench.ask("bob", 100, { margin: 5_000 });
    bench.buy("ann", { margin: 500, leverage: 10 });
    expect(bench.position("ann")).toMatchObject({ lots: 50n, cost: 5_000n, margin: 500n });
    expect(bench.wallet("ann")).toBe(999_497n); // 1,000,000 − 500 − 3
    return bench;
  }

  test("flips: the closing part first, then the opening part, a fee on each", () => {
    const bench = longFifty();
    bench.bid("cat", 100, { margin: 10_000 });
    // 8,000 sells 80 lots: 50 close (released 500, PnL 0, fee ⌈2.5⌉ = 3), 30 open at 10×
    // (margin 300, fee ⌈1.5⌉ = 2).
    const taken = bench.sell("ann", { margin: 800, leverage: 10 });
    expect(only(taken, "Traded")).toMatchObject({ lots: 80, takerFeeMicros: 5, takerPnlMicros: 0 });
    expect(bench.position("ann")).toMatchObject({ lots: -30n, cost: -3_000n, margin: 300n });
    expect(bench.wallet("ann")).toBe(999_692n); // 999,497 + 500 − 3 − 300 − 2
  });

  test("competing reduce-only orders: the second ends when the first has closed", () => {
    const bench = longFifty();
    // Any larger value closes exactly: both are clamped to 50 lots.
    const first = bench.ask("ann", 101, { margin: 1_000_000, reduceOnly: true });
    const second = bench.ask("ann", 102, { margin: 1_000_000, reduceOnly: true });
    expect(only(first, "OrderPlaced").lots).toBe(50);
    expect(only(second, "OrderPlaced").lots).toBe(50);
    expect(bench.wallet("ann")).toBe(999_497n);
    const taken = bench.buy("cat", { margin: 5_050 });
    const ended = eventsOf(taken, "OrderEnded");
    expect(ended.map((each) => [each.reason, each.remainingLots])).toEqual([
      [END.none, 0],
      [END.reduce_only, 50],
    ]);
    // Released 500, PnL 50 × 1 = 50, fee ⌈5,050 × 0.02 %⌉ = 2.
    expect(bench.wallet("ann")).toBe(1_000_045n);
    expect(bench.position("ann")).toMatchObject({ lots: 0n, cost: 0n, margin: 0n, realized: 50n });
    const refused = bench.ask("ann", 101, { margin: 1, reduceOnly: true });
    expect(only(refused, "CommandRefused").refusal).toBe(REFUSAL.reduce_only_without_position);
  });

  test("rounds released margin down, and removed cost up for longs and down for shorts", () => {
    const bench = new Bench(100);
    bench.bid("bob", 101, { margin: 101 }); // 1 lot
    bench.bid("bob", 100, { margin: 200 }); // 2 lots
    // Short 3 lots at 101 + 100 + 100 = 301, leverage 7: margin ⌈101/7⌉ + ⌈200/7⌉ = 15 + 29 = 44.
    bench.sell("ann", { margin: 43, leverage: 7 });
    expect(bench.position("ann")).toMatchObject({ lots: -3n, cost: -301n, margin: 44n });
    expect(bench.position("bob")).toMatchObject({ lots: 3n, cost: 301n });
    bench.ask("cat", 100, { margin: 100 });
    // One of three: released ⌊44/3⌋ = 14, removed ⌊301/3⌋ = 100, PnL 0.
    bench.buy("ann", { margin: 100, reduceOnly: true });
    expect(bench.position("ann")).toMatchObject({ lots: -2n, cost: -201n, margin: 30n });
    bench.bid("cat", 100, { margin: 100 });
    // The long: removed ⌈301/3⌉ = 101, PnL −1.
    bench.sell("bob", { margin: 100, reduceOnly: true });
    expect(bench.position("bob")).toMatchObject({ lots: 2n, cost: 200n, realized: -1n });
  });
});

describe("settle", () => {
  test("gives capacity by id, and cancels newest first what the wallet cannot fund", () => {
    const bench = new Bench(100, { devCreditMicros: 2_000 });
    bench.ask("bob", 100, { margin: 1_000, leverage: 10 });
    bench.buy("ann", { margin: 1_000, leverage: 10 }); // 100 lots, margin 1,000, fee 5
    expect(bench.wallet("ann")).toBe(995n);
    bench.ask("ann", 110, { margin: 660, leverage: 10 }); // 60 lots, all closing
    bench.ask("ann", 111, { margin: 4_440, leverage: 1 }); // 40 lots, all closing
    expect(bench.wallet("ann")).toBe(995n);
    // 40 lots beyond the position: 4,480/10 + ⌈0.896⌉ = 449.
    bench.ask("ann", 112, { margin: 448, leverage: 10 });
    expect(bench.wallet("ann")).toBe(546n);

    bench.bid("cat", 100, { margin: 1_000, leverage: 10 });
    // Closing releases 1,000 less the fee of 5: wallet 1,541. Now nothing is closing: the three
    // reserve 662 (660 + ⌈1.32⌉), 4,441 (4,440 + ⌈0.888⌉) and 449, together 5,552 for the 449
    // held: 1,541 − 5,103 = −3,562. Without the third −3,113, without the second 1,328.
    const taken = bench.sell("ann", { margin: 1_000, leverage: 10, reduceOnly: true });
    const ended = eventsOf(taken, "OrderEnded").filter((each) => each.account === 2);
    expect(ended.map((each) => [each.reason, each.remainingLots])).toEqual([
      [END.unfunded, 40],
      [END.unfunded, 40],
    ]);
    const [newest, older] = ended.map((each) => each.orderId);
    expect(newest).toBeGreaterThan(older ?? 0);
    expect(bench.wallet("ann")).toBe(1_328n);
    expect(bench.position("ann").orders.map((order) => order.reserve)).toEqual([662n]);
  });

  test("asks the maker again when the taker can fill fewer: its rounding differs", () => {
    const bench = new Bench(100, { devCreditMicros: 300 });
    bench.ask("bob", 100, { margin: 150, leverage: 2 }); // 3 lots
    bench.buy("ann", { margin: 7, leverage: 45 }); // 3 lots (315 of budget), margin ⌈300/45⌉ = 7
    expect(bench.position("ann")).toMatchObject({ lots: 3n, cost: 300n, margin: 7n });
    bench.ask("ann", 98, { margin: 294, reduceOnly: true }); // 3 lots at 98
    bench.index(95);
    // All three at 98: released 7, PnL −6, fee ⌈0.0588⌉ = 1: just enough. Cat wants three, but
    // 294 + loss 9 + fee 1 = 304 > 300, so two: for two, Ann has ⌊14/3⌋ = 4 − 4 < 1: bankruptcy.
    const placed = bench.bid("cat", 98, { margin: 294 });
    expect(eventsOf(placed, "Traded")).toEqual([]);
    expect(only(placed, "OrderEnded")).toMatchObject({ reason: END.bankruptcy, remainingLots: 3 });
    // The loop went on without a maker: Cat's order rests.
    expect(only(placed, "OrderAcknowledged").status).toBe(STATUS_RESTING);
  });
});
