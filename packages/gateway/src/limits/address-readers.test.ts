import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { AddressReaders } from "./address-readers.js";
import { CostBudgets } from "./cost-budget.js";
import { DEFAULT_LIMITS } from "./limit-settings.js";

function newReaders() {
  const metrics = {
    onCharged: () => undefined,
    onHeld: () => undefined,
    onParsed: () => undefined,
  };
  const budgets = new CostBudgets(DEFAULT_LIMITS, metrics);
  const readers = new AddressReaders(budgets);
  const reading = new Map<string, boolean>();
  const add = (address: string, name: string) => {
    reading.set(name, true);
    return readers.add(address, {
      stopReading: () => reading.set(name, false),
      goOnReading: () => reading.set(name, true),
    });
  };
  return { budgets, readers, add, isRead: (name: string) => reading.get(name) };
}

test("an address that has used its part of the turn: not read until the next, and no other address", async () => {
  const { budgets, readers, add, isRead } = newReaders();
  add("a", "first");
  add("a", "second");
  add("b", "other");
  budgets.charge("a", 9_000);
  readers.yieldIfUsed("a");
  expect(isRead("second")).toBe(true);
  budgets.charge("a", 1_000);
  readers.yieldIfUsed("a");
  expect([isRead("first"), isRead("second"), isRead("other")]).toEqual([false, false, true]);
  await nextTurn();
  expect([isRead("first"), isRead("second")]).toEqual([true, true]);
});

test("an address in debt: read again in the next turn, since one of its traders may want to cancel", async () => {
  const { budgets, readers, add, isRead } = newReaders();
  add("a", "trader");
  budgets.charge("a", 1e12);
  budgets.whenPaid("a", () => undefined);
  readers.yieldIfUsed("a");
  expect(isRead("trader")).toBe(false);
  await nextTurn();
  expect([isRead("trader"), budgets.isInDebt("a")]).toEqual([true, true]);
});

test("a connection that was closed: not counted, not read again", async () => {
  const { budgets, readers, add, isRead } = newReaders();
  const remove = add("a", "closed");
  add("a", "open");
  expect(readers.count("a")).toBe(2);
  budgets.charge("a", 1e12);
  readers.yieldIfUsed("a");
  remove();
  await nextTurn();
  expect([isRead("closed"), isRead("open"), readers.count("a")]).toEqual([false, true, 1]);
});
