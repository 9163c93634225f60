import { notesOf } from "@perpgate/link";
import { expect, test } from "vitest";
import { AccountLimit } from "./account-limits.js";

test("deposits: ten a minute, by account; the notes say what remains, also of a refusal", () => {
  const notes = notesOf({ isAgain: false, terms: undefined });
  let nowMs = 0;
  const deposits = new AccountLimit("deposits", 10 / 60, 10, () => nowMs);
  for (let i = 0; i < 10; i++) deposits.take(1, notes);
  const counted = { limit: "deposits", quota: 10, windowSeconds: 60 };
  expect(notes.counted).toEqual({ ...counted, remaining: 0, fullInSeconds: 60 });
  notes.counted = undefined;
  expect(() => deposits.take(1, notes)).toThrow(
    expect.objectContaining({
      code: "rate_limited",
      details: { limit: "deposits", retryAfterMs: 6_000 },
    }),
  );
  expect(notes.counted).toEqual({ ...counted, remaining: 0, fullInSeconds: 60 });
  deposits.take(2, notes);
  expect(notes.counted).toEqual({ ...counted, remaining: 9, fullInSeconds: 6 });
  nowMs = 6_000;
  deposits.take(1, notes);
});

test("orders: a burst of 200, then 100 a second, by account", () => {
  const notes = notesOf({ isAgain: false, terms: undefined });
  const limited = expect.objectContaining({ code: "rate_limited", status: 429 });
  let nowMs = 0;
  const orders = new AccountLimit("orders", 100, 200, () => nowMs);
  orders.take(1, notes);
  const counted = { limit: "orders", quota: 200, windowSeconds: 2 };
  expect(notes.counted).toEqual({ ...counted, remaining: 199, fullInSeconds: 1 });
  for (let i = 1; i < 200; i++) orders.take(1, notes);
  expect(notes.counted).toEqual({ ...counted, remaining: 0, fullInSeconds: 2 });
  expect(() => orders.take(1, notes)).toThrow(limited);
  nowMs = 10;
  orders.take(1, notes);
  expect(() => orders.take(1, notes)).toThrow(limited);
  orders.take(2, notes);
});

test("several together: all or none; what they need may be asked for without counting", () => {
  const notes = notesOf({ isAgain: false, terms: undefined });
  const limited = expect.objectContaining({ code: "rate_limited" });
  const cancels = new AccountLimit("cancels", 100, 10, () => 0);
  cancels.refuseIfFewer(1, 10, notes);
  expect(notes.counted).toBeUndefined();
  expect(() => cancels.take(1, notes, 11)).toThrow(limited);
  cancels.take(1, notes, 10);
  expect(() => cancels.refuseIfFewer(1, 1, notes)).toThrow(limited);
});

test("work: noted, and every 80 units of a command count as one more", () => {
  const notes = notesOf({ isAgain: false, terms: undefined });
  const orders = new AccountLimit("orders", 100, 200, () => 0);
  orders.countWork(1, 79, notes);
  orders.countWork(1, 161, notes);
  expect(notes.work).toBe(240);
  orders.take(1, notes);
  expect(notes.counted?.remaining).toBe(197);
});

test("work: what a burst has done before the first of it was counted is all paid for", () => {
  const notes = notesOf({ isAgain: false, terms: undefined });
  const UNITS = 8_736;
  let nowMs = 0;
  let units = 0;
  const orders = new AccountLimit("orders", 100, 200, () => nowMs);
  // Sends as much as it may, and hears of the work only when all of it is executed.
  for (; nowMs < 600_000; nowMs += 100) {
    let sent = 0;
    for (let isAllowed = true; isAllowed; ) {
      try {
        orders.take(1, notes);
        sent++;
      } catch {
        isAllowed = false;
      }
    }
    for (let i = 0; i < sent; i++) orders.countWork(1, UNITS, notes);
    units += sent * UNITS;
  }
  // 8,000 a second, and the first burst.
  expect(units).toBeLessThanOrEqual(600 * 8_000 + 200 * UNITS);
});
