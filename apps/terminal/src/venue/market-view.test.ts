import { expect, test } from "vitest";
import { closedText } from "./market-view.js";

test.each([
  ["active", undefined],
  ["reduceOnly", undefined],
  ["halted", "Market is halted"],
  ["settling", "Market is settling"],
  ["settled", "Market is settled"],
] as const)("a market that is %s: the button says %s", (status, text) => {
  expect(closedText({ status })).toBe(text);
});
