import { describe, expect, test } from "vitest";
import { CHAIN_START, MessageChain } from "./chain.js";
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from "./heartbeat.js";
import { BREAK_MS, RANK_MS, SILENCE_MS, Takeover } from "./takeover.js";
import { TURN_MESSAGES } from "./turns.js";

const ASK_MS = 250;

function heartbeat(changes: Partial<Heartbeat> = {}): Heartbeat {
  const who = { core: "core-2", run: "b".repeat(32), epoch: 1, leads: false };
  const log = { sequence: 0, chain: CHAIN_START, clockMs: 0, versions: [2, 3] as const };
  const handing = { isReady: true, edges: 2, handsTo: "" };
  return { ...who, ...log, ...handing, server: "nats://n1:4222", release: "1.2.3", ...changes };
}

/** A core that has applied three messages, and the leader of the stream, which answers. */
class Scene {
  nowMs = 1_000_000;
  answers = true;
  readonly chain = new MessageChain(0, []);
  readonly takeover: Takeover;

  constructor(rank = 0) {
    for (const text of ["a", "b", "c"]) this.chain.append("s", Buffer.from(text));
    const now = () => this.nowMs;
    this.takeover = new Takeover("core-1", rank, this.chain, now, now);
  }

  pass(ms: number): this {
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs; this.nowMs += ASK_MS) {
      if (this.answers) this.takeover.answered(true, this.chain.last);
    }
    return this;
  }

  hears(changes: Partial<Heartbeat>): this {
    this.takeover.heard(heartbeat({ clockMs: this.nowMs, ...changes }));
    return this;
  }
}

describe("a standby claims", () => {
  test.each([0, 1, 4])(
    "after 1.5 s of silence, half a second later for each core before it: %i",
    (rank) => {
      const { takeover } = new Scene(rank).pass(SILENCE_MS + RANK_MS * rank - ASK_MS);
      expect(takeover.obstacle).toBe("not_silent");
      const later = new Scene(rank).pass(SILENCE_MS + RANK_MS * rank + ASK_MS);
      expect(later.takeover.isDue).toBe(true);
    },
  );

  test("with silence counted only while the stream's leader answers without a break", () => {
    const scene = new Scene().pass(2 * SILENCE_MS);
    scene.answers = false;
    expect(scene.pass(BREAK_MS + ASK_MS).takeover.obstacle).toBe("no_stream_leader");
    scene.answers = true;
    expect(scene.pass(SILENCE_MS - ASK_MS).takeover.obstacle).toBe("not_silent");
    expect(scene.pass(2 * ASK_MS).takeover.isDue).toBe(true);
    scene.takeover.unanswered();
    expect(scene.takeover.obstacle).toBe("no_stream_leader");
  });

  test("not before it has applied what the leader names as the last", () => {
    const scene = new Scene().pass(2 * SILENCE_MS);
    scene.takeover.answered(false, 4);
    expect(scene.takeover.obstacle).toBe("behind");
    scene.takeover.delivered();
    expect(scene.takeover.obstacle).toBe("behind");
    expect(scene.pass(SILENCE_MS + ASK_MS).takeover.isDue).toBe(true);
  });

  test("immediately if the leader hands over to it, once it has read all", () => {
    const scene = new Scene(4).pass(2 * ASK_MS).hears({ handsTo: "core-1" });
    expect(scene.takeover.isDue).toBe(true);
    expect(scene.hears({ handsTo: "core-3" }).pass(1_500).takeover.isDue).toBe(false);
  });
});

