import { expect, onTestFinished, test } from "vitest";
import {
  digitsOfStep,
  floorToCents,
  formatAvailable,
  formatFee,
  formatFixed,
  formatPercent,
  formatSigned,
  percentTone,
  separateThousandsBy,
  toneOf,
} from "./numbers.js";
import { formatCountdown } from "./text.js";

test("formats: digits of the step, one minus sign, no minus zero", () => {
  expect([0.1, 0.00001, 0.001, 5, 0.25].map(digitsOfStep)).toEqual([1, 5, 3, 0, 2]);
  expect(formatFixed(-1234.5, 2)).toBe("−1,234.50");
  expect(formatFixed(-0, 2)).toBe("0.00");
  expect(formatFixed(-0.004, 2)).toBe("0.00");
  expect([formatSigned(-0.004, 2), formatSigned(0.004, 2)]).toEqual(["0.00", "0.00"]);
  expect([toneOf(-0.004, 2), toneOf(-0.005, 2), toneOf(0.2, 2)]).toEqual(["", "short", "long"]);
  expect([percentTone(-0.00004), percentTone(-0.0001), percentTone(0.000001, 4)]).toEqual([
    "",
    "short",
    "long",
  ]);
  expect(formatFixed(null, 2)).toBe("—");
  expect(formatFixed(Number.NaN, 2)).toBe("—");
  expect(formatFee(0.499797)).toBe("0.499797");
  expect(formatPercent(0.0123)).toBe("+1.23%");
  expect(formatCountdown(61_000)).toBe("01:01");
  expect(formatCountdown(3_600_000)).toBe("1:00:00");
  expect(formatCountdown(-5)).toBe("00:00");
});

test("notations: another separator of thousands, the same decimal point and minus sign", () => {
  onTestFinished(() => separateThousandsBy(","));
  separateThousandsBy("\u202f");
  expect(formatFixed(-1_234_567.5, 2)).toBe("−1\u202f234\u202f567.50");
  separateThousandsBy("");
  expect([formatFixed(1_234.5, 1), formatFee(1_234.5), formatPercent(12.5)]).toEqual([
    "1234.5",
    "1234.50",
    "+1250.00%",
  ]);
});

test("rounded down to cents: whole cents stay what they are, and what is between is not rounded up", () => {
  expect([1.13, 0.29, 8.2, 4_503_599.37].map(formatAvailable)).toEqual([
    "1.13",
    "0.29",
    "8.20",
    "4,503,599.37",
  ]);
  expect([1.139999, 0.009999, 8_975.609737].map(floorToCents)).toEqual([1.13, 0, 8_975.6]);
  const wrong = Array.from({ length: 200_000 }, (_, cents) => cents / 100).filter(
    (dollars) => floorToCents(dollars) !== dollars,
  );
  expect(wrong).toEqual([]);
});
