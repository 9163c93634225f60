import { expect, test } from "vitest";
import { CellWidth } from "./cell-width.js";
import { NARROWEST_CELL } from "./ladder.js";

/** The width after so many seconds of a price that moves by this part of itself each second. */
function after(width: CellWidth, seconds: number, speed: number): number {
  let answer = 0;
  for (let second = 0; second < seconds; second++) {
    const price = second % 2 === 0 ? 100 : 100 * (1 + speed);
    answer = width.observe(price, second * 1_000);
  }
  return answer;
}

test("a calm market with its share of actions: as narrow as can be", () => {
  expect(after(new CellWidth(40), 120, 0.00004)).toBe(NARROWEST_CELL);
});

test("a wild market: wider, and narrow again when it has calmed down", () => {
  const width = new CellWidth(40);
  const wild = after(width, 120, 0.001);
  expect(wild).toBeGreaterThanOrEqual((4 * 0.001) / 40);
  expect(after(width, 600, 0.00001)).toBeLessThanOrEqual(wild / 8);
});

test("few actions, as where many markets share them: wider from the start", () => {
  expect(new CellWidth(4).observe(100, 0)).toBeGreaterThan(4 * NARROWEST_CELL);
});

test("a price that stands still: no width below the narrowest", () => {
  expect(after(new CellWidth(40), 2_000, 0)).toBe(NARROWEST_CELL);
});
