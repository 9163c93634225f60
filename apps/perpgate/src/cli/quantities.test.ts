import { expect, test } from "vitest";
import { decimalsOf, duration, fee, fixed, money, percent, signed, time } from "./quantities.js";

test.each([
  [0.1, 1],
  [0.00001, 5],
  [1e-7, 7],
  [2.5e-7, 8],
  [1, 0],
  [100, 0],
])("decimals of the step %d: %d", (step, decimals) => {
  expect(decimalsOf(step)).toBe(decimals);
});

test.each<[number | null, number, string]>([
  [65_012.3, 1, "65,012.3"],
  [1_234_567.891, 2, "1,234,567.89"],
  [-1_000, 0, "-1,000"],
  [999, 0, "999"],
  [-0.001, 2, "0.00"],
  [null, 2, "-"],
])("fixed: %d with %d decimals is %s", (value, decimals, text) => {
  expect(fixed(value, decimals)).toBe(text);
});

test.each([
  [money(10_000), "10,000.00"],
  [money(-0.0042), "-0.004200"],
  [money(0), "0.00"],
  [money(null), "-"],
  [fee(0.499797), "0.499797"],
  [fee(0.25), "0.25"],
  [fee(0), "0.00"],
  [fee(-0.1), "-0.10"],
  [signed(2, money), "+2.00"],
  [signed(-2, money), "-2.00"],
  [percent(0.0000125), "0.0013 %"],
  [percent(null), "-"],
  [time(1_794_722_400_123), "2026-11-15 06:00:00"],
  [time(null), "-"],
  [time(1e300), "-"],
  [duration(45_400), "45 s"],
  [duration(12 * 60_000), "12 min"],
  [duration(24 * 3_600_000 - 1_000), "23 h 59 min"],
  [duration(-5), "0 s"],
])("%s", (text, expected) => {
  expect(text).toBe(expected);
});
