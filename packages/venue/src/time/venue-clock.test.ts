import { beforeEach, describe, expect, test } from "vitest";
import type { BootTime } from "./boot-clock.js";
import { type ClockJump, VenueClock } from "./venue-clock.js";

const START = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let wall = START;
let monotonic = 0;
let boot: BootTime | undefined;
let jumps: ClockJump[] = [];
let logMs = START;
beforeEach(() => {
  logMs = START;
  wall = START;
  monotonic = 5_000;
  boot = { boot: "one", elapsedMs: 70_000 };
  jumps = [];
});

function venueClock(startMs = START): VenueClock {
  const clocks = { wall: () => wall, monotonic: () => monotonic, boot: () => boot };
  return new VenueClock(clocks, startMs, (jump) => jumps.push(jump));
}

/** Next to a log that other gateways write too. */
function sharedClock(startMs = START): VenueClock {
  const clocks = { wall: () => wall, monotonic: () => monotonic, boot: () => boot };
  return new VenueClock({ ...clocks, logMs: () => logMs }, startMs, (jump) => jumps.push(jump));
}

/** All clocks advance together. */
function pass(ms: number): void {
  wall += ms;
  monotonic += ms;
  if (boot !== undefined) boot = { ...boot, elapsedMs: boot.elapsedMs + ms };
}

/** The machine sleeps: its monotonic clock does not advance. */
function sleep(ms: number): void {
  wall += ms;
  if (boot !== undefined) boot = { ...boot, elapsedMs: boot.elapsedMs + ms };
}

describe("nowMs", () => {
  test("clocks that agree: the wall clock, and nothing is reported", () => {
    const clock = venueClock();
    for (let step = 0; step < 100; step++) {
      pass(200);
      expect(clock.nowMs()).toBe(wall);
    }
    expect(jumps).toEqual([]);
  });

  test("wall clock back: not followed, reported once", () => {
    const clock = venueClock();
    wall -= HOUR_MS;
    pass(400);
    expect(clock.nowMs()).toBe(START + 400);
    pass(400);
    expect(clock.nowMs()).toBe(START + 800);
    expect(jumps).toEqual([{ kind: "back", leadMs: -HOUR_MS }]);
    expect(clock.leadMs).toBe(-HOUR_MS);
  });

  test("wall clock ahead by a minute: followed and reported", () => {
    const clock = venueClock();
    wall += 60_000;
    expect(clock.nowMs()).toBe(START + 60_000);
    expect(jumps).toEqual([{ kind: "followed", leadMs: 60_000 }]);
  });

  test("wall clock ahead by an hour for a second and a half: never followed", () => {
    const clock = venueClock();
    wall += HOUR_MS;
    for (let step = 0; step < 15; step++) {
      pass(100);
      expect(clock.nowMs()).toBe(START + 100 * (step + 1));
    }
    wall -= HOUR_MS;
    pass(100);
    expect(clock.nowMs()).toBe(START + 1_600);
    expect(jumps).toEqual([{ kind: "doubted", leadMs: HOUR_MS }]);
    expect(clock.leadMs).toBe(0);
  });

  test("wall clock ahead by days, for an hour: never followed", () => {
    const clock = venueClock();
    wall += 3 * DAY_MS;
    for (let step = 0; step < 18_000; step++) {
      pass(200);
      clock.nowMs();
    }
    expect(clock.nowMs()).toBe(START + HOUR_MS);
    expect(clock.leadMs).toBe(3 * DAY_MS);
    expect(clock.jumps).toEqual({ followed: 0, doubted: 1, back: 0 });
  });

  test("wall clock that keeps jumping: each jump counts, none is followed", () => {
    const clock = venueClock();
    wall += 2 * DAY_MS;
    for (let jump = 0; jump < 10; jump++) {
      wall += jump % 2 === 0 ? 5_000 : -5_000;
      pass(200);
      clock.nowMs();
    }
    expect(clock.nowMs()).toBe(START + 2_000);
    expect(clock.jumps.doubted).toBe(10);
  });
});

