/**
 * The reference by hand: mark and funding. Every
 * figure is worked out in the comment next to it, from docs/engine.md.
 */
import { describe, expect, test } from "vitest";
import { HOUR_MS } from "../../config.js";
import { Bench, eventsOf, only } from "./test-venue.js";

describe("the mark", () => {
  test("is the index alone while one side of the book is empty", () => {
    const bench = new Bench(1_000);
    bench.bid("ann", 990, { margin: 990 });
    expect(only(bench.index(1_010), "IndexUpdated").markTicks).toBe(1_010);
  });

  test("follows the smoothed middle, within half the lowest maintenance of the index", () => {
    const bench = new Bench(1_000);
    bench.bid("ann", 1_020, { margin: 1_020 });
    bench.ask("ann", 1_030, { margin: 1_030 });
    // mid − index = 25 ticks. After 200 ms: ema = trunc(25 × 65,536 × 200 / 150,000) = 2,184 (of
    // 65,536): the mark is still 1,000 and 2,184/65,536, rounded down.
    expect(eventsOf(bench.tick(), "MarkChanged")).toEqual([]);
    expect(bench.market.ema).toBe(2_184n);
    // A pause of 150 s replaces the ema: 25 ticks. The median of 1,025, median(1,020, 1,030, no
    // trade: 1,000) = 1,020 and 1,000 is 1,020; clamped to 1,000 + ⌊1,000 × 1 %/2⌋ = 1,005.
    bench.apply({ kind: "AskTime", stampMs: bench.now + 150_000 });
    expect(only(bench.index(1_000), "IndexUpdated").markTicks).toBe(1_005);
    expect(bench.market.ema).toBe(25n * 65_536n);
  });
});

describe("funding", () => {
  /** Ann long 1,000 lots at 100, Bob short; 400 lots bid at 100 and asked at 101. */
  function quoted(): Bench {
    const bench = new Bench(100);
    bench.ask("bob", 100, { margin: 10_000, leverage: 10 });
    bench.buy("ann", { margin: 10_000, leverage: 10 });
    bench.bid("cat", 100, { margin: 40_000 });
    bench.ask("cat", 101, { margin: 40_400 });
    return bench;
  }

  test("at no premium the interest is paid: the payer rounds up, the receiver down", () => {
    const bench = quoted();
    bench.tick();
    bench.apply({ kind: "AskTime", stampMs: 101 * HOUR_MS });
    bench.index(100);
    // P = 0: rate = 100,000/8 = 12,500 of 10^−9, so 100 × 12,500 a lot.
    expect(only(bench.tick(), "FundingApplied")).toEqual({
      kind: "FundingApplied",
      market: 0,
      rate: 12_500,
      markTicks: 100,
      hourEndMs: 101 * HOUR_MS,
      backstopMicros: 0,
    });
    expect(bench.market.cumulativeFunding).toBe(1_250_000n);
    // Booked with the next order: 1,000 lots × 1,250,000/10^9 = 1.25: Ann pays 2, Bob gets 1.
    expect(bench.position("ann")).toMatchObject({ margin: 10_000n, funding: 0n });
    expect(only(bench.bid("ann", 96, { margin: 96 }), "FundingSettled")).toMatchObject({
      amountMicros: 2,
      marginMicros: -2,
    });
    expect(only(bench.ask("bob", 104, { margin: 104 }), "FundingSettled")).toMatchObject({
      amountMicros: -1,
      marginMicros: 1,
    });
    expect(bench.position("ann")).toMatchObject({ margin: 9_998n, funding: 2n });
    expect(bench.position("bob")).toMatchObject({ margin: 10_001n, funding: -1n });
    expect(bench.venue.state.fundingPool).toBe(1n);
    expect(bench.venue.state.fund).toBe(10_000n);
  });

  test("at a premium the clamp takes half a permille of it, and missed hours have no rate", () => {
    const bench = quoted();
    bench.index(99);
    bench.tick();
    bench.apply({ kind: "AskTime", stampMs: 102 * HOUR_MS });
    bench.index(99);
    // Bids at 100 over an index of 99: P = ⌊10^9/99⌋ = 10,101,010; rate = (P − 500,000)/8 =
    // 1,200,126. 99,000 × that/10^9 = 118.8: pays 119.
    const applied = eventsOf(bench.tick(), "FundingApplied");
    expect(applied.map((each) => each.rate)).toEqual([1_200_126, 0]);
    const settled = only(bench.bid("ann", 96, { margin: 96 }), "FundingSettled");
    expect(settled.amountMicros).toBe(119);
  });

  test("a payer without margin pays from its unrealised profit", () => {
    const bench = quoted();
    // As if Ann had bought at 90.001 with a margin of 1: both sides of the identity fall by 9,999.
    const ann = bench.position("ann");
    ann.margin -= 9_999n;
    ann.cost -= 9_999n;
    bench.tick();
    bench.apply({ kind: "AskTime", stampMs: 101 * HOUR_MS });
    bench.index(100);
    expect(only(bench.tick(), "FundingApplied")).toMatchObject({ rate: 12_500 });
    // Owed 2: 1 from margin, 1 raises the cost.
    expect(only(bench.bid("ann", 96, { margin: 96 }), "FundingSettled")).toMatchObject({
      amountMicros: 2,
      marginMicros: -1,
    });
    expect(ann).toMatchObject({ margin: 0n, cost: 90_002n, funding: 2n });
  });
});
