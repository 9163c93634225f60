import { until } from "@perpgate/journal/testing";
import { afterEach, expect, test, vi } from "vitest";
import { CostBudgets } from "./cost-budget.js";
import { DEFAULT_LIMITS } from "./limit-settings.js";
import { LOAD_SAMPLE_MS, LoadFactor } from "./load-factor.js";

afterEach(() => {
  vi.useRealTimers();
});

function after(samples: number, utilization: number, load = new LoadFactor()): LoadFactor {
  for (let i = 0; i < samples; i++) load.sample(utilization);
  return load;
}

test("an idle event loop: the plain price, however long", () => {
  expect(after(1_000, 0.1).value).toBe(1);
});

test("a busy event loop: two times the price within 200 ms, never more", () => {
  expect(after(200 / LOAD_SAMPLE_MS, 1).value).toBe(2);
  expect(after(1_000, 1).value).toBe(2);
});

test("between busy and relaxed: as it is", () => {
  const load = after(2, 1);
  const before = load.value;
  expect(after(100, 0.6, load).value).toBe(before);
});

test("relaxed again: the plain price within half a second", () => {
  expect(after(500 / LOAD_SAMPLE_MS, 0.3, after(100, 1)).value).toBe(1);
});

test("a budget under load: an address waits longer, an account and the count of work do not change", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  let charged = 0;
  const metrics = {
    onCharged: (micros: number) => {
      charged += micros;
    },
    onHeld: () => undefined,
    onParsed: () => undefined,
  };
  const budgets = new CostBudgets(
    { ...DEFAULT_LIMITS, costMsPerSecond: 100, costBurstMs: 40, accountCostBurstMs: 40 },
    metrics,
    after(100, 1),
  );
  const charge = (micros: number): void => {
    budgets.charge("a", micros);
    budgets.chargeAccount(7, micros);
  };
  charge(19_000);
  expect([budgets.isInDebt("a"), charged]).toEqual([false, 19_000]);
  charge(2_000);
  expect([budgets.isInDebt("a"), budgets.accountDebtMs(7)]).toEqual([true, 0]);
});

test("a market maker at its limits, its burst used up: served again although the event loop is busy", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const metrics = {
    onCharged: () => undefined,
    onHeld: () => undefined,
    onParsed: () => undefined,
  };
  const budgets = new CostBudgets(DEFAULT_LIMITS, metrics, after(100, 1));
  budgets.charge("maker", 1e12);
  vi.advanceTimersByTime(2_000);
  for (let i = 0; i < 1_000; i++) {
    vi.advanceTimersByTime(10);
    expect(budgets.mustWait("maker")).toBe(false);
    budgets.charge("maker", 400);
  }
});

test("a thread that computes without a pause: the price rises, and falls when it stops", async () => {
  const load = new LoadFactor();
  load.start();
  try {
    // A machine with other work may take many turns until the first sample.
    for (let turns = 0; turns < 60 && load.value === 1; turns++) {
      const turn = performance.now() + LOAD_SAMPLE_MS;
      while (performance.now() < turn);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(load.value).toBeGreaterThan(1);
    await until(() => load.value === 1);
  } finally {
    load.stop();
  }
});
