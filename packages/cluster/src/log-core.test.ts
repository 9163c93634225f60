/** A core's part in the log, with the time in the test's hands. */
import { describe, expect, test } from "vitest";
import { MessageChain } from "./chain.js";
import { FEWER_EDGES_MS, LogCore, SETTLES_MS } from "./log-core.js";
import { coreSubject } from "./subjects.js";

const RUN = "a".repeat(32);
const OTHER = "b".repeat(32);
const START_MS = 1_000_000;
const PULSE_MS = 50;
const NO_BLOCK = { number: 0, hash: new Uint8Array(32) };

/** A core on a stream whose leader answers; the run that leads says who writes. */
class Scene {
  nowMs = START_MS;
  isReady = true;
  edges = 2;
  readonly core: LogCore;
  private readonly chain = new MessageChain(0, []);
  private published: Uint8Array | undefined;

  constructor(private run: string) {
    this.core = new LogCore(
      {
        ...{ stream: "venue", core: "core-1", run: RUN, rank: 0, versions: [3, 3] },
        chain: this.chain,
      },
      {
        publish: (message) => {
          this.published = message;
        },
        mirror: () => undefined,
        blocks: { lastBlock: () => NO_BLOCK, blockHash: () => NO_BLOCK.hash },
        deliver: () => {
          this.run = RUN;
        },
        leader: () => ({ epoch: 1, run: this.run }),
        claim: () => ({ counter: 2, records: [] }),
        isReady: () => this.isReady,
        edges: () => this.edges,
        nowMs: () => this.nowMs,
        clockMs: () => this.nowMs,
      },
    );
  }

  /** Calls `each` after every pulse; returns for how many of them it returned true. */
  pulses(ms: number, each: () => boolean): number {
    let count = 0;
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs; this.nowMs += PULSE_MS) {
      this.answered();
      this.core.tick();
      if (each()) count++;
    }
    return count;
  }

  answered(): void {
    const { last } = this.chain;
    this.core.answered({ sequence: last, has: "same", last, askedAtMs: this.nowMs });
  }

  /** Silence; it claims, and its claim is stored. */
  begins(): void {
    this.pulses(2_000, () => true);
    const data = this.published;
    if (data === undefined) throw new Error("it has not claimed");
    this.core.accept({ sequence: this.chain.last + 1, subject: coreSubject("venue"), data });
  }

  hears(core: string, { aheadMs = 0, edges = 2 } = {}): void {
    this.core.takeover.heard({
      ...{ core, run: OTHER, epoch: 1, leads: false },
      ...{ sequence: this.chain.last, chain: this.chain.head },
      ...{ clockMs: this.nowMs + aheadMs, versions: [3, 3], isReady: true, edges, handsTo: "" },
      ...{ server: "", release: "" },
    });
  }
}

test("a leader with a wrong clock whose lead nobody takes: it goes on writing between two attempts", () => {
  const scene = new Scene(RUN);
  const offered = new Set<string>();
  const pulses = 20_000 / PULSE_MS;
  const writing = scene.pulses(20_000, () => {
    scene.hears("core-2", { aheadMs: 3_600_000 });
    scene.hears("core-3", { aheadMs: 3_600_000 });
    offered.add(scene.core.heartbeat().handsTo);
    return scene.core.mayPropose;
  });
  expect(offered).toContain("core-2");
  expect(writing / pulses).toBeGreaterThan(0.6);
});

describe("a leader that other cores have more edges than", () => {
  /** To whom it offers its lead, at each pulse. */
  function offers(scene: Scene, ms: number, heard: Readonly<Record<string, number>>): string[] {
    const all: string[] = [];
    scene.pulses(ms, () => {
      for (const [core, edges] of Object.entries(heard)) scene.hears(core, { edges });
      all.push(scene.core.heartbeat().handsTo);
      return true;
    });
    return [...new Set(all)].filter((to) => to !== "");
  }

  test("offers its lead to the one with the most, once that has lasted for half a second", () => {
    const scene = new Scene(RUN);
    expect(offers(scene, 2_000, { "core-2": 2, "core-3": 2 })).toEqual([]);
    // As cores notice one after the other that an edge is gone.
    expect(offers(scene, FEWER_EDGES_MS - PULSE_MS, { "core-2": 3, "core-3": 2 })).toEqual([]);
    expect(offers(scene, 2 * PULSE_MS, { "core-2": 2, "core-3": 2 })).toEqual([]);
    scene.edges = 0;
    expect(offers(scene, FEWER_EDGES_MS, { "core-2": 1, "core-3": 2 })).toEqual([]);
    expect(offers(scene, 2 * PULSE_MS, { "core-2": 1, "core-3": 2 })).toEqual(["core-3"]);
  });

  test("keeps a lead that it has just begun for two seconds", () => {
    const scene = new Scene(OTHER);
    scene.begins();
    expect(offers(scene, SETTLES_MS - PULSE_MS, { "core-2": 3 })).toEqual([]);
    expect(offers(scene, 3 * PULSE_MS, { "core-2": 3 })).toEqual(["core-2"]);
  });
});

test("a core says that it is ready once it is open and the stream's leader confirms its log", () => {
  const scene = new Scene(OTHER);
  const isReady = (): boolean => scene.core.heartbeat().isReady;
  expect(isReady()).toBe(false);
  scene.answered();
  expect(isReady()).toBe(true);
  scene.isReady = false;
  expect(isReady()).toBe(false);
  scene.isReady = true;
  scene.nowMs += 1_000;
  expect(isReady()).toBe(false);
});
