import { expect, onTestFinished, test } from "vitest";
import { type OverBudget, orderWithinBudget } from "./charge-operation.js";
import { CostBudgets } from "./cost-budget.js";
import { DEFAULT_LIMITS } from "./limit-settings.js";

const METRICS = { onCharged: () => {}, onHeld: () => {}, onParsed: () => {} };

test.each<OverBudget>(["address", "account"])(
  "a reduction that finds the reserve used up, %s over budget: waits and is not refused",
  async (overBudget) => {
    const budgets = new CostBudgets(DEFAULT_LIMITS, METRICS, { value: 1 }, () => 0);
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
