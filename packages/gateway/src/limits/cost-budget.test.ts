import { cancelOrder, placeOrder } from "@perpgate/protocol/operations";
import { afterEach, describe, expect, test, vi } from "vitest";
import { CostBudgets } from "./cost-budget.js";
import { answerCost, COST, readCost } from "./costs.js";
import { DEFAULT_LIMITS, type LimitSettings } from "./limit-settings.js";

const MS = 1_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Budgets on a fake clock; `held` counts what had to wait. */
function newBudgets(changes: Partial<LimitSettings> = {}) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  let held = 0;
  let charged = 0;
  const budgets = new CostBudgets(
    {
      ...DEFAULT_LIMITS,
      costMsPerSecond: 100,
      costBurstMs: 50,
      reserveMsPerSecond: 10,
      reserveBurstMs: 5,
      ...changes,
    },
    {
      onCharged: (micros) => {
        charged += micros;
      },
      onHeld: () => {
        held++;
      },
      onParsed: () => undefined,
    },
  );
  return { budgets, held: () => held, charged: () => charged };
}

describe("an address", () => {
  test("within its burst: served immediately", () => {
    const { budgets, held, charged } = newBudgets();
    budgets.charge("a", 50 * MS);
    expect(budgets.mustWait("a")).toBe(false);
    expect([held(), charged()]).toEqual([0, 50 * MS]);
  });

  test("in debt: waits until the refill has repaid it, and no other address does", () => {
    const { budgets, held } = newBudgets();
    budgets.charge("a", 60 * MS);
    const ran: string[] = [];
    budgets.whenPaid("a", () => ran.push("a"));
    expect([budgets.mustWait("a"), budgets.mustWait("b")]).toEqual([true, false]);
    // 10 ms of processor time at 100 a second.
    vi.advanceTimersByTime(99);
    expect(ran).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(ran).toEqual(["a"]);
    expect(held()).toBe(1);
  });

  test("several that wait: one at a time, in order, each after the one before is paid", () => {
    const { budgets } = newBudgets();
    budgets.charge("a", 60 * MS);
    const ran: number[] = [];
    for (let i = 0; i < 3; i++) {
      budgets.whenPaid("a", () => {
        ran.push(i);
        budgets.charge("a", 10 * MS);
      });
    }
    expect(budgets.waitingCount("a")).toBe(3);
    vi.advanceTimersByTime(101);
    expect(ran).toEqual([0]);
    vi.advanceTimersByTime(100);
    expect(ran).toEqual([0, 1]);
    vi.advanceTimersByTime(100);
    expect(ran).toEqual([0, 1, 2]);
    expect(budgets.waitingCount("a")).toBe(0);
  });

  test("new work while older work waits: runs after it, although the debt is repaid", () => {
    const { budgets } = newBudgets();
    budgets.charge("a", 60 * MS);
    const ran: string[] = [];
    budgets.whenPaid("a", () => ran.push("first"));
    expect(budgets.mustWait("a")).toBe(true);
    budgets.whenPaid("a", () => ran.push("second"));
    vi.advanceTimersByTime(101);
    expect(ran).toEqual(["first", "second"]);
  });

  test("a canceled wait: never runs, and delays nothing", () => {
    const { budgets } = newBudgets();
    budgets.charge("a", 60 * MS);
    const ran: string[] = [];
    const giveUp = budgets.whenPaid("a", () => ran.push("gone"));
    budgets.whenPaid("a", () => ran.push("stays"));
    giveUp();
    vi.advanceTimersByTime(101);
    expect(ran).toEqual(["stays"]);
  });

  test("however much is charged: the debt is repaid after two seconds", () => {
    const { budgets } = newBudgets();
    budgets.charge("a", 1e12);
    vi.advanceTimersByTime(1_999);
    expect(budgets.mustWait("a")).toBe(true);
    vi.advanceTimersByTime(2);
    expect(budgets.mustWait("a")).toBe(false);
  });

  test("its reserve: not used up by what is charged to the budget", () => {
    const { budgets } = newBudgets();
    budgets.charge("a", 1e12);
    expect(budgets.takeReserve("a", 1, 3 * MS)).toBe(true);
    expect(budgets.takeReserve("a", 2, 3 * MS)).toBe(true);
    expect(budgets.takeReserve("a", 3, 1)).toBe(false);
    vi.advanceTimersByTime(101);
    expect(budgets.takeReserve("a", 3, 1)).toBe(true);
  });

  test("its reserve: an account uses up half of it, and no more", () => {
    const { budgets } = newBudgets();
    expect(budgets.takeReserve("a", 1, 3 * MS)).toBe(true);
    expect(budgets.takeReserve("a", 1, 1)).toBe(false);
    expect(budgets.takeAttempt("a", 1, 1)).toBeUndefined();
    expect(budgets.takeReserve("a", 2, 1)).toBe(true);
    expect(budgets.takeReserve("b", 1, 1)).toBe(true);
  });

  test("its orders that open: use up attempts, half of them by each account, and leave the reserve", () => {
    const { budgets } = newBudgets();
    expect(budgets.takeAttempt("a", 1, 3 * MS)).toBeDefined();
    expect(budgets.takeAttempt("a", 1, 1)).toBeUndefined();
    expect(budgets.takeAttempt("b", 1, 1)).toBeDefined();
    expect(budgets.takeAttempt("a", 2, 3 * MS)).toBeDefined();
    expect(budgets.takeAttempt("a", 3, 1)).toBeUndefined();
    expect(budgets.takeReserve("a", 1, 3 * MS)).toBe(true);
    expect(budgets.takeReserve("a", 2, 3 * MS)).toBe(true);
    expect(budgets.takeReserve("a", 3, 1)).toBe(false);
  });

  test("its orders that reduce: paid by the reserve, once", () => {
    const { budgets } = newBudgets();
    const asExit = budgets.takeAttempt("a", 1, 1 * MS);
    expect([asExit?.(1 * MS), asExit?.(1 * MS)]).toEqual([true, true]);
    expect(budgets.takeReserve("a", 1, 1 * MS)).toBe(true);
    expect(budgets.takeReserve("a", 1, 1)).toBe(false);
    expect(budgets.takeAttempt("a", 1, 1)).toBeUndefined();
    vi.advanceTimersByTime(101);
    expect(budgets.takeReserve("a", 1, 1)).toBe(true);
    expect(budgets.takeAttempt("a", 1, 1)).toBeDefined();
  });

  test("its orders that reduce: given back to the attempts of the address and of the account", () => {
    const { budgets } = newBudgets();
    expect(budgets.takeAttempt("a", 1, 2.4 * MS)?.(0)).toBe(true);
    expect(budgets.takeAttempt("a", 1, 2.4 * MS)).toBeDefined();
    expect(budgets.takeAttempt("a", 1, 1 * MS)).toBeDefined();
    expect(budgets.takeAttempt("a", 2, 1 * MS)).toBeDefined();
  });

  test("its orders that reduce, all read after the last attempt: an account uses up half of the reserve", () => {
    const { budgets } = newBudgets();
    const asExits = [1, 2, 3].map(() => budgets.takeAttempt("a", 1, 0.5 * MS));
    expect(asExits.map((asExit) => asExit?.(2.5 * MS))).toEqual([true, false, false]);
    expect(budgets.takeReserve("a", 2, 1)).toBe(true);
  });
});

