import { afterEach, describe, expect, test } from "vitest";
import {
  changeSettings,
  closingSlippagePpm,
  maxSlippagePpm,
  needsConfirmation,
  orderSettings,
} from "./order-settings.js";

const before = orderSettings.get();
afterEach(() => changeSettings(before));

describe("confirm orders above", () => {
  test.each([
    ["500", 500, false],
    ["500", 500.01, true],
    ["", 1e9, false],
    ["5oo", 1, true],
    ["1e5", 1, true],
    ["-1", 1, true],
    ["9".repeat(30), 1, true],
  ])("%j, an order of %d: asks %s", (confirmAbove, dollars, asks) => {
    changeSettings({ confirmAbove });
    expect(needsConfirmation(dollars)).toBe(asks);
  });
});

test.each(["60", "x", "", "0"])("slippage %j: no market order; closes take the default", (text) => {
  changeSettings({ maxSlippage: text });
  expect([maxSlippagePpm(), closingSlippagePpm()]).toEqual([undefined, 5_000]);
});
