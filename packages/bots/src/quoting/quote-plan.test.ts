import { DEFAULT_MARKETS, type Market } from "@perpgate/protocol";
import { randomKey } from "@perpgate/protocol/random";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { marketTerms } from "../market/market-terms.js";
import { dollarsOf, ladderOf, type QuoteLadder } from "./ladder.js";
import { type NewQuote, planQuotes, type QuotePlan, type StandingQuote } from "./quote-plan.js";

const KEY = randomKey(1, "ladder/BTCUSD");
const LEVELS = 300;
const MAKERS = 3;
const NOBODY = { bidBelowTicks: Number.POSITIVE_INFINITY, askAboveTicks: 0 };

function plan(
  ladder: QuoteLadder,
  fairTicks: number,
  standing: readonly StandingQuote[],
): QuotePlan {
  return planQuotes({ ladder, fairTicks, makers: MAKERS, standing, ...NOBODY });
}

/** The open quotes after the plan is executed. */
function carriedOut(before: readonly StandingQuote[], { cancel, place }: QuotePlan) {
  const gone = new Set(cancel.map(({ orderId }) => orderId));
  const placed = place.map(({ side, ticks, maker }) => ({
    orderId: `${side} ${ticks}`,
    side,
    ticks,
    maker,
  }));
  return [...before.filter(({ orderId }) => !gone.has(orderId)), ...placed];
}

function quotesAt(ladder: QuoteLadder, fairTicks: number): StandingQuote[] {
  return carriedOut([], plan(ladder, fairTicks, []));
}

const sideOf = (quotes: readonly (NewQuote | StandingQuote)[], side: "bid" | "ask") =>
  quotes.filter((quote) => quote.side === side).map(({ ticks }) => ticks);

