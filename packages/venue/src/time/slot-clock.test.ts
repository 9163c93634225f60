import type { Command } from "@perpgate/engine";
import { Engine, GENESIS_WRITER } from "@perpgate/engine";
import { liveWriters } from "@perpgate/engine/reading";
import { applyBatch, BTC, genesis, joining, venueConfig, writerId } from "@perpgate/engine/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { SlotClock } from "./slot-clock.js";
import { VenueClock } from "./venue-clock.js";

const START = 1_800_000_000_000;
const slotOf = (timeMs: number): number => timeMs / 200;

let wall = START;
let monotonic = 0;
let proposed: Command[] = [];
beforeEach(() => {
  wall = START;
  monotonic = 5_000;
  proposed = [];
});

/** A clock of the only writer of a log. */
class Ticking {
  readonly state = new Engine().state;
  private readonly slots: SlotClock;

  constructor(startMs = START, mayLeapAlone = true) {
    const clocks = { wall: () => wall, monotonic: () => monotonic, boot: () => undefined };
    this.state.writers.join(1, joining(writerId(1), "gateway-1", startMs));
    this.state.lastTickMs = startMs;
    this.slots = new SlotClock({
      clock: new VenueClock(clocks, startMs),
      monotonic: clocks.monotonic,
      state: this.state,
      mayLeapAlone: () => mayLeapAlone,
      wake: () => undefined,
    });
    this.slots.due();
    proposed = [];
  }

  /** Proposes; the log delivers it. */
  tick(): void {
    for (const command of this.slots.due()) {
      proposed.push(command);
      if (command.kind === "Tick") this.hear(command.slot * 200);
      if (command.kind === "AskTime") this.hear(Math.floor(command.stampMs / 200) * 200);
    }
  }

  /** The log's time moves, by any writer. */
  hear(timeMs: number): void {
    this.state.lastTickMs = timeMs;
  }

  /** Proposes, and the log delivers nothing. */
  tickUnheard(): void {
    proposed.push(...this.slots.due());
  }
}

interface Sender {
  readonly id: string;
  counter: number;
}

/** A log of release 0.2 with several writers, applied by the engine. */
class Log {
  readonly engine = new Engine();
  private joined = 0;

  constructor() {
    const beginning = [genesis(START, venueConfig([BTC]))];
    applyBatch(this.engine, { writer: GENESIS_WRITER, counter: 0, commands: beginning });
  }

  get state() {
    return this.engine.state;
  }

  join(name: string): Sender {
    const sender = { id: writerId(++this.joined), counter: -1 };
    this.send(sender, [joining(sender.id, name, START)]);
    return sender;
  }

  send(sender: Sender, commands: readonly Command[] = []): void {
    const batch = { writer: sender.id, counter: ++sender.counter, commands };
    expect(applyBatch(this.engine, batch)).toBeNull();
  }

  clock(): SlotClock {
    const clocks = { wall: () => wall, monotonic: () => monotonic, boot: () => undefined };
    const logMs = (): number => this.state.lastTickMs;
    return new SlotClock({
      clock: new VenueClock({ ...clocks, logMs }, wall),
      monotonic: clocks.monotonic,
      state: this.state,
      mayLeapAlone: () => false,
      wake: () => undefined,
    });
  }

  /** Applies what the clock proposes each second; returns the times that it asked for. */
  run(clock: SlotClock, own: Sender, seconds: number): number[] {
    const asked: number[] = [];
    for (let second = 0; second < seconds; second++) {
      const due = clock.due();
      for (const command of due) if (command.kind === "AskTime") asked.push(command.stampMs);
      this.send(own, due);
      pass(1_000);
    }
    return asked;
  }
}

/** Both clocks advance together. */
function pass(ms: number): void {
  wall += ms;
  monotonic += ms;
}

describe("SlotClock", () => {
  test("tick: one per slot, however often it is asked", () => {
    const clock = new Ticking();
    clock.tick();
    expect(proposed).toEqual([]);
    pass(200);
    clock.tick();
    clock.tick();
    pass(199);
    clock.tick();
    expect(proposed).toEqual([{ kind: "Tick", slot: slotOf(START + 200) }]);
  });

  test("tick: not again for a slot whose tick is in flight", () => {
    const clock = new Ticking();
    pass(200);
    clock.tickUnheard();
    clock.tickUnheard();
    pass(200);
    clock.tickUnheard();
    expect(proposed).toEqual([200, 400].map((ms) => ({ kind: "Tick", slot: slotOf(START + ms) })));
  });

  test("tick: a late one proposes the current slot, within the engine's limit", () => {
    const clock = new Ticking();
    pass(1_000);
    clock.tick();
    expect(proposed).toEqual([{ kind: "Tick", slot: slotOf(START + 1_000) }]);
  });

  test("pause: longer than a second asks for the time, and ticks continue", () => {
    const clock = new Ticking();
    pass(1_001);
    clock.tick();
    pass(200);
    clock.tick();
    expect(proposed).toEqual([
      { kind: "AskTime", stampMs: START + 1_001 },
      { kind: "Tick", slot: slotOf(START + 1_200) },
    ]);
  });

  test("ask: once a second, with the time of then, until the log follows", () => {
    const clock = new Ticking();
    pass(5_000);
    for (let i = 0; i < 6; i++) {
      clock.tickUnheard();
      pass(500);
    }
    expect(proposed).toEqual(
      [5_000, 6_000, 7_000].map((ms) => ({ kind: "AskTime", stampMs: START + ms })),
    );
  });

  test("clock ahead by a minute: asks for the time", () => {
    const clock = new Ticking();
    wall += 60_000;
    clock.tick();
    expect(proposed).toEqual([{ kind: "AskTime", stampMs: START + 60_000 }]);
  });

  test("alone and more than a minute ahead: asks only if it may", () => {
    const alone = new Ticking(START, false);
    const shared = new Ticking(START, true);
    pass(60_000);
    alone.tickUnheard();
    expect(proposed).toEqual([{ kind: "AskTime", stampMs: START + 60_000 }]);
    pass(1_000);
    alone.tickUnheard();
    expect(proposed).toHaveLength(1);
    shared.tickUnheard();
    expect(proposed.slice(1)).toEqual([{ kind: "AskTime", stampMs: START + 61_000 }]);
  });

  test("alone among writers of release 0.2 that were killed: asks for a minute at most", () => {
    const log = new Log();
    for (const name of ["a", "b", "c"]) log.join(name);
    // All were killed. A core joins, with its clock an hour ahead.
    const own = log.join("a");
    wall += 3_600_000;
    const asked = log.run(log.clock(), own, 10);
    expect(liveWriters(log.state).map(({ name }) => name)).toEqual(["a"]);
    expect(log.state.lastTickMs).toBe(START + 60_000);
    expect(asked).toEqual(Array(5).fill(START + 60_000));
  });

  test("clock set back: the venue's time continues, never back", () => {
    const clock = new Ticking();
    pass(200);
    clock.tick();
    wall -= 3_600_000;
    pass(200);
    clock.tick();
    pass(200);
    clock.tick();
    expect(proposed).toEqual(
      [200, 400, 600].map((ms) => ({ kind: "Tick", slot: slotOf(START + ms) })),
    );
  });

  test("clock behind the log at start: time continues from the log", () => {
    const clock = new Ticking(START + 60_000);
    pass(200);
    clock.tick();
    expect(proposed).toEqual([{ kind: "Tick", slot: slotOf(START + 60_200) }]);
  });
});
