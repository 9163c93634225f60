/**
 * The mark: median of index + EMA(mid − index), median(bid, ask, last) and index, within index ±
 * half the lowest maintenance rate (BTCUSD 0.5 %), down to a whole tick. The mid counts where both sides
 * have the impact notional within 2 % of the index.
 */
import { describe, expect, test } from "vitest";
import { START_MS, Venue } from "./venue.js";

interface Book {
  readonly bid?: number;
  readonly ask?: number;
  readonly last?: number;
  /** Dollars that each side has. */
  readonly deep?: number;
}

/** The mark after the book was unchanged for this many seconds, with an index of $50,000. */
function markAfter(seconds: number, book: Book): number {
  const venue = new Venue();
  const maker = venue.trader("maker", 1_000_000);
  const taker = venue.trader("taker", 1_000_000);
  if (book.last !== undefined) {
    maker.sells("limit", { margin: 100, price: book.last });
    taker.buys("limit", { margin: 100, price: book.last });
  }
  const terms = { margin: book.deep ?? 100_000, leverage: 1 };
  if (book.bid !== undefined) maker.buys("limit", { ...terms, price: book.bid });
  if (book.ask !== undefined) maker.sells("limit", { ...terms, price: book.ask });
  venue.resumes(START_MS + seconds * 1_000);
  venue.index(50_000);
  return venue.mark();
}

describe("mark: the middle of three", () => {
  const rows: [what: string, seconds: number, book: Book, mark: number][] = [
    ["no book", 60, {}, 50_000],
    ["a bid alone counts the ask as index", 150, { bid: 50_200 }, 50_000],
    ["an ask alone", 150, { ask: 49_800 }, 50_000],
    // mid − index = 150; after 15 s of 150 s the average is 15; touch is the bid.
    ["a book above: the average moves slowly", 15, { bid: 50_100, ask: 50_200 }, 50_015],
    [
      "after 150 s the average is there, the touch holds it",
      150,
      { bid: 50_100, ask: 50_200 },
      50_100,
    ],
    ["longer gaps count as 150 s", 900, { bid: 50_100, ask: 50_200 }, 50_100],
    ["a book around the index leaves it", 150, { bid: 49_900, ask: 50_100 }, 50_000],
    ["above: clamped to + 0.5 %", 150, { bid: 50_900, ask: 51_000 }, 50_250],
    ["below: clamped to − 0.5 %", 150, { bid: 49_000, ask: 49_100 }, 49_750],
    // mid − index = 950 counts as 500; after 15 s of 150 s the average is 50.
    ["the mid counts as 1 % away at most", 15, { bid: 50_900, ask: 51_000 }, 50_050],
    ["the mid counts as 1 % below at most", 15, { bid: 49_000, ask: 49_100 }, 49_950],
    ["a bid more than 2 % below gives no mid", 150, { bid: 48_999.9, ask: 49_100 }, 50_000],
    ["an ask more than 2 % above gives no mid", 150, { bid: 50_900, ask: 51_000.1 }, 50_000],
    ["a bid more than 2 % above gives no mid", 150, { bid: 51_000.1, ask: 51_100 }, 50_000],
    // $20,000 is the impact notional.
    [
      "a side of the impact notional gives a mid",
      15,
      { bid: 50_100, ask: 50_200, deep: 20_001 },
      50_015,
    ],
    ["a side below it gives none", 150, { bid: 50_100, ask: 50_200, deep: 19_998 }, 50_000],
    // mid − index = 100; touch = median(50,050, 50,150, last).
    [
      "the last trade is part of the touch",
      150,
      { bid: 50_050, ask: 50_150, last: 50_060 },
      50_060,
    ],
    [
      "above the average the average decides",
      150,
      { bid: 50_050, ask: 50_150, last: 50_120 },
      50_100,
    ],
    // 2.5 ticks of gap × ½ = 1.25 ticks: down to a tick, also below the index.
    ["a fraction is cut, above", 75, { bid: 50_000.2, ask: 50_000.3 }, 50_000.1],
    ["a fraction is cut, below", 75, { bid: 49_999.7, ask: 49_999.8 }, 49_999.8],
  ];
  for (const [what, seconds, book, mark] of rows) {
    test(`${what}: ${mark}`, () => {
      expect(markAfter(seconds, book)).toBe(mark);
    });
  }
});

test("mark: recomputed by ticks, said only when it changes", () => {
  const venue = new Venue();
  const maker = venue.trader("maker", 1_000_000);
  maker.buys("limit", { margin: 10_000, price: 50_100 });
  expect(venue.tick().map((event) => event.kind)).toEqual(["BlockSealed"]);
  maker.sells("limit", { margin: 10_000, price: 50_200 });
  // 150 × 0.2 s ÷ 150 s = 20 cents a tick.
  venue.tick();
  expect(venue.happened("MarkChanged")).toMatchObject([{ market: 0, markTicks: 500_002 }]);
  expect(venue.mark()).toBe(50_000.2);
});

test("mark: stands still while the index is stale, however the book moves", () => {
  const venue = new Venue();
  const maker = venue.trader("maker", 1_000_000);
  venue.waits(11);
  venue.index(50_000);
  maker.buys("limit", { margin: 10_000, price: 50_100 });
  maker.sells("limit", { margin: 10_000, price: 50_200 });
  venue.waits(10);
  const mark = venue.mark();
  expect(mark).toBeGreaterThan(50_000);
  venue.waits(5);
  expect(venue.mark()).toBe(mark);
});

test("mark: an index move changes it immediately, the average stays", () => {
  const venue = new Venue();
  const maker = venue.trader("maker", 1_000_000);
  maker.buys("limit", { margin: 10_000, price: 50_100 });
  maker.sells("limit", { margin: 10_000, price: 50_200 });
  venue.resumes(START_MS + 15_000);
  venue.index(50_000);
  expect(venue.mark()).toBe(50_015);
  venue.index(50_050);
  expect(venue.mark()).toBe(50_065);
  venue.index(41_000);
  // index + average = 41,015, touch 50,100: the middle one.
  expect(venue.mark()).toBe(41_015);
});
