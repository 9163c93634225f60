import { expect, test } from "vitest";
import { bookText } from "./book-text.js";

const BOOK = { symbol: "BTCUSD", seq: 7, block: 2, time: 1_700_000_000_000, asks: [] };

test("bookText: what JSON.stringify writes, also for levels seen before", () => {
  const bids = [
    [65_000.1, 0.00001],
    [64_999.9, 12.5],
  ];
  for (const book of [
    { ...BOOK, bids },
    { ...BOOK, seq: 8, bids },
    { ...BOOK, bids: [[1e-7, 1e21]] },
  ]) {
    const { symbol, seq, block, time, asks } = book;
    const inOrder = { symbol, seq, block, time, bids: book.bids, asks };
    expect(bookText(book)).toBe(JSON.stringify(inOrder));
  }
});
