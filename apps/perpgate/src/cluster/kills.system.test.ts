/**
 * A cluster of real processes on loopback, in which any server or gateway dies or stalls under load. All
 * tests share one cluster and one load; the last ones audit every gateway's mirror, and judge by it what
 * happened in the log meanwhile. `PERPGATE_CLUSTER_RUNS` repeats each.
 */

import { setTimeout as delay } from "node:timers/promises";
import {
  failIfLate,
  isWithoutNatsServer,
  Lateness,
  type NatsServer,
} from "@perpgate/cluster/testing";
import { until } from "@perpgate/journal/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { checkpointsAt, expectKept } from "../testing/judged-receipts.js";
import { auditMirrors } from "./testing/audit.js";
import { ClusterLoad } from "./testing/cluster-load.js";
import { ConnectedHolders } from "./testing/connected-holders.js";
import type { MirrorLog } from "./testing/mirror-log.js";
import { RunningCluster, type RunningGateway } from "./testing/running-cluster.js";

const RUNS = Number(process.env.PERPGATE_CLUSTER_RUNS ?? 1);
/** They last up to half a minute. */
const STALL_RUNS = Math.min(RUNS, 2);
const TIMEOUT = 180_000 * RUNS;
const STREAM = "perpgate";
const ROLES = ["leader", "follower", "meta leader", "consumer's host"] as const;
type Role = (typeof ROLES)[number];
const TICKING = "that ticks";
const OTHER = "that does not tick";
/** Later than a gateway is gone. */
const AFTER_ITS_END_MS = 6_000;
/** Seconds; the long form has every role and time, and gateways that stall for as long. */
const IS_LONG = RUNS > 1;
const STALLS: readonly (readonly [Role, number])[] = IS_LONG
  ? ROLES.flatMap((role) => [3, 7, 30].map((seconds) => [role, seconds] as const))
  : [["leader", 3]];
/** Which gateway is killed, and after how long it starts again. */
const GATEWAY_KILLS: readonly (readonly [string, number])[] = IS_LONG
  ? [TICKING, OTHER].flatMap((which) => [0, AFTER_ITS_END_MS].map((ms) => [which, ms] as const))
  : [
      [TICKING, 0],
      [OTHER, AFTER_ITS_END_MS],
    ];
const GATEWAY_STALLS = IS_LONG ? [500, 3_000, 8_000, 30_000] : [500, 8_000];
/** A client without an answer for as long asks elsewhere. */
const PATIENCE_MS = 10_000;
/** 25 ticks: a gateway that is silent for longer is gone. */
const GONE_MS = 5_000;
/** How soon another gateway must tick. */
const TICKS_BACK_MS = 700;
/** How soon trading is back after everything of a kind was killed. */
const TRADING_BACK_MS = 15_000;
const KILLED = "gateway that ticks killed";
/** Receipts judged by what one gateway publishes, from all over the run. */
const JUDGED = IS_LONG ? Number.POSITIVE_INFINITY : 50;
/** A step that has failed for another reason has its own error. */
const NO_STEP = "too late: no step has ended";
const ALL = ["gateway-1", "gateway-2", "gateway-3"];
const without = (gateway: RunningGateway): string[] => ALL.filter((name) => name !== gateway.name);

/** Positions of the log before and after a step, and what it was about. */
interface Span<About> {
  readonly from: number;
  readonly to: number;
  readonly about: About;
}

interface Killed {
  readonly name: string;
  /** Of the machine meanwhile. */
  readonly lateness: Lateness;
}

/** What was measured at most, in milliseconds, and what was allowed at most for a late machine. */
interface Longest {
  ms: number;
  allowedMs: number;
}

