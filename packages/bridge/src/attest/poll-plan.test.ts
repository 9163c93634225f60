import type { PendingDeposit, QueueOrder } from "@perpgate/protocol";
import { expect, test } from "vitest";
import { PAGES_PER_POLL, PollPlan } from "./poll-plan.js";

const MINUTE_MS = 60_000;
const NOW_MS = 1_750_000_000_000;
const PAGE = 500;
const VOTE = {
  verdict: "confirming",
  confirmations: 1,
  required: 2,
  credits: [],
  reason: "",
} as const;

function deposit(
  depositId: number,
  ageMs: number,
  { isSeen = false, account = 1 } = {},
): PendingDeposit {
  return {
    depositId,
    txHash: depositId.toString(16).padStart(64, "0"),
    account,
    status: isSeen ? "confirming" : "queued",
    registeredAtMs: NOW_MS - ageMs,
    creditedParts: 0,
    ownVote: isSeen ? VOTE : null,
  };
}

/** A queue in pages, and how many of them were read. */
function queueOf(pending: readonly PendingDeposit[]) {
  const queue = {
    pages: 0,
    pending: (_chain: string, _attestor: number, order: QueueOrder, after: number) => {
      queue.pages++;
      const sorted = [...pending].sort((a, b) =>
        order === "ascending" ? a.depositId - b.depositId : b.depositId - a.depositId,
      );
      const rest = sorted.filter(({ depositId }) =>
        order === "ascending" ? depositId > after : after === 0 || depositId < after,
      );
      const rows = rest.slice(0, PAGE);
      return { rows, next: rows.length === rest.length ? null : rows.at(-1)!.depositId };
    },
  };
  return queue;
}

test("new and seen deposits: at every poll; old unseen ones: rarely", async () => {
  const plan = new PollPlan("ethereum", 0);
  const queue = queueOf([
    deposit(1, 0),
    deposit(2, 600 * MINUTE_MS, { isSeen: true }),
    deposit(3, 600 * MINUTE_MS),
  ]);
  const asked = [0, 0, 0, 0];
  for (let poll = 0; poll < 600; poll++) {
    for (const { depositId } of await plan.choose(queue, NOW_MS))
      asked[depositId] = asked[depositId]! + 1;
  }
  expect(asked).toEqual([0, 600, 600, 10]);
});

test("5,312 confirming deposits: a new one is looked up at the next poll", async () => {
  const plan = new PollPlan("ethereum", 0);
  const flood = Array.from({ length: 5_312 }, (_, i) => deposit(i + 1, 0, { isSeen: true }));
  const queue = queueOf([...flood, deposit(99_999, 0, { account: 2 })]);
  for (let poll = 0; poll < 3; poll++) {
    const chosen = await plan.choose(queue, NOW_MS);
    expect(chosen.map(({ depositId }) => depositId)).toContain(99_999);
  }
});

test("12,000 pending: bounded pages per poll, all looked up within six polls", async () => {
  const plan = new PollPlan("ethereum", 0);
  const queue = queueOf(Array.from({ length: 12_000 }, (_, i) => deposit(i + 1, 0)));
  const asked = new Set<number>();
  for (let poll = 1; poll <= 6; poll++) {
    for (const { depositId } of await plan.choose(queue, NOW_MS)) asked.add(depositId);
    expect(queue.pages).toBeLessThanOrEqual(2 * PAGES_PER_POLL * poll);
  }
  expect(asked.size).toBe(12_000);
});

test("order: seen before unseen, round-robin over accounts, newest first", async () => {
  const plan = new PollPlan("ethereum", 0);
  const queue = queueOf([
    deposit(1, 0, { account: 7 }),
    deposit(2, 0, { account: 7, isSeen: true }),
    deposit(3, 0, { account: 7, isSeen: true }),
    deposit(4, 0, { account: 8, isSeen: true }),
    deposit(5, 0, { account: 7, isSeen: true }),
    deposit(6, 0, { account: 9 }),
  ]);
  const chosen = await plan.choose(queue, NOW_MS);
  expect(chosen.map(({ depositId }) => depositId)).toEqual([5, 4, 3, 2, 6, 1]);
});

test("failed deposits: left out until they are ready", async () => {
  const plan = new PollPlan("ethereum", 0);
  const queue = queueOf([deposit(1, 0), deposit(2, 0)]);
  const chosen = await plan.choose(queue, NOW_MS, (id) => id !== 2);
  expect(chosen.map(({ depositId }) => depositId)).toEqual([1]);
});