describe("nowMs: the machine slept", () => {
  test("for three days, as the boot clock shows: followed immediately", () => {
    const clock = venueClock();
    sleep(3 * DAY_MS);
    expect(clock.nowMs()).toBe(START + 3 * DAY_MS);
    expect(jumps).toEqual([{ kind: "followed", leadMs: 3 * DAY_MS }]);
  });

  test("twice: each sleep counts once", () => {
    const clock = venueClock();
    sleep(HOUR_MS);
    clock.nowMs();
    pass(1_000);
    // As far again, without sleep.
    wall += HOUR_MS;
    expect(clock.nowMs()).toBe(START + HOUR_MS + 1_000);
    wall -= HOUR_MS;
    expect(clock.nowMs()).toBe(START + HOUR_MS + 1_000);
    sleep(HOUR_MS);
    expect(clock.nowMs()).toBe(START + 2 * HOUR_MS + 1_000);
    expect(jumps.map(({ kind }) => kind)).toEqual(["followed", "doubted", "followed"]);
  });

  test("for less than a minute, many times, then a clock ahead without sleep: doubted", () => {
    const clock = venueClock();
    for (let i = 0; i < 100; i++) {
      sleep(50_000);
      clock.nowMs();
    }
    wall += HOUR_MS;
    expect(clock.nowMs()).toBe(START + 100 * 50_000);
    expect(jumps.at(-1)).toEqual({ kind: "doubted", leadMs: HOUR_MS });
  });

  test("longer than a clock that was set back lets it follow: the rest counts for the correction", () => {
    const clock = venueClock();
    wall -= 59 * 60_000;
    clock.nowMs();
    sleep(HOUR_MS);
    expect(clock.nowMs()).toBe(START + 60_000);
    wall += 59 * 60_000;
    expect(clock.nowMs()).toBe(START + HOUR_MS);
    expect(jumps.map(({ kind }) => kind)).toEqual(["back", "followed", "followed"]);
  });

  test("and its clock is wrong too: the sleep counts, the rest is doubted", () => {
    const clock = venueClock();
    sleep(HOUR_MS);
    wall += 700 * DAY_MS;
    expect(clock.nowMs()).toBe(START + HOUR_MS);
    expect(jumps).toEqual([{ kind: "doubted", leadMs: 700 * DAY_MS }]);
  });

  test("without a boot clock: doubted", () => {
    boot = undefined;
    const clock = venueClock();
    sleep(HOUR_MS);
    expect(clock.nowMs()).toBe(START);
  });
});

describe("nowMs: other gateways write the log too", () => {
  /** The other gateways tick. */
  function passWithLog(ms: number): void {
    pass(ms);
    logMs += ms;
  }

  test("a clock that was ahead at the start and is put right: followed back, reported once", () => {
    wall += HOUR_MS;
    const clock = sharedClock(wall);
    passWithLog(10_000);
    expect(clock.nowMs()).toBe(wall);
    wall -= HOUR_MS;
    for (let step = 0; step < 10; step++) {
      passWithLog(200);
      expect(clock.nowMs()).toBe(wall);
      expect(clock.leadMs).toBe(0);
    }
    expect(jumps).toEqual([{ kind: "back", leadMs: -HOUR_MS }]);
  });

  test("a step ahead that was followed, and back again: followed", () => {
    const clock = sharedClock();
    wall += 30_000;
    expect(clock.nowMs()).toBe(wall);
    wall -= 30_000;
    passWithLog(200);
    expect(clock.nowMs()).toBe(wall);
  });

  test("the log has followed the clock: not behind it, and on at its own pace", () => {
    wall += HOUR_MS;
    const clock = sharedClock(wall);
    logMs = wall - 3_000;
    wall -= HOUR_MS;
    expect(clock.nowMs()).toBe(START + HOUR_MS - 3_000);
    for (let ms = 200; ms <= 2_000; ms += 200) {
      pass(200);
      expect(clock.nowMs()).toBe(START + HOUR_MS - 3_000 + ms);
      // It ticks itself.
      logMs = clock.nowMs();
    }
  });

  test("a clock less than a second behind the own time: nothing goes back", () => {
    const clock = sharedClock();
    wall -= 900;
    passWithLog(200);
    expect(clock.nowMs()).toBe(START + 200);
  });

  test("the log is an hour ahead of a right clock: time goes on from the log", () => {
    const clock = sharedClock();
    logMs += HOUR_MS;
    expect(clock.nowMs()).toBe(START + HOUR_MS);
    pass(200);
    expect(clock.nowMs()).toBe(START + HOUR_MS + 200);
    expect(clock.leadMs).toBe(-HOUR_MS);
  });

  test("a clock behind the log, and a log that stalls for 30 s: the time goes on", () => {
    wall -= 300_000;
    const clock = sharedClock();
    passWithLog(200);
    const before = clock.nowMs();
    for (let ms = 200; ms <= 30_000; ms += 200) {
      pass(200);
      expect(clock.nowMs()).toBe(before + ms);
    }
    // The batch that was in flight.
    logMs += 200;
    expect(clock.nowMs()).toBe(before + 30_000);
    pass(200);
    expect(clock.nowMs()).toBe(before + 30_200);
    expect(clock.steadyMs()).toBe(logMs + 1_000);
  });

  test("steadyMs: a second ahead of the log at most, never back, and on with the log", () => {
    wall += HOUR_MS;
    const clock = sharedClock(wall);
    expect(clock.steadyMs()).toBe(START + 1_000);
    wall -= HOUR_MS;
    expect(clock.steadyMs()).toBe(START + 1_000);
    passWithLog(2_000);
    expect(clock.steadyMs()).toBe(START + 2_000);
    logMs += 400;
    expect(clock.steadyMs()).toBe(START + 2_400);
  });
});
