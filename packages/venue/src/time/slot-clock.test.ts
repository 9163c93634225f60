import type { Command } from "@perpgate/engine";
import { beforeEach, describe, expect, test } from "vitest";
import { SlotClock } from "./slot-clock.js";
import { VenueClock } from "./venue-clock.js";

const START = 1_800_000_000_000;

let wall = START;
let monotonic = 0;
let submitted: Command[] = [];
beforeEach(() => {
  wall = START;
  monotonic = 5_000;
  submitted = [];
});

function slotClock(startMs = START, lastTickMs = START): SlotClock {
  const clocks = { wall: () => wall, monotonic: () => monotonic, boot: () => undefined };
  return new SlotClock(new VenueClock(clocks, startMs), lastTickMs, (command) => {
    submitted.push(command);
  });
}

/** Both clocks advance together. */
function pass(ms: number): void {
  wall += ms;
  monotonic += ms;
}

const slotOf = (timeMs: number): number => timeMs / 200;

describe("SlotClock", () => {
  test("tick: one per slot, however often it is called", () => {
    const clock = slotClock();
    clock.tick();
    expect(submitted).toEqual([]);
    pass(200);
    clock.tick();
    clock.tick();
    pass(199);
    clock.tick();
    expect(submitted).toEqual([{ kind: "Tick", slot: slotOf(START + 200) }]);
  });

  test("tick: a late one submits the current slot, within the engine's limit", () => {
    const clock = slotClock();
    pass(1_000);
    clock.tick();
    expect(submitted).toEqual([{ kind: "Tick", slot: slotOf(START + 1_000) }]);
  });

  test("pause: longer than a second submits Resume, and ticks continue", () => {
    const clock = slotClock();
    pass(1_001);
    clock.tick();
    pass(200);
    clock.tick();
    expect(submitted).toEqual([
      { kind: "Resume", stampMs: START + 1_001, afterPause: true },
      { kind: "Tick", slot: slotOf(START + 1_200) },
    ]);
  });

  test("clock ahead by a minute: submits Resume", () => {
    const clock = slotClock();
    wall += 60_000;
    clock.tick();
    expect(submitted).toEqual([{ kind: "Resume", stampMs: START + 60_000, afterPause: true }]);
  });

  test("clock set back: the venue's time continues, never back", () => {
    const clock = slotClock();
    pass(200);
    clock.tick();
    wall -= 3_600_000;
    pass(200);
    clock.tick();
    pass(200);
    clock.tick();
    expect(submitted.map((command) => command.kind === "Tick" && command.slot)).toEqual(
      [200, 400, 600].map((ms) => slotOf(START + ms)),
    );
  });

  test("clock behind the log at start: time continues from the log", () => {
    const clock = slotClock(START + 60_000, START + 60_000);
    pass(200);
    clock.tick();
    expect(submitted).toEqual([{ kind: "Tick", slot: slotOf(START + 60_200) }]);
  });
});