describe.skipIf(isWithoutNatsServer())("a cluster under load", { timeout: TIMEOUT }, () => {
  let cluster: RunningCluster;
  let load: ClusterLoad;
  let holders: ConnectedHolders;
  /** Of all gateways, before anything is killed. */
  const checkpoints: string[] = [];
  /** Without any acknowledgement, by what caused it. */
  const gaps = new Map<string, Longest>();
  /** Until trading was back, without a start's wait for a processor; by what was killed. */
  const outages = new Map<string, Longest>();
  /** Between two ticks, by what caused it. */
  const tickGaps = new Map<string, Longest>();
  /** In which no writer may end. */
  const serverFaults: Span<string>[] = [];
  const tickersKilled: Span<Killed>[] = [];
  /** And started only after they were gone. */
  const killedForGood: Span<Killed>[] = [];
  /** By milliseconds. */
  const gatewayStalls = new Map<number, readonly Span<string>[]>();
  let finished: Promise<MirrorLog> | undefined;

  beforeAll(async () => {
    cluster = await RunningCluster.start({}, afterAll);
    holders = new ConnectedHolders([...cluster.gateways], afterAll);
    load = await ClusterLoad.start(cluster.urls, 3);
    await load.more(50);
    for (const url of cluster.urls) checkpoints.push(...(await checkpointsAt(url)));
  }, TIMEOUT);

  afterAll(() => {
    const linesOf = (times: ReadonlyMap<string, Longest>): string =>
      [...times].map(([cause, longest]) => `  ${cause}: ${shown(longest)}`).join("\n");
    console.info(`without acknowledgements at most\n${linesOf(gaps)}`);
    console.info(`until trading was back at most\n${linesOf(outages)}`);
    console.info(`between two ticks at most\n${linesOf(tickGaps)}`);
  });

  /** Repeats the step under load, and goes on trading after each. */
  async function during<About>(
    cause: string,
    step: (lateness: Lateness) => Promise<About>,
    runs = RUNS,
  ): Promise<Span<About>[]> {
    const spans: Span<About>[] = [];
    for (let run = 0; run < runs; run++) {
      await holders.renew();
      const from = await position();
      load.longestGapMs = 0;
      load.longestWaitMs = 0;
      const lateness = new Lateness(onTestFinished);
      const about = await step(lateness);
      lateness.stop();
      await load.more(50);
      noteLongest(gaps, cause, load.longestGapMs, lateness);
      load.expectShortWaits();
      await holders.note();
      spans.push({ from, to: await position(), about });
    }
    return spans;
  }

  /** That any gateway has applied; all of them run. */
  async function position(): Promise<number> {
    const seen = await Promise.all(cluster.gateways.map((gateway) => gateway.status()));
    return Math.max(...seen.map((status) => Number(status.position)));
  }

  /**
   * Waits for an acknowledgement; returns in which way it came later than 15 s after that time.
   * `starting`: the gateways that start meanwhile, on fewer processors than machines would have. What one
   * of them waited for a processor does not count.
   */
  async function tradingBack(
    cause: string,
    sinceMs: number,
    lateness: Lateness,
    starting: readonly RunningGateway[] = [],
  ): Promise<string | undefined> {
    const starved = starting.map(({ process }) => process.starvedMs);
    await load.more(1);
    const moreMs = starting.map(({ process }, at) => process.starvedMs - (starved[at] ?? 0));
    const outageMs = performance.now() - sinceMs - Math.max(0, ...moreMs);
    noteLongest(outages, cause, outageMs, lateness);
    return lateness.overrun(outageMs, TRADING_BACK_MS, sinceMs);
  }

  /** Once: ends the load, adds a gateway, ends all and audits their mirrors. */
  function finish(): Promise<MirrorLog> {
    finished ??= audited();
    return finished;
  }

  async function audited(): Promise<MirrorLog> {
    await load.stop();
    await cluster.add();
    await expectSameBlocks(cluster.gateways);
    const unsigned = load.receipts.filter(({ ack }) => ack.receipt === undefined);
    expect(unsigned.map(({ ack }) => ack.ackNonce)).toEqual([]);
    // Each gateway is asked about its share: they publish the same log.
    for (const [at, url] of cluster.urls.entries()) {
      const share = load.receipts.filter((_, receipt) => receipt % cluster.urls.length === at);
      const judged = evenly(share, JUDGED);
      await expectKept(judged, url, checkpoints, judged.length);
    }
    await cluster.stop();
    const { acknowledged, notExecuted } = load;
    return auditMirrors(
      cluster.gateways.map(({ data }) => data),
      { acknowledged, notExecuted },
    );
  }

  /** Starts the others, after all were killed; returns when they served. */
  async function quorumWithout(server: NatsServer): Promise<number> {
    const others = cluster.nats.servers.filter((other) => other !== server);
    for (const other of others) other.start();
    await Promise.all(others.map((other) => other.ready()));
    return performance.now();
  }

  /** Resolves once the server has the whole stream, too. */
  async function restart(server: NatsServer): Promise<void> {
    server.start();
    await cluster.nats.ready();
    await cluster.nats.inSync(STREAM);
  }

  const writersAt = async (gateway: RunningGateway): Promise<string[]> => [
    ...(await gateway.status()).cluster.writers,
  ];

  /** Until the gateway sees exactly these writers. */
  async function untilWriters(gateway: RunningGateway, writers: readonly string[]): Promise<void> {
    const hasAll = async () => {
      const seen = await writersAt(gateway).catch(() => []);
      return JSON.stringify([...seen].sort()) === JSON.stringify(writers);
    };
    await until(hasAll, { everyMs: 50 });
  }

  const found = async (role: Role) => {
    const { nats } = cluster;
    if (role === "meta leader") return nats.metaLeader();
    if (role === "consumer's host") return (await nats.consumerHosts(STREAM))[0];
    return role === "leader" ? nats.streamLeader(STREAM) : nats.streamFollower(STREAM);
  };

  test.each(ROLES)("kill -9 of the server that is %s", async (role) => {
    const cause = `${role} killed`;
    const spans = await during(cause, async (lateness) => {
      const server = await found(role);
      if (server === undefined) throw new Error(`no server is ${role}`);
      const isLeader = server === (await cluster.nats.streamLeader(STREAM));
      await server.kill();
      await load.more(20);
      await restart(server);
      // An election takes 4 to 9 s; other servers are not waited for.
      const limitMs = isLeader ? 15_000 : 3_000;
      lateness.expectWithin(load.longestGapMs, limitMs);
      lateness.expectWithin(load.longestWaitMs, limitMs);
      return cause;
    });
    serverFaults.push(...spans);
  });

  test("the stream's leader steps down", async () => {
    const spans = await during("step-down", async () => {
      await cluster.nats.stepDown(STREAM);
      return "step-down";
    });
    serverFaults.push(...spans);
  });

  test.each(STALLS)("the server that is %s stalls for %i s", async (role, seconds) => {
    const cause = `${role} paused for ${seconds} s`;
    const spans = await during(
      cause,
      async () => {
        const server = await found(role);
        if (server === undefined) throw new Error(`no server is ${role}`);
        server.pause();
        await delay(seconds * 1_000);
        server.resume();
        await load.more(20);
        await cluster.nats.inSync(STREAM);
        return cause;
      },
      STALL_RUNS,
    );
    serverFaults.push(...spans);
  });

  test.each(GATEWAY_KILLS)(
    "kill -9 of a gateway %s, which starts again after %i ms",
    async (which, ms) => {
      const cause = `gateway ${which} killed, started after ${ms} ms`;
      const spans = await during(cause, async (lateness) => {
        const [first, ...others] = await writersAt(cluster.gateway(0));
        const name = which === TICKING ? first : others.at(-1);
        const gateway = cluster.gateways.find((each) => each.name === name);
        const witness = cluster.gateways.find((each) => each.name !== name);
        if (gateway === undefined || witness === undefined) throw new Error(`no gateway ${name}`);
        await gateway.kill();
        await delay(ms);
        if (ms > GONE_MS) await untilWriters(witness, without(gateway));
        await gateway.start();
        await untilWriters(witness, ALL);
        return { name: gateway.name, lateness };
      });
      if (which === TICKING) tickersKilled.push(...spans);
      if (ms > GONE_MS) killedForGood.push(...spans);
    },
  );

  test.each(GATEWAY_STALLS)("a gateway with orders in flight stalls for %i ms", async (ms) => {
    const spans = await during(
      `gateway paused for ${ms} ms`,
      async () => {
        const gateway = cluster.gateway(1);
        load.hurry(gateway.url);
        await load.more(20);
        gateway.process.signalAll("SIGSTOP");
        expect(load.calm()).toBeGreaterThan(0);
        // Nobody waits for that long at a gateway that does not answer.
        if (ms > PATIENCE_MS) load.leave(gateway.url);
        await delay(ms);
        if (ms > GONE_MS) await untilWriters(cluster.gateway(0), without(gateway));
        gateway.process.signalAll("SIGCONT");
        await untilWriters(cluster.gateway(0), ALL);
        await load.only(cluster.urls);
        return gateway.name;
      },
      STALL_RUNS,
    );
    gatewayStalls.set(ms, spans);
  });

  test("all gateways are killed: trading within 15 s of the start of one", async () => {
    const cause = "all gateways killed";
    await during(cause, async (lateness) => {
      await Promise.all(cluster.gateways.map((gateway) => gateway.kill()));
      const first = cluster.gateway(2);
      const startedMs = performance.now();
      const start = first.start();
      const [overrun] = await Promise.all([
        tradingBack(cause, startedMs, lateness, [first]),
        start,
      ]);
      await Promise.all([cluster.gateway(0).start(), cluster.gateway(1).start()]);
      await untilWriters(cluster.gateway(0), ALL);
      failIfLate(overrun);
    });
  });

  test("all servers are killed: trading within 15 s of a quorum", async () => {
    const cause = "all servers killed";
    const spans = await during(cause, async (lateness) => {
      const leader = await cluster.nats.streamLeader(STREAM);
      await Promise.all(cluster.nats.servers.map((server) => server.kill()));
      const overrun = await tradingBack(cause, await quorumWithout(leader), lateness);
      await restart(leader);
      failIfLate(overrun);
      return cause;
    });
    serverFaults.push(...spans);
  });

  test("all servers and gateways are killed: trading within 15 s of a quorum", async () => {
    const cause = "all servers and gateways killed";
    await during(cause, async (lateness) => {
      const leader = await cluster.nats.streamLeader(STREAM);
      const all = [...cluster.nats.servers, ...cluster.gateways];
      await Promise.all(all.map((each) => each.kill()));
      const quorum = quorumWithout(leader);
      const [overrun] = await Promise.all([
        quorum.then((sinceMs) => tradingBack(cause, sinceMs, lateness, cluster.gateways)),
        ...cluster.gateways.map((gateway) => gateway.start()),
      ]);
      await restart(leader);
      await untilWriters(cluster.gateway(0), ALL);
      failIfLate(overrun);
    });
  });

  test("afterwards: nothing lost, nothing twice, nothing that was not to be; all agree, a new gateway too", async () => {
    await finish();
    load.expectShortWaits();
  });

  test("in the log: no writer ended by a fault of the servers alone", async () => {
    const log = await finish();
    expect(serverFaults.length, NO_STEP).toBeGreaterThan(0);
    for (const span of serverFaults) expect(log.endedWithin(span), span.about).toEqual([]);
  });

  test("in the log: ticks are back within 700 ms after the gateway that ticks was killed", async () => {
    const log = await finish();
    expect(tickersKilled.length, NO_STEP).toBeGreaterThan(0);
    for (const { from, about } of tickersKilled) {
      const gapMs = log.longestTickGapAfter(log.lifeAt(about.name, from));
      noteLongest(tickGaps, KILLED, gapMs, about.lateness);
      about.lateness.expectWithin(gapMs, TICKS_BACK_MS);
    }
  });

  test("in the log: a killed gateway is gone after 25 ticks, and back as a new writer", async () => {
    const log = await finish();
    expect(killedForGood.length, NO_STEP).toBeGreaterThan(0);
    for (const span of killedForGood) expectGone(log, span, span.about.name);
  });

  test.each(GATEWAY_STALLS)(
    "in the log: a gateway that stalled for %i ms is gone exactly if 25 ticks passed without it",
    async (ms) => {
      const log = await finish();
      const spans = gatewayStalls.get(ms) ?? [];
      expect(spans.length, NO_STEP).toBeGreaterThan(0);
      for (const span of spans) {
        if (ms > GONE_MS) expectGone(log, span, span.about);
        else expect(log.endedWithin(span)).toEqual([]);
      }
    },
  );

  test("in the log: no order was canceled while its session was connected", async () => {
    expect(holders.expectKept(await finish())).toBeGreaterThanOrEqual(ALL.length);
  });
});

