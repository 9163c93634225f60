import { expect, test } from "vitest";
import { numberIn } from "./order-form-state.js";

test.each([
  ["65000.5", 65_000.5],
  [" 12 ", 12],
  [".5", 0.5],
  ["7.", 7],
  ["65,000.5", 65_000.5],
  ["1,234,567", 1_234_567],
  ["65 000.5", 65_000.5],
  ["1\u202f234\u202f567", 1_234_567],
  ["65 00", undefined],
  ["65000,5", undefined],
  ["6,50", undefined],
  ["1.234.567", undefined],
  ["-5", undefined],
  ["1e5", undefined],
  ["0x10", undefined],
  ["", undefined],
  ["Infinity", undefined],
  ["999999999", 999_999_999],
  ["1000000000", undefined],
  ["9".repeat(400), undefined],
])("numberIn %j: %s", (text, value) => {
  expect(numberIn(text)).toBe(value);
});
