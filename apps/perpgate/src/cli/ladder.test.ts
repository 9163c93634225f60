import { describe, expect, test } from "vitest";
import { type LadderStyle, ladderLines } from "./ladder.js";
import { fixed } from "./quantities.js";
import { noPaint } from "./style.js";

const PLAIN: LadderStyle = {
  price: (value) => fixed(value, 1),
  size: (value) => fixed(value, 2),
  paint: noPaint,
  barWidth: 0,
};

describe("ladderLines", () => {
  test("asks above, bids below, the best in the middle, cumulative sizes", () => {
    const book = {
      bids: [
        [99.5, 2],
        [99, 10],
      ],
      asks: [
        [100, 1],
        [100.5, 0.25],
      ],
    } as const;
    expect(ladderLines(book, PLAIN)).toEqual([
      "price   size  total",
      "100.5   0.25   1.25",
      "100.0   1.00   1.00",
      "spread 0.5",
      " 99.5   2.00   2.00",
      " 99.0  10.00  12.00",
    ]);
  });

  test("bars: the deepest side fills the width, the others are in proportion", () => {
    const book = { bids: [[99, 4]], asks: [[100, 1]] } as const;
    const lines = ladderLines(book, { ...PLAIN, barWidth: 8 });
    expect(lines.at(-1)).toMatch(/ {2}█{8}$/);
    expect(lines[1]).toMatch(/ {2}██$/);
  });

  test.each([
    [{ bids: [], asks: [] }, "the book is empty"],
    [{ bids: [[1, 1]], asks: [] } as const, "no asks"],
    [{ bids: [], asks: [[1, 1]] } as const, "no bids"],
  ])("one side or both missing: %#", (book, text) => {
    expect(ladderLines(book, PLAIN)).toContain(text);
  });
});