describe("a standby does not claim", () => {
  const OTHER = Buffer.alloc(32, 7);

  test("while it knows of a higher sequence; nor when it reads another message there", () => {
    const scene = new Scene().pass(2 * SILENCE_MS).hears({ sequence: 4, chain: OTHER });
    expect(scene.pass(60_000).takeover.obstacle).toBe("higher_known");
    scene.hears({ sequence: 4, chain: OTHER });
    scene.chain.append("s", Buffer.from("d"));
    scene.takeover.delivered();
    expect(scene.takeover.otherChain).toMatch(/another log up to sequence 4/);
  });

  test("before it has read what it knew of; then it does", () => {
    const scene = new Scene();
    const { chain } = scene;
    const ahead = new MessageChain(0, []);
    for (const text of ["a", "b", "c", "d"]) ahead.append("s", Buffer.from(text));
    scene.hears({ sequence: 4, chain: ahead.head });
    chain.append("s", Buffer.from("d"));
    scene.takeover.delivered();
    expect(scene.pass(2 * SILENCE_MS).takeover.isDue).toBe(true);
  });

  test("with another chain than a core that it hears", () => {
    const scene = new Scene().pass(2 * SILENCE_MS).hears({ sequence: 2, chain: OTHER });
    expect(scene.takeover.obstacle).toBe("other_chain");
    expect(scene.takeover.otherChain).toMatch(/^core-2 has another log up to sequence 2/);
  });

  test("with another chain only while it hears the core that has it", () => {
    const scene = new Scene().pass(2 * SILENCE_MS).hears({ sequence: 2, chain: OTHER });
    expect(scene.pass(4_000).takeover.obstacle).toBe("other_chain");
    expect(scene.pass(2_000).takeover.isDue).toBe(true);
    expect(scene.takeover.otherChain).toBe("");
    // One whose place it has not reached yet, and which it has not heard again when it does.
    scene.hears({ sequence: 4, chain: OTHER }).pass(6_000);
    scene.chain.append("s", Buffer.from("d"));
    scene.takeover.delivered();
    expect(scene.pass(2 * SILENCE_MS).takeover.isDue).toBe(true);
  });

  test("until the core that had another chain has another run, or the same chain", () => {
    const scene = new Scene().pass(2 * SILENCE_MS).hears({ sequence: 2, chain: OTHER });
    // Beyond what this core can compare.
    scene.hears({ sequence: 4, chain: OTHER });
    expect(scene.takeover.otherChain).toMatch(/^core-2 has another log up to sequence 2/);
    scene.hears({ sequence: 3, chain: scene.chain.head });
    expect(scene.takeover.otherChain).toBe("");
    scene.hears({ sequence: 2, chain: OTHER });
    scene.hears({ sequence: 0, run: "c".repeat(32) });
    expect(scene.takeover.otherChain).toBe("");
  });

  test("with a clock 2 s from the median of three; with two cores nobody can say whose is wrong", () => {
    const scene = new Scene().pass(2 * SILENCE_MS);
    scene.hears({ core: "core-2", clockMs: scene.nowMs + 2_500 });
    expect(scene.takeover.isDue).toBe(true);
    scene.hears({ core: "core-3", clockMs: scene.nowMs + 2_600 });
    expect(scene.takeover.obstacle).toBe("clock");
    expect(scene.takeover.isClockWrong).toBe(true);
    scene.hears({ core: "core-3", clockMs: scene.nowMs + 1_900 });
    expect(scene.takeover.isDue).toBe(true);
    scene.hears({ core: "core-3", clockMs: scene.nowMs + 2_600 });
    expect(scene.pass(6_000).takeover.isDue).toBe(true);
  });
});

test("a lead is handed over to cores alone whose clock lets them claim", () => {
  const scene = new Scene();
  scene.hears({ core: "core-2", clockMs: scene.nowMs + 3_600_000 });
  expect(scene.takeover.able).toEqual(["core-2"]);
  scene.hears({ core: "core-3" });
  expect(scene.takeover.able).toEqual(["core-3"]);
  // Its own clock is the wrong one.
  scene.hears({ core: "core-3", clockMs: scene.nowMs + 3_600_000 });
  expect(scene.takeover.able).toEqual(["core-2", "core-3"]);
  expect(scene.pass(6_000).takeover.able).toEqual([]);
});

test("a lead is handed over to cores alone that are ready, have the same log, and run", () => {
  const scene = new Scene().hears({ core: "core-2", isReady: false }).hears({ core: "core-3" });
  expect(scene.takeover.able).toEqual(["core-3"]);
  scene
    .hears({ core: "core-2" })
    .hears({ core: "core-3", sequence: 2, chain: Buffer.alloc(32, 7) });
  expect(scene.takeover.able).toEqual(["core-2"]);
  expect(scene.pass(1_250).takeover.able).toEqual([]);
});

test("a lead is handed over to the core with the most edges, of equals to the first by name", () => {
  const { takeover } = new Scene()
    .hears({ core: "core-4", edges: 3 })
    .hears({ core: "core-2", edges: 2 })
    .hears({ core: "core-3", edges: 3 });
  expect(takeover.able).toEqual(["core-3", "core-4", "core-2"]);
  expect(takeover.mostEdges).toBe(3);
});

test("a core is ready if it has little to read, its clock is right and no log contradicts its own", () => {
  const scene = new Scene();
  const { takeover } = scene;
  const far = scene.chain.last + TURN_MESSAGES + 1;
  takeover.answered(false, far - 1);
  expect(takeover.isReady).toBe(true);
  takeover.answered(false, far);
  expect(takeover.isReady).toBe(false);
  takeover.answered(true, scene.chain.last);
  scene.hears({ sequence: far });
  expect(takeover.isReady).toBe(false);
  const other = new Scene().hears({ sequence: 2, chain: Buffer.alloc(32, 7) });
  expect(other.takeover.isReady).toBe(false);
  const { nowMs } = scene;
  const late = new Scene().hears({ core: "core-2", clockMs: nowMs + 9_000 });
  late.hears({ core: "core-3", clockMs: nowMs + 9_000 });
  expect(late.takeover.isReady).toBe(false);
});

describe("heartbeats", () => {
  test("are read as they were written", () => {
    const text = encodeHeartbeat(heartbeat({ sequence: 9, handsTo: "core-1", leads: true }));
    const expected = heartbeat({ sequence: 9, handsTo: "core-1", leads: true });
    expect(decodeHeartbeat(Buffer.from(text))).toEqual({
      ...expected,
      chain: Buffer.from(expected.chain),
    });
  });

  test.each([
    "",
    "null",
    "[]",
    "{",
    JSON.stringify({ ...heartbeat(), chain: "00" }),
    encodeHeartbeat(heartbeat({ core: "No name" })),
    encodeHeartbeat(heartbeat({ sequence: -1 })),
    encodeHeartbeat(heartbeat({ run: "x" })),
  ])("anything else is no heartbeat: %s", (text) => {
    expect(decodeHeartbeat(Buffer.from(text))).toBeUndefined();
  });
});
