import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { inPieces } from "./in-pieces.js";

test("inPieces: many items take several turns, a hundred in each", async () => {
  const items = Array.from({ length: 250 }, (_, i) => i);
  const seen: number[] = [];
  inPieces(items, (item) => seen.push(item));
  const counts = [seen.length];
  while (seen.length < items.length) {
    await nextTurn();
    counts.push(seen.length);
  }
  expect(counts).toEqual([0, 100, 200, 250]);
  expect(seen).toEqual(items);
});
