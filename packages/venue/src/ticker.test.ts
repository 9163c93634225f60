import type { Command } from "@perpgate/engine";
import { beforeEach, describe, expect, test } from "vitest";
import { Ticker } from "./ticker.js";

const START = 1_800_000_000_000;

let wall = START;
let monotonic = 0;
let submitted: Command[] = [];
let doubts: string[] = [];
beforeEach(() => {
  wall = START;
  monotonic = 5_000;
  submitted = [];
  doubts = [];
});

function ticker(startMs = START, lastTickMs = START): Ticker {
  return new Ticker(
    { wall: () => wall, monotonic: () => monotonic },
    startMs,
    lastTickMs,
    (command) => submitted.push(command),
    (message) => doubts.push(message),
  );
}

/** Both clocks move on together. */
function pass(ms: number): void {
  wall += ms;
  monotonic += ms;
}

const slotOf = (timeMs: number): number => timeMs / 200;

describe("the ticker", () => {
  test("tick: one per slot, however often it is asked", () => {
    const clock = ticker();
    clock.tick();
    expect(submitted).toEqual([]);
    pass(200);
    clock.tick();
    clock.tick();
    pass(199);
    clock.tick();
    expect(submitted).toEqual([{ kind: "Tick", slot: slotOf(START + 200) }]);
  });

  test("tick: a late one takes the present slot, within what the engine bridges", () => {
    const clock = ticker();
    pass(1_000);
    clock.tick();
    expect(submitted).toEqual([{ kind: "Tick", slot: slotOf(START + 1_000) }]);
  });

  test("pause: longer than a second is resumed, and ticks go on from there", () => {
    const clock = ticker();
    pass(1_001);
    clock.tick();
    pass(200);
    clock.tick();
    expect(submitted).toEqual([
      { kind: "Resume", stampMs: START + 1_001, afterPause: true },
      { kind: "Tick", slot: slotOf(START + 1_200) },
    ]);
  });

  test("sleep: the wall clock moves and the monotonic one does not; resumed", () => {
    const clock = ticker();
    wall += 8 * 3_600_000;
    clock.tick();
    expect(submitted).toEqual([
      { kind: "Resume", stampMs: START + 8 * 3_600_000, afterPause: true },
    ]);
  });

  test("clock back: the venue's time goes on at its pace, and never back", () => {
    const clock = ticker();
    pass(200);
    clock.tick();
    wall -= 3_600_000;
    pass(200);
    clock.tick();
    pass(200);
    clock.tick();
    expect(clock.nowMs()).toBe(START + 600);
    expect(submitted.map((command) => command.kind === "Tick" && command.slot)).toEqual(
      [200, 400, 600].map((ms) => slotOf(START + ms)),
    );
  });

  test("clock behind the log at start: time goes on from the log", () => {
    const clock = ticker(START + 60_000, START + 60_000);
    pass(200);
    clock.tick();
    expect(submitted).toEqual([{ kind: "Tick", slot: slotOf(START + 60_200) }]);
  });

  test("sleep of three days: doubted for a minute of being awake, then resumed", () => {
    const clock = ticker();
    const days = 3 * 86_400_000;
    wall += days;
    clock.tick();
    for (let slot = 1; slot < 300; slot++) {
      pass(200);
      clock.tick();
    }
    expect(clock.nowMs()).toBe(START + 59_800);
    expect(new Set(submitted.map(({ kind }) => kind))).toEqual(new Set(["Tick"]));
    submitted = [];
    pass(200);
    clock.tick();
    expect(submitted).toEqual([
      { kind: "Resume", stampMs: START + days + 60_000, afterPause: true },
    ]);
    pass(200);
    clock.tick();
    expect(submitted[1]).toEqual({ kind: "Tick", slot: slotOf(START + days + 60_200) });
    expect(doubts).toHaveLength(2);
    expect(doubts[1]).toContain("believed");
  });

  test("clock ahead by days, and right again before the minute is over: never believed", () => {
    const clock = ticker();
    for (let round = 0; round < 5; round++) {
      wall += 2 * 86_400_000;
      for (let slot = 0; slot < 299; slot++) {
        pass(200);
        clock.tick();
      }
      wall -= 2 * 86_400_000;
      pass(200);
      clock.tick();
    }
    expect(new Set(submitted.map(({ kind }) => kind))).toEqual(new Set(["Tick"]));
    expect(clock.nowMs()).toBe(START + 300_000);
    expect(doubts).toHaveLength(5);
  });

  test("clock ahead by days that keeps jumping: not believed, however long, and said once", () => {
    const clock = ticker();
    wall += 2 * 86_400_000;
    for (let slot = 0; slot < 3_000; slot++) {
      if (slot % 250 === 0) wall += slot % 500 === 0 ? 5_000 : -5_000;
      pass(200);
      clock.tick();
    }
    expect(new Set(submitted.map(({ kind }) => kind))).toEqual(new Set(["Tick"]));
    expect(doubts).toHaveLength(1);
  });

  test("clock ahead by years: not believed at once, said once, and forgiven when it is right again", () => {
    const clock = ticker();
    wall += 10 * 365 * 86_400_000;
    pass(200);
    clock.tick();
    pass(200);
    clock.tick();
    expect(doubts).toHaveLength(1);
    wall = START + 600;
    monotonic += 200;
    clock.tick();
    expect(submitted.map(({ kind }) => kind)).toEqual(["Tick", "Tick", "Tick"]);
    expect(clock.nowMs()).toBe(START + 600);
  });
});
