import type { LogStatus } from "@perpgate/cluster";
import { describe, expect, test } from "vitest";
import { clusterProbe, replicasCurrent } from "./cluster-probe.js";

const STATUS: LogStatus = {
  server: "nats://127.0.0.1:4222",
  connectionProblem: "",
  reconnects: 0,
  recoveries: 0,
  lastSeq: 1,
  streamLastSeq: 1,
  lagMs: 0,
  waitedMs: 0,
  republished: 0,
  malformed: 0,
  chainDrops: 0,
  writers: [],
  refusal: undefined,
  stream: undefined,
};

function reasonFor(logLeadMs: number, changes: Partial<LogStatus> = {}): string | undefined {
  const venue = { isStandby: false, isWriting: true, joinRefusal: "", logLeadMs };
  return clusterProbe(venue, { status: () => ({ ...STATUS, ...changes }) }).notReadyReason();
}

const UNCONNECTED = "no NATS server is connected; the log of this gateway says why";

describe("readiness of a gateway of a cluster", () => {
  test("the log is unreachable: it is named, not the clock", () => {
    const waited = "a batch of this gateway has waited for the log for";
    expect(reasonFor(2_100, { waitedMs: 1_100 })).toBe(`${waited} 1 s`);
    expect(reasonFor(12_000, { waitedMs: 11_000 })).toBe(`${waited} 11 s`);
    const unconnected = { waitedMs: 11_000, server: "" };
    const connectionProblem = "tls://10.0.0.1:4222: certificate has expired";
    expect(reasonFor(12_000, { ...unconnected, connectionProblem })).toBe(UNCONNECTED);
  });

  test("a join waits: what keeps it from the log is named", () => {
    const reason = (changes: Partial<LogStatus>, joinRefusal = "") => {
      const venue = { isStandby: false, isWriting: false, joinRefusal, logLeadMs: 0 };
      return clusterProbe(venue, { status: () => ({ ...STATUS, ...changes }) }).notReadyReason();
    };
    expect(reason({})).toBe("this gateway joins the log");
    expect(reason({ server: "" })).toBe(UNCONNECTED);
    const refusal = { code: 10_077, description: "maximum bytes exceeded" };
    expect(reason({ refusal })).toBe("the log refuses messages: maximum bytes exceeded");
    expect(reason({}, "too_many_writers")).toMatch(/join: too_many_writers$/);
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
