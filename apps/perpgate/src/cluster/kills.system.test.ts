/**
 * A cluster of real processes on loopback whose cores lead by turns, in which any server or gateway dies or
 * stalls under load. All tests share one cluster and one load; the last ones audit every core's mirror, and
 * judge by it what happened in the log meanwhile. `PERPGATE_CLUSTER_RUNS` repeats each.
 */

import { setTimeout as delay } from "node:timers/promises";
import {
  failIfOver,
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
const LEADING = "that leads";
const STANDBY = "that stands by";
/** Later than the sessions of a machine count as disconnected. */
const AFTER_ITS_END_MS = 6_000;
/** Seconds; the long form has every role and time, and gateways that stall for as long. */
const IS_LONG = RUNS > 1;
const STALLS: readonly (readonly [Role, number])[] = IS_LONG
  ? ROLES.flatMap((role) => [3, 7, 30].map((seconds) => [role, seconds] as const))
  : [["leader", 3]];
/** Which gateway is killed, and after how long it starts again. */
const GATEWAY_KILLS: readonly (readonly [string, number])[] = IS_LONG
  ? [LEADING, STANDBY].flatMap((which) => [0, AFTER_ITS_END_MS].map((ms) => [which, ms] as const))
  : [
      [LEADING, 0],
      [STANDBY, AFTER_ITS_END_MS],
    ];
const LEADER_STALLS = IS_LONG ? [1_000, 3_000, 10_000, 30_000] : [500, 8_000];
/** A client without an answer for as long asks elsewhere. */
const PATIENCE_MS = 10_000;
/** How soon another core answers, while JetStream has a leader. */
const TAKEOVER_MS = 3_000;
/** Silence after which the first standby claims, if it is the first in the order, and some more. */
const SURELY_TAKEN_MS = 5_000;
/** How soon trading is back after everything of a kind was killed. */
const TRADING_BACK_MS = 15_000;
/** Receipts judged by what one gateway publishes, from all over the run. */
const JUDGED = IS_LONG ? Number.POSITIVE_INFINITY : 50;
const ALL = ["gateway-1", "gateway-2", "gateway-3"];
const without = (gateway: RunningGateway): string[] => ALL.filter((name) => name !== gateway.name);

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
  let finished: Promise<MirrorLog> | undefined;

  beforeAll(async () => {
    cluster = await RunningCluster.start({ cores: 4 }, afterAll);
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
  });

  /** Repeats the step under load, and goes on trading after each. */
  async function during(
    cause: string,
    step: (lateness: Lateness) => Promise<void>,
    runs = RUNS,
  ): Promise<void> {
    for (let run = 0; run < runs; run++) {
      await holders.renew();
      load.longestGapMs = 0;
      load.longestWaitMs = 0;
      const lateness = new Lateness(onTestFinished);
      await step(lateness);
      lateness.stop();
      await load.more(50);
      noteLongest(gaps, cause, load.longestGapMs, lateness);
      load.expectShortWaits();
      await holders.note();
    }
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

  /** Cores that are heard, as the one that leads says; none while none leads. */
  async function heardAt(gateway: RunningGateway): Promise<string[]> {
    const { cores } = (await gateway.status()).cluster;
    return cores.filter(({ state }) => state !== "silent").map(({ name }) => name);
  }

  /** Until exactly these cores are heard, and one of them leads. */
  async function untilHeard(gateway: RunningGateway, names: readonly string[]): Promise<void> {
    const hasAll = async () => {
      const heard = await heardAt(gateway).catch(() => []);
      return JSON.stringify(heard.toSorted()) === JSON.stringify(names);
    };
    await until(hasAll, { everyMs: 50 });
  }

  /** While a core leads, no order is answered with an error: it waits, or its machine is gone. */
  async function withoutErrors(step: () => Promise<void>): Promise<void> {
    const before = new Map(load.refusals);
    await step();
    for (const [code, count] of load.refusals) {
      if (code !== "no answer") expect(count, code).toBe(before.get(code) ?? 0);
    }
  }

  const found = async (role: Role) => {
    const { nats } = cluster;
    if (role === "meta leader") return nats.metaLeader();
    if (role === "consumer's host") return (await nats.consumerHosts(STREAM))[0];
    return role === "leader" ? nats.streamLeader(STREAM) : nats.streamFollower(STREAM);
  };

  test.each(ROLES)("kill -9 of the server that is %s", async (role) => {
    const cause = `${role} killed`;
    await during(cause, async (lateness) => {
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
    });
  });

  test("the stream's leader steps down", async () => {
    await during("step-down", () => cluster.nats.stepDown(STREAM));
  });

  test.each(STALLS)("the server that is %s stalls for %i s", async (role, seconds) => {
    const cause = `${role} paused for ${seconds} s`;
    await during(
      cause,
      async () => {
        const server = await found(role);
        if (server === undefined) throw new Error(`no server is ${role}`);
        server.pause();
        await delay(seconds * 1_000);
        server.resume();
        await load.more(20);
        await cluster.nats.inSync(STREAM);
      },
      STALL_RUNS,
    );
  });

  test.each(GATEWAY_KILLS)(
    "kill -9 of a gateway %s, which starts again after %i ms: no order is answered with an error",
    async (which, ms) => {
      const cause = `gateway ${which} killed, started after ${ms} ms`;
      await during(cause, (lateness) =>
        withoutErrors(async () => {
          const leader = await cluster.leader();
          const standby = cluster.gateways.find((each) => each !== leader);
          const gateway = which === LEADING ? leader : standby;
          const witness = cluster.gateways.find((each) => each !== gateway);
          if (gateway === undefined || witness === undefined) throw new Error("no gateway");
          await gateway.kill();
          await load.more(20);
          lateness.expectWithin(load.longestGapMs, TAKEOVER_MS);
          await delay(ms);
          if (ms > 0) await untilHeard(witness, without(gateway));
          await gateway.start();
          await untilHeard(witness, ALL);
        }),
      );
    },
  );

  test.each(LEADER_STALLS)(
    "the gateway that leads, with orders in flight, stalls for %i ms: it writes nothing more",
    async (ms) => {
      await during(
        `leader paused for ${ms} ms`,
        async () => {
          const gateway = await cluster.leader();
          const witness = cluster.gateways.find((each) => each !== gateway) ?? gateway;
          load.hurry(gateway.url);
          await load.more(20);
          gateway.process.signalAll("SIGSTOP");
          expect(load.calm()).toBeGreaterThan(0);
          // Nobody waits for that long at a gateway that does not answer.
          if (ms > PATIENCE_MS) load.leave(gateway.url);
          await delay(ms);
          if (ms > SURELY_TAKEN_MS) await untilHeard(witness, without(gateway));
          gateway.process.signalAll("SIGCONT");
          await untilHeard(witness, ALL);
          if (ms > SURELY_TAKEN_MS) expect(await cluster.leader()).not.toBe(gateway);
          await load.only(cluster.urls);
        },
        STALL_RUNS,
      );
    },
  );

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
      await untilHeard(cluster.gateway(0), ALL);
      failIfOver([overrun]);
    });
  });

  test("all servers are killed: trading within 15 s of a quorum", async () => {
    const cause = "all servers killed";
    await during(cause, async (lateness) => {
      const leader = await cluster.nats.streamLeader(STREAM);
      await Promise.all(cluster.nats.servers.map((server) => server.kill()));
      const overrun = await tradingBack(cause, await quorumWithout(leader), lateness);
      await restart(leader);
      failIfOver([overrun]);
    });
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
      await untilHeard(cluster.gateway(0), ALL);
      failIfOver([overrun]);
    });
  });

  test("afterwards: nothing lost, nothing twice, nothing that was not to be; all agree, a new gateway too", async () => {
    await finish();
    load.expectShortWaits();
  });

  test("in the log: one core led at a time, each from its own claim on", async () => {
    const { leads, dropped } = await finish();
    expect(leads.map(({ epoch }) => epoch)).toEqual(leads.map((_, at) => at + 1));
    expect(new Set(leads.map(({ name }) => name)).size).toBeGreaterThan(1);
    expect(dropped).toEqual([]);
  });

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
