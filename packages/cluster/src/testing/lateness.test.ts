import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { finishedWithin, Lateness } from "./lateness.js";

/** On a clock that stands still but for `blockFor`, after which a timer of 10 ms runs. */
class LateMachine {
  nowMs = 1_000;
  readonly lateness = new Lateness(onTestFinished, () => this.nowMs);

  blockFor(ms: number): void {
    this.nowMs += ms;
    this.lateness.allowedSince();
  }
}

describe("lateness", () => {
  test("a time below its limit is never too long", () => {
    const machine = new LateMachine();
    machine.blockFor(60_000);
    expect(machine.lateness.overrun(14_999, 15_000)).toBeUndefined();
  });

  test("timers in time: the limit is what it is, and to miss it is no time-out", () => {
    const machine = new LateMachine();
    machine.blockFor(10);
    expect(machine.lateness.overrun(15_000, 15_000)).toBe(
      "missed: 15000 ms instead of 15000 ms and 0 ms for a late machine",
    );
  });

  test("a takeover of 4 s on a machine that is hardly late has failed; on a late one it is too late", () => {
    const hardly = new LateMachine();
    hardly.blockFor(60);
    expect(() => hardly.lateness.expectWithin(4_000, 3_000)).toThrow(
      "missed: 4000 ms instead of 3000 ms and 400 ms for a late machine",
    );
    const late = new LateMachine();
    late.blockFor(210);
    expect(() => late.lateness.expectWithin(4_700, 3_000)).toThrow(
      "too late: 4700 ms instead of 3000 ms and 1600 ms for a late machine",
    );
  });

  test("timers late: eight times as much is allowed, for what was measured meanwhile", () => {
    const machine = new LateMachine();
    const { lateness } = machine;
    machine.blockFor(110);
    machine.blockFor(20);
    const sinceMs = machine.nowMs;
    machine.blockFor(40);
    machine.blockFor(30);
    expect(lateness.allowedSince()).toBe(800);
    expect(lateness.allowedSince(sinceMs + 1)).toBe(240);
    expect(lateness.overrun(15_799, 15_000)).toBeUndefined();
    expect(lateness.overrun(15_799, 15_000, sinceMs + 1)).toBe(
      "missed: 15799 ms instead of 15000 ms and 240 ms for a late machine",
    );
  });

  test("more than 15 s would be allowed: too late, whatever was measured", () => {
    const machine = new LateMachine();
    machine.blockFor(2_010);
    expect(() => machine.lateness.expectWithin(15_001, 15_000)).toThrow(
      "too late: 15001 ms instead of 15000 ms and 16000 ms for a late machine",
    );
  });

  test("stopped: what follows does not count", () => {
    const machine = new LateMachine();
    machine.blockFor(20);
    machine.lateness.stop();
    machine.blockFor(5_000);
    expect(machine.lateness.allowedSince()).toBe(80);
  });
});

describe("finishedWithin, on a clock of the test", () => {
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
    });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  /** The outcome of a step of so many milliseconds, which may take three seconds. */
  async function outcomeOf(stepMs: number): Promise<string> {
    const step = () => new Promise<string>((resolve) => setTimeout(resolve, stepMs, "done"));
    const outcome = finishedWithin(3_000, step).catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(60_000);
    return outcome;
  }

  test("a step in time: its value", async () => {
    expect(await outcomeOf(2_990)).toBe("done");
  });

  test("a step that takes too long has missed its limit", async () => {
    expect(await outcomeOf(3_500)).toMatch(/^missed: 3500 ms instead of 3000 ms/);
  });

  test("a step that does not end has missed its limit, too, and is not waited for", async () => {
    expect(await outcomeOf(600_000)).toMatch(/^missed: 18000 ms instead of 3000 ms/);
  });

  test("a step that fails: its error", async () => {
    const failing = finishedWithin(3_000, () => Promise.reject(new Error("closed")));
    await expect(failing).rejects.toThrow("closed");
  });
});
