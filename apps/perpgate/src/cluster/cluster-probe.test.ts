import type { CoreView, LogStatus } from "@perpgate/cluster";
import { describe, expect, test } from "vitest";
import { clusterProbe, clusterStatusOf, replicasCurrent } from "./cluster-probe.js";

const STATUS: LogStatus = {
  server: "nats://127.0.0.1:4222",
  connectionProblem: "",
  reconnects: 0,
  recoveries: 0,
  lastSeq: 1,
  streamLastSeq: 1,
  lagMs: 0,
  waitedMs: 0,
  refusal: "",
  stream: undefined,
  leads: true,
  obstacle: undefined,
  otherChain: "",
  isClockWrong: false,
  cores: [],
};

function reasonFor(logLeadMs: number, changes: Partial<LogStatus> = {}): string | undefined {
  return clusterProbe(
    { logLeadMs },
    { status: () => ({ ...STATUS, ...changes }) },
  ).notReadyReason();
}

const UNCONNECTED = "no NATS server is connected; the log of this gateway says why";

describe("readiness of a core of a cluster", () => {
  test("the log is unreachable: it is named, not the clock", () => {
    const waited = "a batch of this gateway has waited for the log for";
    expect(reasonFor(2_100, { waitedMs: 1_100 })).toBe(`${waited} 1 s`);
    expect(reasonFor(12_000, { waitedMs: 11_000 })).toBe(`${waited} 11 s`);
    const unconnected = { waitedMs: 11_000, server: "" };
    const connectionProblem = "tls://10.0.0.1:4222: certificate has expired";
    expect(reasonFor(12_000, { ...unconnected, connectionProblem })).toBe(UNCONNECTED);
  });

  test("the log refuses what is published: it is named", () => {
    expect(reasonFor(0, { refusal: "maximum bytes exceeded" })).toBe(
      "the log refuses messages: maximum bytes exceeded",
    );
  });

  test("own batches alone are not taken: not ready", () => {
    expect(reasonFor(100, { waitedMs: 1_000 })).toBeUndefined();
    expect(reasonFor(100, { waitedMs: 3_000 })).toMatch(/has waited for the log for 3 s/);
  });

  test("the log takes batches: the clock is named", () => {
    expect(reasonFor(3_600_000, { waitedMs: 20 })).toMatch(/is 3600 s ahead of the time/);
    expect(reasonFor(-3_000, { waitedMs: 600 })).toMatch(/is 3 s behind the time/);
    expect(reasonFor(1_000)).toBeUndefined();
  });
});

const LEADS = { logLeadMs: 12 };

function coreView(core: string, leads: boolean, aheadMs: number): CoreView {
  const log = { epoch: 3, sequence: 90, chain: new Uint8Array(32), versions: [3, 3] as const };
  const server = "nats://n1:4222";
  const who = {
    core,
    run: "a".repeat(32),
    leads,
    clockMs: 0,
    isReady: true,
    edges: 2,
    handsTo: "",
    server,
    release: "1.2.3",
  };
  return { heartbeat: { ...who, ...log }, aheadMs };
}

describe("a core of a cluster", () => {
  const cores = [coreView("b", true, 0), coreView("c", false, -7.4)];

  test("its status: every core of the configuration; one that is not heard is silent", () => {
    const link = { cores: ["a", "b", "c"], status: () => ({ ...STATUS, cores }) };
    const heard = { epoch: 3, sequence: 90, server: "nats://n1:4222", release: "1.2.3" };
    const status = clusterStatusOf("b", LEADS, link);
    expect(status).toMatchObject({
      gateway: "b",
      cores: [
        { name: "a", state: "silent" },
        { name: "b", state: "leads", clockAheadMs: 0, ...heard },
        { name: "c", state: "standby", clockAheadMs: -7, ...heard },
      ],
    });
    expect(status?.cores?.[0]).toEqual({ name: "a", state: "silent" });
  });

  test("another core has another log: it is named before all else", () => {
    const otherChain = "c has another log up to sequence 4 than this core";
    expect(reasonFor(0, { otherChain, waitedMs: 9_000 })).toBe(otherChain);
  });
});

test("servers that have all of the stream: the leader counts if there is one, none without an answer", () => {
  const follower = (isCurrent: boolean) => ({ server: "n", isCurrent, isOffline: false, lag: 0 });
  const stream = {
    created: "",
    firstSeq: 1,
    lastSeq: 1,
    bytes: 0,
    maxBytes: undefined,
    config: {},
  };
  const led = { ...stream, leader: "n1", replicas: [follower(true), follower(false)] };
  expect(replicasCurrent(led)).toBe(2);
  const leaderless = { ...led, leader: "", replicas: [...led.replicas, follower(false)] };
  expect(replicasCurrent(leaderless)).toBe(1);
  expect(replicasCurrent(undefined)).toBe(0);
});