test("an account: its debt is that of all its addresses, and shows in milliseconds", () => {
  const { budgets } = newBudgets({ accountCostMsPerSecond: 100, accountCostBurstMs: 50 });
  budgets.chargeAccount(7, 60 * MS);
  expect(budgets.accountDebtMs(7)).toBeCloseTo(100, 3);
  expect(budgets.accountDebtMs(8)).toBe(0);
});

describe("a charge in advance", () => {
  test("given back: what waits for it runs immediately, not when time has repaid it", () => {
    const { budgets, charged } = newBudgets();
    const giveBack = budgets.chargeInAdvance("a", 150 * MS);
    const ran: string[] = [];
    budgets.whenPaid("a", () => ran.push("a"));
    vi.advanceTimersByTime(100);
    expect(ran).toEqual([]);
    giveBack();
    vi.advanceTimersByTime(1);
    expect([ran, charged()]).toEqual([["a"], 0]);
  });

  test("given back after a second, when time has repaid it: nothing", () => {
    const { budgets } = newBudgets();
    const giveBack = budgets.chargeInAdvance("a", 50 * MS);
    vi.advanceTimersByTime(1_001);
    budgets.charge("a", 60 * MS);
    giveBack();
    expect(budgets.isInDebt("a")).toBe(true);
  });

  test("given back twice, or beyond the largest debt: never more than was taken", () => {
    const { budgets } = newBudgets();
    budgets.charge("a", 1e12);
    // The debt is at its bound, so these take nothing.
    for (let i = 0; i < 100; i++) {
      const giveBack = budgets.chargeInAdvance("a", 50 * MS);
      giveBack();
      giveBack();
    }
    vi.advanceTimersByTime(1_999);
    expect(budgets.mustWait("a")).toBe(true);
  });
});

test("whenPaid, the debt repaid in the same moment: runs later, never within the call", () => {
  const { budgets } = newBudgets();
  const ran: string[] = [];
  budgets.whenPaid("a", () => ran.push("later"));
  expect(ran).toEqual([]);
  vi.advanceTimersByTime(2);
  expect(ran).toEqual(["later"]);
});

test("a waiter that queues again without a charge: runs once per release", () => {
  const { budgets } = newBudgets();
  let turns = 0;
  const wait = (): void => {
    turns++;
    budgets.whenPaid("a", wait);
  };
  budgets.whenPaid("a", wait);
  vi.advanceTimersByTime(10);
  expect(turns).toBeGreaterThan(1);
  expect(turns).toBeLessThanOrEqual(10);
});

test("close: what waits runs immediately, and nothing waits afterwards", async () => {
  const { budgets } = newBudgets();
  budgets.charge("a", 1e12);
  const ran: string[] = [];
  budgets.whenPaid("a", () => ran.push("waited"));
  budgets.close();
  budgets.whenPaid("a", () => ran.push("later"));
  await Promise.resolve();
  expect(ran).toEqual(["waited", "later"]);
});

test("a market maker at its limits, its burst used up: never waits again", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const metrics = {
    onCharged: () => undefined,
    onHeld: () => undefined,
    onParsed: () => undefined,
  };
  const budgets = new CostBudgets(DEFAULT_LIMITS, metrics);
  budgets.charge("maker", 1e12);
  vi.advanceTimersByTime(2_500);
  const [order, cancel] = [placeOrder, cancelOrder].map(({ costMicros }) => {
    // The bytes of a request, and of its answer.
    return COST.request + costMicros + readCost(600) + answerCost(700, false);
  });
  for (let i = 0; i < 1_000; i++) {
    vi.advanceTimersByTime(1_000 / DEFAULT_LIMITS.ordersPerSecond);
    expect(budgets.mustWait("maker")).toBe(false);
    budgets.charge("maker", order! + cancel!);
  }
});
