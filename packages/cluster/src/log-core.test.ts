/** A core's part in the log, with the time in the test's hands. */
import { expect, test } from "vitest";
import { CHAIN_START, MessageChain } from "./chain.js";
import { LogCore } from "./log-core.js";

const RUN = "a".repeat(32);
const OTHER = "b".repeat(32);
const START_MS = 1_000_000;
const PULSE_MS = 50;
const NO_BLOCK = { number: 0, hash: new Uint8Array(32) };

/** A core on an empty stream whose leader answers; `run` leads. */
class Scene {
  nowMs = START_MS;
  isReady = true;
  readonly core: LogCore;

  constructor(run: string) {
    this.core = new LogCore(
      {
        ...{ stream: "venue", core: "core-1", run: RUN, rank: 0, versions: [3, 3] },
        chain: new MessageChain(0, []),
      },
      {
        publish: () => undefined,
        mirror: () => undefined,
        blocks: { lastBlock: () => NO_BLOCK, blockHash: () => NO_BLOCK.hash },
        deliver: () => undefined,
        leader: () => ({ epoch: 1, run }),
        claim: () => undefined,
        isReady: () => this.isReady,
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
    this.core.answered({ sequence: 0, has: "same", last: 0, askedAtMs: this.nowMs });
  }

  hears(core: string, aheadMs: number): void {
    this.core.takeover.heard({
      ...{ core, run: OTHER, epoch: 1, leads: false, sequence: 0, chain: CHAIN_START },
      ...{ clockMs: this.nowMs + aheadMs, versions: [3, 3], isReady: true, handsTo: "" },
      ...{ server: "", release: "" },
    });
  }
}

test("a leader with a wrong clock whose lead nobody takes: it goes on writing between two attempts", () => {
  const scene = new Scene(RUN);
  const offered = new Set<string>();
  const pulses = 20_000 / PULSE_MS;
  const writing = scene.pulses(20_000, () => {
    scene.hears("core-2", 3_600_000);
    scene.hears("core-3", 3_600_000);
    offered.add(scene.core.heartbeat().handsTo);
    return scene.core.mayPropose;
  });
  expect(offered).toContain("core-2");
  expect(writing / pulses).toBeGreaterThan(0.6);
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
