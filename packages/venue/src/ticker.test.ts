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

  test("clock ahead by years: not believed, said once, and forgiven when it is right again", () => {
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
