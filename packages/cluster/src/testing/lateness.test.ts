import { describe, expect, onTestFinished, test } from "vitest";
import { Lateness } from "./lateness.js";

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

  test("timers in time: the limit is what it is", () => {
    const machine = new LateMachine();
    machine.blockFor(10);
    expect(machine.lateness.overrun(15_000, 15_000)).toBe(
      "too late: 15000 ms instead of 15000 ms and 0 ms for a late machine",
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
      "too late: 15799 ms instead of 15000 ms and 240 ms for a late machine",
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
