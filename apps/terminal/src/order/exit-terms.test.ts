/** The prices that typed exits stand for. */

import { type Step, stepOf } from "@perpgate/protocol/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exitTicks } from "./exit-terms.js";
import { EMPTY_FORM, type ExitUnit, type OrderForm } from "./order-form-state.js";

const TICK: Step = stepOf(0.1);
const BASE = 650_000;

function ticksOf(change: Partial<OrderForm>, name: "takeProfit" | "stopLoss" = "stopLoss") {
  return exitTicks({ ...EMPTY_FORM, hasExits: true, ...change }, name, TICK, BASE);
}

describe("exits", () => {
  test.each([
    ["long", "takeProfit", "percent", "2", 663_000],
    ["long", "stopLoss", "percent", "2", 637_000],
    ["short", "takeProfit", "percent", "2", 637_000],
    ["short", "stopLoss", "percent", "2", 663_000],
    // With 10×, 20 % of the margin are 2 % of the price.
    ["long", "stopLoss", "roi", "20", 637_000],
    ["short", "stopLoss", "roi", "20", 663_000],
    ["long", "stopLoss", "price", "63700", 637_000],
  ] as const)("%s, %s, %s %s", (side, name, exitUnit, text, expected) => {
    expect(ticksOf({ side, exitUnit, leverage: "10", [name]: text }, name)).toBe(expected);
  });

  test("no number, nothing, and what lies beyond zero or within a tick have no price", () => {
    const percent = { exitUnit: "percent" } as const;
    for (const stopLoss of ["", "x", "-1", "0", "100", "150", "0.0001"]) {
      expect(ticksOf({ ...percent, stopLoss }), stopLoss).toBeUndefined();
    }
    const form = { ...EMPTY_FORM, ...percent, stopLoss: "1" };
    expect(exitTicks(form, "stopLoss", TICK, undefined)).toBeUndefined();
  });

  test("a percentage is never further from the price than was typed, and less than a tick nearer", () => {
    fc.assert(
      fc.property(
        fc.constantFrom<OrderForm["side"]>("long", "short"),
        fc.constantFrom<ExitUnit>("percent", "roi"),
        fc.constantFrom<"takeProfit" | "stopLoss">("takeProfit", "stopLoss"),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 9_000 }).map((hundredths) => hundredths / 100),
        (side, exitUnit, name, leverage, percent) => {
          const form = { side, exitUnit, leverage: String(leverage), [name]: String(percent) };
          const ticks = ticksOf(form, name);
          const wanted = (BASE * percent) / 100 / (exitUnit === "roi" ? leverage : 1);
          if (ticks === undefined) expect(wanted).toBeLessThan(1);
          else {
            const isAbove = (name === "takeProfit") === (side === "long");
            expect(ticks > BASE).toBe(isAbove);
            expect(Math.abs(ticks - BASE)).toBeLessThanOrEqual(wanted + 1e-6);
            expect(Math.abs(ticks - BASE)).toBeGreaterThan(wanted - 1 - 1e-6);
          }
        },
      ),
    );
  });
});
