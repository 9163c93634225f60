import { expect, onTestFinished, test } from "vitest";
import { chargeWork, type OverBudget, orderWithinBudget } from "./charge-operation.js";
import { CostBudgets } from "./cost-budget.js";
import { DEFAULT_LIMITS } from "./limit-settings.js";

const METRICS = { onCharged: () => {}, onHeld: () => {}, onParsed: () => {} };

test.each<OverBudget>(["address", "account"])(
  "a reduction that finds the reserve used up, %s over budget: waits and is not refused",
  async (overBudget) => {
    const budgets = new CostBudgets(DEFAULT_LIMITS, METRICS, () => 0);
    onTestFinished(() => budgets.close());
    budgets.charge("a", 1e12);
    const asExit = budgets.takeAttempt("a", 1, 1);
    expect(budgets.takeReserve("a", 1, 1e12)).toBe(true);
    const payer = { key: "a", account: 1, overBudget, asExit };
    const served = orderWithinBudget(budgets, payer, true, () => undefined);
    expect(budgets.waitingCount("a")).toBe(1);
    budgets.close();
    await served;
  },
);

test("work units: charged to address and account, and to the reserve if that let the order pass", () => {
  const budgets = new CostBudgets(DEFAULT_LIMITS, METRICS, () => 0);
  onTestFinished(() => budgets.close());
  chargeWork(budgets, { key: "a", account: 1, overBudget: undefined }, 8_000);
  expect(budgets.takeReserve("a", 1, 1)).toBe(true);
  expect([budgets.isInDebt("a"), budgets.accountDebtMs(1)]).toEqual([false, 0]);
  for (let i = 0; i < 13; i++) {
    chargeWork(budgets, { key: "a", account: 1, overBudget: undefined }, 8_000);
  }
  expect(budgets.isInDebt("a")).toBe(true);
  expect(budgets.accountDebtMs(1)).toBeGreaterThan(0);
  // Half of the 30 ms are the account's.
  chargeWork(budgets, { key: "a", account: 1, overBudget: "address" }, 16_000);
  expect(budgets.takeReserve("a", 1, 1)).toBe(false);
  expect(budgets.takeReserve("a", 2, 1)).toBe(true);
});
