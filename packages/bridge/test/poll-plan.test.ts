import type { PendingDeposit } from "@perpgate/bridge";
import { expect, test } from "vitest";
import { PollPlan } from "../src/attest/poll-plan.js";

const MINUTE_MS = 60_000;
const NOW_MS = 1_750_000_000_000;
const VOTE = {
  verdict: "confirming",
  confirmations: 1,
  required: 2,
  credits: [],
  reason: "",
} as const;

function deposit(depositId: number, ageMs: number, isSeen = false): PendingDeposit {
  return {
    depositId,
    txHash: depositId.toString(16).padStart(64, "0"),
    token: "USDC",
    status: isSeen ? "confirming" : "queued",
    registeredAtMs: NOW_MS - ageMs,
    ownVote: isSeen ? VOTE : null,
  };
}

test("new ones and seen ones: at every poll; old ones nobody has seen: now and then", () => {
  const plan = new PollPlan();
  const pending = [deposit(1, 0), deposit(2, 600 * MINUTE_MS, true), deposit(3, 600 * MINUTE_MS)];
  const asked = [0, 0, 0, 0];
  for (let poll = 0; poll < 600; poll++) {
    for (const { depositId } of plan.choose(pending, NOW_MS))
      asked[depositId] = asked[depositId]! + 1;
  }
  expect(asked).toEqual([0, 600, 600, 10]);
});

test("a flood of hashes that no chain holds: seen ones come first, the flood takes turns", () => {
  const plan = new PollPlan();
  const flood = Array.from({ length: 12_000 }, (_, i) => deposit(i, 0));
  const pending = [...flood, deposit(99_999, 0, true)];
  const asked = new Map<number, number>();
  for (let poll = 0; poll < 12; poll++) {
    const chosen = plan.choose(pending, NOW_MS);
    expect(chosen).toHaveLength(5_000);
    for (const { depositId } of chosen) asked.set(depositId, (asked.get(depositId) ?? 0) + 1);
  }
  expect(asked.get(99_999)).toBe(12);
  expect(asked.size).toBe(12_001);
});
