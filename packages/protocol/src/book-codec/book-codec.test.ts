import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Random } from "../numbers/random.js";
import { anySide, shuffledBytes } from "../testing/any-book.js";
import { sampleBooks } from "../testing/sample-books.js";
import { decodeSide } from "./decode-side.js";
import { encodeSide } from "./encode-side.js";
import { BookCodecError, type BookSide, type Level } from "./layout.js";
import { Odds } from "./odds.js";

const MAX = Number.MAX_SAFE_INTEGER;
/** Decimal, and the stricter of the two: 8 KB of 1,024 would be 8,192. */
const BAR_BYTES = 8_000;

function roundTrip(levels: readonly Level[], side: BookSide): void {
  expect(decodeSide(encodeSide(levels, side), side)).toEqual(levels);
}

describe("encodeSide and decodeSide", () => {
  test("any side: decodes to the same levels", () => {
    fc.assert(
      fc.property(fc.constantFrom<BookSide>("bid", "ask"), fc.gen(), (side, generate) => {
        roundTrip(generate(anySide, side), side);
      }),
      { numRuns: 3_000 },
    );
  });

  test("the extremes of ticks and lots: exact", () => {
    roundTrip([], "bid");
    roundTrip([[1, 0]], "ask");
    roundTrip(
      [
        [2 ** 33, MAX],
        [1, MAX],
      ],
      "bid",
    );
    roundTrip(
      [
        [1, 1],
        [MAX, MAX],
      ],
      "ask",
    );
    for (let bits = 0; bits <= 53; bits++) {
      const lots = Math.min(MAX, 2 ** bits);
      roundTrip([[650_000, lots]], "bid");
      roundTrip([[650_000, lots - 1]], "ask");
    }
  });

  test("round sizes, in lots and in money, at any price: exact", () => {
    for (const tick of [1, 7, 999, 650_000, 2 ** 33]) {
      for (let zeros = 0; zeros <= 15; zeros++) {
        for (const round of [10 ** zeros, 25 * 10 ** zeros, 3 * 10 ** zeros + 1]) {
          const amount = Math.min(MAX, round);
          roundTrip([[tick, amount]], "ask");
          roundTrip([[tick, Math.floor(amount / tick)]], "bid");
        }
      }
    }
  });

  test("no levels: no bytes", () => {
    expect(encodeSide([], "ask")).toHaveLength(0);
    expect(decodeSide(new Uint8Array(0), "ask")).toEqual([]);
  });

  test("bytes of one encoding: untouched by the next", () => {
    const levels: Level[] = [[650_000, 1_538]];
    const first = encodeSide(levels, "bid");
    encodeSide(
      [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
      "ask",
    );
    expect(decodeSide(first, "bid")).toEqual(levels);
  });

  test("levels out of order, not integers or below zero: rejected", () => {
    const wrong: [BookSide, Level[]][] = [
      [
        "ask",
        [
          [2, 1],
          [1, 1],
        ],
      ],
      [
        "bid",
        [
          [1, 1],
          [2, 1],
        ],
      ],
      [
        "bid",
        [
          [1, 1],
          [1, 1],
        ],
      ],
      ["ask", [[0, 1]]],
      ["ask", [[1.5, 1]]],
      ["ask", [[1, 0.5]]],
      ["ask", [[1, -1]]],
      ["ask", [[1, MAX + 1]]],
      ["ask", [[Number.NaN, 1]]],
    ];
    for (const [side, levels] of wrong) {
      expect(() => encodeSide(levels, side), JSON.stringify(levels)).toThrow(BookCodecError);
    }
  });
});

describe("size", () => {
  for (const seed of [1, 1_001, 2_001]) {
    test(`3,000 levels of every sample book, seed ${seed}: within ${BAR_BYTES} bytes`, () => {
      const sizes = sampleBooks(seed).map(({ name, bids, asks }) => {
        expect(bids.length + asks.length).toBe(3_000);
        const bytes = encodeSide(bids, "bid").length + encodeSide(asks, "ask").length;
        return { name, bytes };
      });
      for (const { name, bytes } of sizes) expect(bytes, name).toBeLessThan(BAR_BYTES - 200);
    });
  }

  test("a delta of one level: hardly any header", () => {
    expect(encodeSide([[650_000, 0]], "bid").length).toBeLessThanOrEqual(5);
    expect(encodeSide([[650_000, 4_321]], "bid").length).toBeLessThanOrEqual(7);
  });
});

describe("decodeSide, hostile bytes", () => {
  /** Either a side that a book can hold, or the codec's own error; nothing else, and soon. */
  function readsOrRefuses(bytes: Uint8Array, side: BookSide): void {
    try {
      const levels = decodeSide(bytes, side);
      expect(() => encodeSide(levels, side)).not.toThrow();
    } catch (error) {
      expect(error).toBeInstanceOf(BookCodecError);
    }
  }

  test("any bytes: a side or an error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom("bid", "ask"), readsOrRefuses),
      { numRuns: 5_000 },
    );
  });

  test("64 KiB of one byte, of every byte: ends", () => {
    for (let byte = 0; byte < 256; byte++) {
      readsOrRefuses(new Uint8Array(65_536).fill(byte), "bid");
    }
  });

  test("truncated, extended and changed sides: a side or an error, rarely a truncated side", () => {
    const random = new Random(20_261_115);
    let truncated = 0;
    let accepted = 0;
    for (const { bids } of sampleBooks(3)) {
      const bytes = encodeSide(bids.slice(0, 200), "bid");
      for (let cut = 1; cut < bytes.length; cut++, truncated++) {
        readsOrRefuses(bytes.subarray(0, cut), "bid");
        if (accepts(bytes.subarray(0, cut), "bid")) accepted++;
      }
      for (let i = 0; i < 200; i++) {
        readsOrRefuses(shuffledBytes(bytes, random), "bid");
        readsOrRefuses(Uint8Array.of(...bytes, random.below(256)), "bid");
      }
    }
    expect(accepted / truncated).toBeLessThan(0.01);
  });

  test("a byte without a level: rejected, an empty side has no bytes", () => {
    expect(() => decodeSide(Uint8Array.of(31), "ask")).toThrow(BookCodecError);
  });

  function accepts(bytes: Uint8Array, side: BookSide): boolean {
    try {
      return decodeSide(bytes, side).length > 0;
    } catch {
      return false;
    }
  }
});

test("odds: stay within 31 and 4065 whatever bits come", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 300 }), (bits) => {
      const odds = new Odds();
      for (const bit of bits) {
        odds.learn(0, bit);
        expect(odds.ofZero(0)).toBeGreaterThanOrEqual(31);
        expect(odds.ofZero(0)).toBeLessThanOrEqual(4_065);
      }
    }),
  );
  for (const bit of [0, 1]) {
    const odds = new Odds();
    for (let i = 0; i < 10_000; i++) odds.learn(0, bit);
    expect(odds.ofZero(0)).toBe(bit === 0 ? 4_065 : 31);
  }
});
