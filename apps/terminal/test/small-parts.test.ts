/** The page's small parts: text to numbers and back, rows of the ladder, the depth, the tape. */

import { END_REASONS } from "@perpgate/engine";
import type { Trade } from "@perpgate/protocol";
import { ConnectionError, PerpgateError } from "@perpgate/sdk";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aggregate, stepsFor } from "../src/book/aggregate.js";
import { curveOf, depthRange } from "../src/book/depth-curve.js";
import { Levels } from "../src/book/levels.js";
import { digitsOfStep, formatFee, formatFixed, formatPercent } from "../src/format/numbers.js";
import { formatCountdown } from "../src/format/times.js";
import { adviceOn } from "../src/order/advice.js";
import { numberIn } from "../src/order/order-form-state.js";
import { REASON_WORDS } from "../src/order/reason-words.js";
import { joinTrades } from "../src/venue/tape-feed.js";

describe("typed numbers", () => {
  test.each([
    ["65000.5", 65_000.5],
    [" 12 ", 12],
    [".5", 0.5],
    ["7.", 7],
    ["65,000.5", 65_000.5],
    ["1,234,567", 1_234_567],
    ["65000,5", undefined],
    ["6,50", undefined],
    ["1.234.567", undefined],
    ["-5", undefined],
    ["1e5", undefined],
    ["0x10", undefined],
    ["", undefined],
    ["Infinity", undefined],
  ])("%j reads %s", (text, value) => {
    expect(numberIn(text)).toBe(value);
  });
});

test("shown numbers: digits of the step, one minus sign, no minus zero", () => {
  expect([0.1, 0.00001, 0.001, 5, 0.25].map(digitsOfStep)).toEqual([1, 5, 3, 0, 2]);
  expect(formatFixed(-1234.5, 2)).toBe("−1,234.50");
  expect(formatFixed(-0, 2)).toBe("0.00");
  expect(formatFixed(null, 2)).toBe("—");
  expect(formatFixed(Number.NaN, 2)).toBe("—");
  expect(formatFee(0.499797)).toBe("0.499797");
  expect(formatPercent(0.0123)).toBe("+1.23%");
  expect(formatCountdown(61_000)).toBe("01:01");
  expect(formatCountdown(3_600_000)).toBe("1:00:00");
  expect(formatCountdown(-5)).toBe("00:00");
});

const anySide = fc
  .uniqueArray(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 200 })
  .chain((ticks) =>
    fc.record({
      ticks: fc.constant(ticks.toSorted((a, b) => b - a)),
      lots: fc.array(fc.integer({ min: 1, max: 1_000 }), {
        minLength: ticks.length,
        maxLength: ticks.length,
      }),
    }),
  );

test("ladder rows: every lot in one row, at its price or better, sums along the way", () => {
  fc.assert(
    fc.property(anySide, fc.integer({ min: 1, max: 300 }), (bids, step) => {
      const asks = { ticks: bids.ticks.toReversed(), lots: bids.lots.toReversed() };
      for (const [side, levels] of [
        ["bid", bids],
        ["ask", asks],
      ] as const) {
        const rows = aggregate(side, { ...levels, count: levels.ticks.length }, step, 1_000);
        const total = levels.lots.reduce((sum, lots) => sum + lots, 0);
        expect(rows.at(-1)?.sumLots).toBe(total);
        expect(rows.reduce((sum, { lots }) => sum + lots, 0)).toBe(total);
        for (const { ticks, lots } of rows) {
          const inRow = levels.ticks.flatMap((tick, at) => {
            const distance = side === "bid" ? tick - ticks : ticks - tick;
            return distance >= 0 && distance < step ? [levels.lots[at] ?? 0] : [];
          });
          expect(ticks % step).toBe(0);
          expect(inRow.reduce((sum, one) => sum + one, 0)).toBe(lots);
        }
      }
    }),
  );
});

test("steps to choose: from one tick up, never wider than the price bears", () => {
  expect(stepsFor(650_000)).toEqual([1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000]);
  expect(stepsFor(1)).toEqual([1]);
});

test("levels: read no deeper than asked, and as deep as there is", () => {
  const book = {
    depth: () => 1_000,
    copyLevels: (_: string, ticks: Float64Array, lots: Float64Array) => {
      const count = Math.min(1_000, ticks.length, lots.length);
      for (let at = 0; at < count; at++) [ticks[at], lots[at]] = [5_000 - at, at + 1];
      return count;
    },
  };
  const levels = new Levels();
  expect([...levels.read(book, "bid", 2)]).toEqual([
    [5_000, 1],
    [4_999, 2],
  ]);
  expect(levels.read(book, "bid").count).toBe(1_000);
  expect(levels.ticks[999]).toBe(4_001);
});

