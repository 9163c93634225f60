import { stepOf } from "@perpgate/protocol/core";
import { expect, test } from "vitest";
import { priceOrNull } from "./figures.js";

test("a worst price of an earlier build that has no exact number: the nearest, not an exception", () => {
  expect(priceOrNull({ tick: stepOf(0.5) }, 2e15)).toBe(1e15);
  expect(priceOrNull({ tick: stepOf(0.1) }, 650_001)).toBe(65_000.1);
  expect(priceOrNull({ tick: stepOf(0.1) }, 0)).toBeNull();
});