describe("quote plan", () => {
  const fair = 650_000.4;
  const ladder = ladderOf(KEY, fair, LEVELS);

  test("an empty book: hundreds of levels on both sides, nearest first, the best a tick or three apart", () => {
    const { place, cancel } = plan(ladder, fair, []);
    expect(cancel).toEqual([]);
    for (const side of ["bid", "ask"] as const) {
      expect(sideOf(place, side).length).toBeGreaterThan(0.7 * LEVELS);
      expect(sideOf(place, side).length).toBeLessThan(1.3 * LEVELS);
      expect(new Set(sideOf(place, side)).size).toBe(sideOf(place, side).length);
    }
    expect(place.map(({ gap }) => gap)).toEqual(place.map(({ gap }) => gap).sort((a, b) => a - b));
    const spread = Math.min(...sideOf(place, "ask")) - Math.max(...sideOf(place, "bid"));
    expect(spread).toBeGreaterThanOrEqual(1);
    expect(spread).toBeLessThanOrEqual(7);
  });

  test("far out: fewer levels than near, over the whole reach", () => {
    const bids = sideOf(plan(ladder, fair, []).place, "bid").map((ticks) => fair - ticks);
    const within = (from: number, to: number) =>
      bids.filter((gap) => gap >= from && gap < to).length;
    expect(within(0, 500)).toBeGreaterThan(3 * within(5_000, 5_500));
    expect(Math.max(...bids)).toBeGreaterThan(9_000);
  });

  test("makers: each has its share of the levels", () => {
    const { place } = plan(ladder, fair, []);
    for (let maker = 0; maker < MAKERS; maker++) {
      const share = place.filter((quote) => quote.maker === maker).length / place.length;
      expect(share).toBeGreaterThan(0.2);
    }
  });

  test("sizes: over three orders of magnitude", () => {
    const [btc] = DEFAULT_MARKETS;
    if (btc === undefined) throw new Error("no market");
    const terms = marketTerms(listed(btc));
    const dollars = plan(ladder, fair, []).place.map(({ ticks, gap }) =>
      dollarsOf(ladder, terms, ticks, gap),
    );
    expect(Math.min(...dollars)).toBeLessThan(25);
    expect(Math.max(...dollars)).toBeGreaterThan(10_000);
    expect(Math.max(...dollars)).toBeLessThanOrEqual(15_000);
  });

  test("quotes that match the ladder: nothing to do", () => {
    expect(plan(ladder, fair, quotesAt(ladder, fair))).toMatchObject({ cancel: [], place: [] });
  });

  test("the index moves a little: nearly everything stays, and moving back costs next to nothing", () => {
    const before = quotesAt(ladder, fair);
    const there = plan(ladder, fair + 30, before);
    expect(there.cancel.length + there.place.length).toBeLessThan(0.06 * before.length);
    const after = carriedOut(before, there);
    const back = plan(ladder, fair, after);
    expect(back.cancel.length + back.place.length).toBeLessThan(0.04 * before.length);
  });

  test("the index jumps over quotes: those it crossed are canceled first", () => {
    const before = quotesAt(ladder, fair);
    const { cancel, crossed } = plan(ladder, fair + 400, before);
    expect(crossed).toBeGreaterThan(20);
    for (const { side, ticks } of cancel.slice(0, crossed)) {
      expect(side).toBe("ask");
      expect(ticks).toBeLessThan(fair + 400);
    }
  });

  test("another trader's ask below the fair price: no bid at it or above", () => {
    const wall = 649_990;
    const { place } = planQuotes({
      ladder,
      fairTicks: fair,
      makers: MAKERS,
      standing: [],
      bidBelowTicks: wall,
      askAboveTicks: 0,
    });
    expect(Math.max(...sideOf(place, "bid"))).toBeLessThan(wall);
    expect(sideOf(place, "ask").length).toBeGreaterThan(100);
  });

  test("a price of a few ticks: every tick that there is, and none below one", () => {
    const coarse = ladderOf(KEY, 25, LEVELS);
    const { place } = plan(coarse, 25, []);
    expect(sideOf(place, "bid").length).toBeGreaterThan(3);
    expect(sideOf(place, "ask").length).toBeGreaterThan(3);
    const tiny = ladderOf(KEY, 1.2, LEVELS);
    for (const { ticks } of plan(tiny, 1.2, []).place) expect(ticks).toBeGreaterThanOrEqual(1);
  });

  test("a price of three ticks: what was placed is not canceled again", () => {
    for (const levels of [1, 40]) {
      const coarse = ladderOf(KEY, 3, levels);
      const standing = quotesAt(coarse, 3);
      expect(plan(coarse, 3, standing)).toMatchObject({ cancel: [], place: [] });
    }
  });

  test("same key: the same plan; another key: another", () => {
    expect(plan(ladderOf(KEY, fair, LEVELS), fair, [])).toEqual(plan(ladder, fair, []));
    const other = ladderOf(randomKey(2, "ladder/BTCUSD"), fair, LEVELS);
    expect(plan(other, fair, []).place).not.toEqual(plan(ladder, fair, []).place);
  });

  test("any walk of the price: bids stay below asks, and two plans leave nothing to do", () => {
    const walk = fc.array(fc.double({ min: -0.002, max: 0.002, noNaN: true }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.double({ min: 3, max: 5_000_000, noNaN: true }), walk, (start, moves) => {
        const shape = ladderOf(KEY, start, 40);
        let price = start;
        let standing = quotesAt(shape, price);
        for (const move of moves) {
          price *= 1 + move;
          // A new best quote may be one too many for its cell, which the second plan cancels.
          standing = carriedOut(standing, plan(shape, price, standing));
          standing = carriedOut(standing, plan(shape, price, standing));
          const bids = sideOf(standing, "bid");
          const asks = sideOf(standing, "ask");
          expect(Math.max(...bids)).toBeLessThan(Math.min(...asks));
          expect(plan(shape, price, standing)).toMatchObject({ cancel: [], place: [] });
        }
      }),
      { numRuns: 60 },
    );
  });
});

function listed(market: (typeof DEFAULT_MARKETS)[number]): Market {
  const { index: _, ...rest } = market;
  return {
    ...rest,
    maxLeverage: market.tiers[0]?.maxLeverage ?? 1,
    markPrice: null,
    indexPrice: null,
    fundingRate: null,
    nextFundingAt: null,
    minNotional: 1,
    minSize: market.lotSize,
    maxSize: null,
    maxOpenInterest: 200_000_000,
    status: "active",
  };
}