test("depth: as wide as the shorter side, sums at every price", () => {
  const bids = { ticks: [100, 90, 10], lots: [1, 2, 4], count: 3 };
  const asks = { ticks: [110, 120], lots: [3, 5], count: 2 };
  const wide = { ...bids, ticks: [10_000, 9_990, 9_800], count: 3 };
  expect(depthRange({ ticks: [], lots: [], count: 0 }, { ticks: [], lots: [], count: 0 })).toBe(
    undefined,
  );
  expect(depthRange(wide, { ...asks, ticks: [10_010, 10_020] })).toEqual({
    low: 9_990,
    high: 10_020,
    middle: 10_005,
  });
  const curve = curveOf(bids, 50);
  expect([curve.total, curve.at(100), curve.at(95), curve.at(50), curve.at(105)]).toEqual([
    3, 1, 1, 3, 0,
  ]);
});

test("every reason that the engine gives for an order's end has words", () => {
  const unworded = END_REASONS.filter(
    (reason) => reason !== "none" && REASON_WORDS[reason] === undefined,
  );
  expect(unworded).toEqual([]);
});

test("tape: history and stream joined, newest first, each trade once", () => {
  const trade = (id: string): Trade => ({ id, price: 1, size: 1, side: "long", time: 1 });
  const ids = (trades: readonly Trade[]) => trades.map(({ id }) => id);
  const streamed = joinTrades([], [trade("9-0"), trade("10-0")]);
  expect(ids(streamed)).toEqual(["10-0", "9-0"]);
  const joined = joinTrades(streamed, [trade("10-0"), trade("8-1"), trade("8-0")]);
  expect(ids(joined)).toEqual(["10-0", "9-0", "8-1", "8-0"]);
  expect(ids(joinTrades(joined, [trade("11-0"), trade("11-1")])).slice(0, 3)).toEqual([
    "11-1",
    "11-0",
    "10-0",
  ]);
  const many = Array.from({ length: 300 }, (_, at) => trade(`${at + 20}-0`));
  expect(joinTrades(joined, many)).toHaveLength(100);
});

describe("advice", () => {
  const refusal = (code: string, details: Record<string, unknown>) =>
    new PerpgateError({ code, message: "so it is", requestId: "r", details }, { status: 400 });

  test("a number that mends it is offered, floored to the cent", () => {
    expect(adviceOn(refusal("insufficient_margin", { maxMargin: 8_975.609737 })).action).toEqual({
      kind: "change",
      label: "Use 8,975.60",
      change: { margin: "8975.60" },
    });
    expect(adviceOn(refusal("insufficient_margin", { maxMargin: 0 })).action?.kind).toBe("deposit");
    expect(adviceOn(refusal("price_not_on_tick", { below: 1.1, above: 1.2 })).action).toMatchObject(
      {
        label: "Use 1.1",
      },
    );
    const outside = { price: 70_000, low: 61_750, high: 68_250, mark: 65_000 };
    expect(adviceOn(refusal("price_outside_band", outside)).action).toMatchObject({
      change: { price: "68250" },
    });
  });

  test("an unknown code keeps the server's words; a fault shows its request id", () => {
    expect(adviceOn(refusal("newer_rule", {}))).toEqual({ title: "Refused", text: "so it is" });
    expect(adviceOn(refusal("internal_error", {})).requestId).toBe("r");
  });

  test("an answer that leaves it open: says so, and offers no second order", () => {
    const body = { code: "stopped", message: "It stops.", requestId: "r" };
    const open = adviceOn(new PerpgateError(body, { status: 503, outcome: "unknown" }));
    expect(open.text).toMatch(/^It stops\. The request may have been carried out/);
    expect(open.action).toBeUndefined();
    const busy = { ...body, code: "overloaded" };
    const refused = adviceOn(new PerpgateError(busy, { status: 503, outcome: "refused" }));
    expect(refused).toMatchObject({ text: "It stops.", action: { kind: "retry" } });
    const ended = { ...body, code: "invalid_token" };
    expect(adviceOn(new PerpgateError(ended, { status: 401, outcome: "unknown" }))).toMatchObject({
      text: expect.stringContaining("may have been"),
      action: { kind: "sign-in" },
    });
  });

  test("no answer: whether it may have been carried out", () => {
    expect(adviceOn(new ConnectionError("cut", { outcome: "unknown" })).text).toContain("may have");
    expect(adviceOn(new ConnectionError("cut", { outcome: "not_sent" })).text).toContain("Nothing");
  });
});
