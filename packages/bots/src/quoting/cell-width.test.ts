import { expect, test } from "vitest";
import { CellWidth } from "./cell-width.js";
import { NARROWEST_CELL } from "./ladder.js";

/** The width after `seconds` of a price that moves by the part `speed` of itself each second. */
function after(width: CellWidth, seconds: number, speed: number): number {
  let result = 0;
  for (let second = 0; second < seconds; second++) {
    const price = second % 2 === 0 ? 100 : 100 * (1 + speed);
    result = width.observe(price, second * 1_000);
  }
  return result;
}

test("a calm market: the narrowest width", () => {
  expect(after(new CellWidth(40), 120, 0.00004)).toBe(NARROWEST_CELL);
});

test("a fast market: wider, and narrow again when it is calm", () => {
  const width = new CellWidth(40);
  const wild = after(width, 120, 0.001);
  expect(wild).toBeGreaterThanOrEqual((4 * 0.001) / 40);
  expect(after(width, 600, 0.00001)).toBeLessThanOrEqual(wild / 8);
});

test("few actions: wider from the start", () => {
  expect(new CellWidth(4).observe(100, 0)).toBeGreaterThan(4 * NARROWEST_CELL);
});

test("a constant price: the narrowest width", () => {
  expect(after(new CellWidth(40), 2_000, 0)).toBe(NARROWEST_CELL);
});
