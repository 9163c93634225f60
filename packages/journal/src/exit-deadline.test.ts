import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { ExitDeadline, FAILURE_EXIT_MS } from "./exit-deadline.js";

const deadlineNs = ({ memory }: ExitDeadline) => new BigInt64Array(memory, 0, 1)[0] ?? 0n;

describe("exit deadline", () => {
  test("fail: the first reason stays, in every view of the memory", () => {
    const deadline = new ExitDeadline();
    expect(deadline.reason).toBeUndefined();
    deadline.fail("the log failed: ü");
    deadline.fail("the history failed");
    expect(new ExitDeadline(deadline.memory).reason).toBe("the log failed: ü");
  });

  test("fail: a reason that is longer than its place is cut", () => {
    const deadline = new ExitDeadline();
    deadline.fail("x".repeat(5_000));
    expect(deadline.reason).toBe("x".repeat(1_024));
  });

  test("endWithin: only a sooner deadline replaces one that is set", () => {
    const deadline = new ExitDeadline();
    deadline.endWithin(60_000);
    const drain = deadlineNs(deadline);
    deadline.endWithin(90_000);
    expect(deadlineNs(deadline)).toBe(drain);
    deadline.fail("the log failed");
    expect(drain - deadlineNs(deadline)).toBeGreaterThan(
      BigInt((60_000 - FAILURE_EXIT_MS) * 1e6) - 10n ** 9n,
    );
  });

  test("waitUntilPassed: set by another thread, moved to an earlier time while it waits", async () => {
    const deadline = new ExitDeadline();
    const source = `
      const { workerData } = require("node:worker_threads");
      const deadline = new BigInt64Array(workerData, 0, 1);
      const set = (ms) => {
        Atomics.store(deadline, 0, process.hrtime.bigint() + BigInt(ms) * 1_000_000n);
        Atomics.notify(deadline, 0);
      };
      set(3_600_000);
      setTimeout(() => set(1), 20);`;
    const thread = new Worker(source, { eval: true, workerData: deadline.memory });
    const ended = new Promise((resolve) => thread.once("exit", resolve));
    deadline.waitUntilPassed();
    expect(process.hrtime.bigint()).toBeGreaterThanOrEqual(deadlineNs(deadline));
    await ended;
  });
});
