import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Refresher } from "./refresher.js";

const OPTIONS = { afterMs: 200, longestWaitMs: 10_000 };

interface PendingRequest {
  succeed(): void;
  fail(): void;
}

let requests: PendingRequest[] = [];

function send(): Promise<void> {
  return new Promise((resolve, reject) => {
    requests.push({ succeed: resolve, fail: () => reject(new Error("failed")) });
  });
}

/** Settles the last request and lets its callbacks run. */
async function settle(step: keyof PendingRequest): Promise<void> {
  requests.at(-1)?.[step]();
  await vi.advanceTimersByTimeAsync(0);
}

/** Other files of the worker may have timers of their own, so timers are not counted. */
async function expectNoMore(count: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(60_000);
  expect(requests).toHaveLength(count);
}

function opened(): Refresher {
  const refresher = new Refresher(send, OPTIONS);
  void refresher.now();
  return refresher;
}

describe("Refresher", () => {
  beforeEach(() => {
    requests = [];
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("the first request fails: repeated with growing waits, without any change", async () => {
    opened();
    const sentAt: number[] = [performance.now()];
    for (let i = 1; i <= 12; i++) {
      await settle("fail");
      // Other files of this worker may have left timers, which come between.
      for (let timers = 0; requests.length === i && timers < 1_000; timers++) {
        await vi.advanceTimersToNextTimerAsync();
      }
      expect(requests).toHaveLength(i + 1);
      sentAt.push(performance.now());
    }
    const waits = sentAt.slice(1).map((at, i) => at - (sentAt[i] ?? 0));
    for (const [i, wait] of waits.entries()) {
      const full = Math.min(10_000, 400 * 2 ** i);
      expect(wait).toBeGreaterThanOrEqual(full / 2 - 1);
      expect(wait).toBeLessThanOrEqual(full + 1);
    }
    await settle("succeed");
    await expectNoMore(13);
  });

  test("closed while waiting or in flight: never repeated", async () => {
    const waiting = opened();
    await settle("fail");
    waiting.close();
    const asking = opened();
    asking.close();
    await settle("fail");
    for (const refresher of [waiting, asking]) {
      refresher.soon();
      await refresher.now();
    }
    await expectNoMore(2);
  });

  test("a change during a long wait: sent soon, and the next wait is still long", async () => {
    const refresher = opened();
    for (let i = 0; i < 8; i++) {
      await settle("fail");
      await vi.advanceTimersToNextTimerAsync();
    }
    await settle("fail");
    refresher.soon();
    await vi.advanceTimersByTimeAsync(200);
    expect(requests).toHaveLength(10);
    await settle("fail");
    await vi.advanceTimersByTimeAsync(4_000);
    expect(requests).toHaveLength(10);
  });

  test("frequent changes: one request per 200 ms, none delayed", async () => {
    const refresher = opened();
    await settle("succeed");
    for (let i = 0; i < 100; i++) {
      refresher.soon();
      await vi.advanceTimersByTimeAsync(10);
      await settle("succeed");
    }
    expect(requests).toHaveLength(6);
  });

  test("a change while a request is in flight: one more after it, never two concurrently", async () => {
    const refresher = opened();
    refresher.soon();
    refresher.soon();
    await refresher.now();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests).toHaveLength(1);
    await settle("succeed");
    await vi.advanceTimersByTimeAsync(200);
    expect(requests).toHaveLength(2);
    await settle("succeed");
    await expectNoMore(2);
  });
});
