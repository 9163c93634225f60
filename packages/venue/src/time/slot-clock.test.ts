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

/** A clock next to a log of several writers, of which its own is the one that joined at `rank`. */
class Ticking {
  readonly state = new Engine().state;
  private readonly slots: SlotClock;

  constructor(rank = 0, startMs = START, mayLeapAlone = true) {
    const clocks = { wall: () => wall, monotonic: () => monotonic, boot: () => undefined };
    const { writers } = this.state;
    for (let number = 1; number <= rank + 1; number++) {
      writers.join(number, joining(writerId(number), `gateway-${number}`, startMs));
    }
    this.state.lastTickMs = startMs;
    this.slots = new SlotClock({
      clock: new VenueClock(clocks, startMs),
      monotonic: clocks.monotonic,
      state: this.state,
      writer: () => writerId(rank + 1),
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

/** A log of several writers, applied by the engine. */
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

  clockOf({ id }: Sender): SlotClock {
    const clocks = { wall: () => wall, monotonic: () => monotonic, boot: () => undefined };
    const logMs = (): number => this.state.lastTickMs;
    return new SlotClock({
      clock: new VenueClock({ ...clocks, logMs }, wall),
      monotonic: clocks.monotonic,
      state: this.state,
      writer: () => id,
      mayLeapAlone: () => false,
      wake: () => undefined,
    });
  }

  /** Applies what the clock proposes each second; returns the times that it asked for. */
  run(
    clock: SlotClock,
    own: Sender,
    seconds: number,
    meanwhile: () => void = () => undefined,
  ): number[] {
    const asked: number[] = [];
    for (let second = 0; second < seconds; second++) {
      const due = clock.due();
      for (const command of due) if (command.kind === "AskTime") asked.push(command.stampMs);
      this.send(own, due);
      meanwhile();
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

  test("alone and more than a minute ahead: asks only if it may; with a second writer always", () => {
    const alone = new Ticking(0, START, false);
    const two = new Ticking(1, START, false);
    pass(60_000);
    alone.tickUnheard();
    expect(proposed).toEqual([{ kind: "AskTime", stampMs: START + 60_000 }]);
    pass(1_000);
    alone.tickUnheard();
    expect(proposed).toHaveLength(1);
    two.tickUnheard();
    expect(proposed).toHaveLength(2);
  });

  test("alone among writers that were killed: asks for a minute at most", () => {
    const log = new Log();
    for (const name of ["a", "b", "c"]) log.join(name);
    // All were killed. One starts again, with its clock an hour ahead.
    const own = log.join("a");
    wall += 3_600_000;
    const clock = log.clockOf(own);
    const asked = log.run(clock, own, 10);
    expect(liveWriters(log.state).map(({ name }) => name)).toEqual(["a"]);
    expect(log.state.lastTickMs).toBe(START + 60_000);
    expect(asked.slice(2)).toEqual(Array(3).fill(START + 60_000));
  });

  test("among writers of which one runs: asks for the time of its clock, however far", () => {
    const log = new Log();
    for (const name of ["a", "b", "c"]) log.join(name);
    const [own, other] = [log.join("a"), log.join("b")];
    wall += 3_600_000;
    const clock = log.clockOf(own);
    const asked = log.run(clock, own, 4, () => log.send(other));
    expect(asked).toEqual([0, 1_000, 2_000, 3_000].map((ms) => START + 3_600_000 + ms));
    expect(log.state.lastTickMs).toBe(START);
  });

  test("a clock that was ahead is put right: asks no more, and alone it moves the log on", () => {
    const log = new Log();
    const own = log.join("a");
    const others = ["b", "c"].map((name) => ({ sender: log.join(name), isSecond: name === "c" }));
    wall += 3_600_000;
    const clock = log.clockOf(own);
    /** The others have the right time. */
    const tick = (): void => {
      const slot = slotOf(log.state.lastTickMs + 1_000);
      for (const { sender, isSecond } of others) {
        log.send(sender, isSecond ? [] : [{ kind: "Tick", slot }]);
      }
    };
    expect(log.run(clock, own, 3, tick)).toHaveLength(3);
    wall -= 3_600_000;
    expect(log.run(clock, own, 3, tick)).toEqual([]);
    // The others were killed.
    expect(log.run(clock, own, 30)).toEqual([]);
    expect(log.state.lastTickMs).toBe(wall - 1_000);
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
    const clock = new Ticking(0, START + 60_000);
    pass(200);
    clock.tick();
    expect(proposed).toEqual([{ kind: "Tick", slot: slotOf(START + 60_200) }]);
  });

  test.each([
    [1, 400],
    [2, 600],
  ])("rank %i: silent while others tick, steps in after %i ms without", (rank, afterMs) => {
    const clock = new Ticking(rank);
    for (let ms = 200; ms <= 2_000; ms += 200) {
      pass(200);
      clock.hear(START + ms);
      clock.tick();
    }
    expect(proposed).toEqual([]);
    for (let ms = 200; ms < afterMs; ms += 200) {
      pass(200);
      clock.tick();
      expect(proposed).toEqual([]);
    }
    pass(200);
    clock.tick();
    expect(proposed).toEqual([{ kind: "Tick", slot: slotOf(START + 2_000 + afterMs) }]);
  });

  test("stepped in: each slot while those before are silent, and none once one is heard", () => {
    const clock = new Ticking(1);
    pass(400);
    clock.tick();
    expect(proposed).toHaveLength(1);
    const [first] = clock.state.writers.live;
    first!.ticksMissed = 1;
    for (let count = 0; count < 3; count++) {
      pass(200);
      clock.tick();
    }
    expect(proposed).toHaveLength(4);
    first!.ticksMissed = 0;
    pass(200);
    clock.tick();
    expect(proposed).toHaveLength(4);
  });
});
