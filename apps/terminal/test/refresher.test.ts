/** The questions of the account feed, by a clock that the tests move. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Refresher } from "../src/venue/refresher.js";

const OPTIONS = { afterMs: 200, longestWaitMs: 10_000 };

interface Question {
  answer(): void;
  fail(): void;
}

let questions: Question[] = [];

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    questions.push({ answer: resolve, fail: () => reject(new Error("no answer")) });
  });
}

/** Lets what was settled be heard. */
async function settle(step: keyof Question): Promise<void> {
  questions.at(-1)?.[step]();
  await vi.advanceTimersByTimeAsync(0);
}

function opened(): Refresher {
  const refresher = new Refresher(ask, OPTIONS);
  void refresher.now();
  return refresher;
}

describe("Refresher", () => {
  beforeEach(() => {
    questions = [];
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("the first question fails: asked again without any change, ever more seldom", async () => {
    opened();
    const askedAt: number[] = [performance.now()];
    for (let i = 1; i <= 12; i++) {
      await settle("fail");
      await vi.advanceTimersToNextTimerAsync();
      expect(questions).toHaveLength(i + 1);
      askedAt.push(performance.now());
    }
    const waits = askedAt.slice(1).map((at, i) => at - (askedAt[i] ?? 0));
    for (const [i, wait] of waits.entries()) {
      const full = Math.min(10_000, 400 * 2 ** i);
      expect(wait).toBeGreaterThanOrEqual(full / 2 - 1);
      expect(wait).toBeLessThanOrEqual(full + 1);
    }
    await settle("answer");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("closed, while waiting or while asking: never asked again", async () => {
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
    await vi.advanceTimersByTimeAsync(60_000);
    expect(questions).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a change during a long wait: asked soon, and the next wait is still long", async () => {
    const refresher = opened();
    for (let i = 0; i < 8; i++) {
      await settle("fail");
      await vi.advanceTimersToNextTimerAsync();
    }
    await settle("fail");
    refresher.soon();
    await vi.advanceTimersByTimeAsync(200);
    expect(questions).toHaveLength(10);
    await settle("fail");
    await vi.advanceTimersByTimeAsync(4_000);
    expect(questions).toHaveLength(10);
  });

  test("changes in quick succession: one question per 200 ms, and none is put off", async () => {
    const refresher = opened();
    await settle("answer");
    for (let i = 0; i < 100; i++) {
      refresher.soon();
      await vi.advanceTimersByTimeAsync(10);
      await settle("answer");
    }
    expect(questions).toHaveLength(6);
  });

  test("a change while a question is under way: one more after its answer, never two at a time", async () => {
    const refresher = opened();
    refresher.soon();
    refresher.soon();
    await refresher.now();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(questions).toHaveLength(1);
    await settle("answer");
    await vi.advanceTimersByTimeAsync(200);
    expect(questions).toHaveLength(2);
    await settle("answer");
    expect(vi.getTimerCount()).toBe(0);
  });
});