/** Fails unless the last block that all have sealed is the same one at each. */
async function expectSameBlocks(gateways: readonly RunningGateway[]): Promise<void> {
  const sealed = await Promise.all(gateways.map((gateway) => gateway.status()));
  const last = Math.min(...sealed.map(({ block }) => Number(block)));
  const [first, ...others] = await Promise.all(gateways.map((gateway) => gateway.block(last)));
  expect(first).toMatchObject({ status: 200 });
  for (const other of others) expect(other).toEqual(first);
}

/** Fails unless, of all writers, that gateway's alone ended, by the 25th tick; it joined again. */
function expectGone(log: MirrorLog, span: Span<unknown>, name: string): void {
  const ended = log.endedWithin(span);
  expect(ended).toMatchObject([{ name, ticksMissed: 25, end: { by: "Tick" } }]);
  expect(log.lifeAt(name, span.to).joined).toBeGreaterThan(ended[0]?.end?.position ?? 0);
}

/** Every n-th, so that at most this many are left. */
function evenly<T>(all: readonly T[], most: number): T[] {
  const every = Math.max(1, Math.ceil(all.length / most));
  return all.filter((_, at) => at % every === 0);
}

function noteLongest(
  times: Map<string, Longest>,
  cause: string,
  ms: number,
  lateness: Lateness,
): void {
  const before = times.get(cause) ?? { ms: 0, allowedMs: 0 };
  const allowedMs = Math.max(before.allowedMs, lateness.allowedSince());
  times.set(cause, { ms: Math.max(before.ms, ms), allowedMs });
}

function shown({ ms, allowedMs }: Longest): string {
  return `${Math.round(ms)} ms, ${Math.round(allowedMs)} ms allowed for a late machine`;
}
