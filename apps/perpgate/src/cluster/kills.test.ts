/**
 * A cluster of real processes on loopback, in which any server or gateway dies or stalls under load. All
 * tests share one cluster and one load; the last one audits every gateway's mirror.
 * `PERPGATE_CLUSTER_RUNS` repeats each.
 */

import { setTimeout as delay } from "node:timers/promises";
import { isWithoutNatsServer, Lateness } from "@perpgate/cluster/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { checkpointsAt, expectKept } from "../testing/judged-receipts.js";
import { auditMirrors } from "./testing/audit.js";
import { ClusterLoad } from "./testing/cluster-load.js";
import { RunningCluster, type RunningGateway } from "./testing/running-cluster.js";

const RUNS = Number(process.env.PERPGATE_CLUSTER_RUNS ?? 1);
/** They last up to half a minute. */
const STALL_RUNS = Math.min(RUNS, 2);
const TIMEOUT = 90_000 * (RUNS + 1);
const STREAM = "perpgate";
const ROLES = ["leader", "follower", "meta leader", "consumer's host"] as const;
type Role = (typeof ROLES)[number];
/** Seconds; the long form has every role and time, and gateways that stall for as long. */
const IS_LONG = RUNS > 1;
const STALLS: readonly (readonly [Role, number])[] = IS_LONG
  ? ROLES.flatMap((role) => [3, 7, 30].map((seconds) => [role, seconds] as const))
  : [["leader", 3]];
/** Receipts judged by what one gateway publishes. */
const JUDGED = IS_LONG ? Number.POSITIVE_INFINITY : 70;
const ALL = ["gateway-1", "gateway-2", "gateway-3"];

describe.skipIf(isWithoutNatsServer())("a cluster under load", { timeout: TIMEOUT }, () => {
  let cluster: RunningCluster;
  let load: ClusterLoad;
  /** Of all gateways, before anything is killed. */
  const checkpoints: string[] = [];
  /** Milliseconds without any acknowledgement, by what caused it. */
  const gaps = new Map<string, number>();

  beforeAll(async () => {
    cluster = await RunningCluster.start({}, afterAll);
    load = await ClusterLoad.start(cluster.urls, 3);
    await load.more(50);
    for (const url of cluster.urls) checkpoints.push(...(await checkpointsAt(url)));
  }, TIMEOUT);

  afterAll(() => {
    const lines = [...gaps].map(([cause, ms]) => `  ${cause}: ${Math.round(ms)} ms`);
    console.info(`without acknowledgements at most\n${lines.join("\n")}`);
  });

  /** Repeats the step under load, and goes on trading after each. */
  async function during(cause: string, step: () => Promise<void>, runs = RUNS): Promise<void> {
    for (let run = 0; run < runs; run++) {
      load.longestGapMs = 0;
      load.longestWaitMs = 0;
      await step();
      await load.more(50);
      gaps.set(cause, Math.max(gaps.get(cause) ?? 0, load.longestGapMs));
    }
  }

  const writersAt = async (gateway: RunningGateway): Promise<string[]> => [
    ...(await gateway.status()).cluster.writers,
  ];

  /** Until the gateway sees exactly these writers. */
  async function until(gateway: RunningGateway, writers: readonly string[]): Promise<void> {
    for (;;) {
      const seen = await writersAt(gateway).catch(() => []);
      if (JSON.stringify([...seen].sort()) === JSON.stringify(writers)) return;
      await delay(50);
    }
  }

  const found = async (role: Role) => {
    const { nats } = cluster;
    if (role === "meta leader") return nats.metaLeader();
    if (role === "consumer's host") return (await nats.consumerHosts(STREAM))[0];
    return role === "leader" ? nats.streamLeader(STREAM) : nats.streamFollower(STREAM);
  };

  test.each(ROLES)("kill -9 of the server that is %s", async (role) => {
    await during(`${role} killed`, async () => {
      const server = await found(role);
      if (server === undefined) throw new Error(`no server is ${role}`);
      const isLeader = server === (await cluster.nats.streamLeader(STREAM));
      const lateness = new Lateness(onTestFinished);
      await server.kill();
      await load.more(20);
      server.start();
      await cluster.nats.ready();
      await cluster.nats.inSync(STREAM);
      // An election takes 4 to 9 s; other servers are not waited for.
      const limitMs = (isLeader ? 15_000 : 3_000) + lateness.allowedMs;
      expect(load.longestGapMs).toBeLessThan(limitMs);
      expect(load.longestWaitMs).toBeLessThan(limitMs);
    });
  });

  test("the stream's leader steps down", async () => {
    await during("step-down", () => cluster.nats.stepDown(STREAM));
  });

  test.each(STALLS)(
    "the server that is %s stalls for %i s: no writer is declared gone by it",
    async (role, seconds) => {
      const before = await writersAt(cluster.gateway(0));
      await during(
        `${role} paused for ${seconds} s`,
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
      expect(await writersAt(cluster.gateway(0))).toEqual(before);
    },
  );

  test("kill -9 of the gateway that ticks, back within a second", async () => {
    await during("ticking gateway killed", async () => {
      const [first] = await writersAt(cluster.gateway(2));
      const gateway = cluster.gateways.find(({ name }) => name === first) ?? cluster.gateway(0);
      await gateway.kill();
      await gateway.start();
    });
    await until(cluster.gateway(2), ALL);
  });

  test("kill -9 of another gateway: gone after 25 ticks, and back as a new writer", async () => {
    await during("other gateway killed", async () => {
      const gateway = cluster.gateway(1);
      await gateway.kill();
      await until(cluster.gateway(0), ["gateway-1", "gateway-3"]);
      await gateway.start();
    });
    await until(cluster.gateway(0), ALL);
  });

  test.each(IS_LONG ? [500, 3_000, 8_000, 30_000] : [500, 8_000])(
    "a gateway stalls for %i ms, and goes on or joins again",
    async (ms) => {
      await during(
        `gateway paused for ${ms} ms`,
        async () => {
          const gateway = cluster.gateway(1);
          // Nobody waits for that long at a gateway that does not answer.
          if (ms > 10_000) await load.only(cluster.urls.filter((url) => url !== gateway.url));
          gateway.process.signal("SIGSTOP");
          await delay(ms);
          gateway.process.signal("SIGCONT");
          await until(cluster.gateway(0), ALL);
          await load.only(cluster.urls);
        },
        STALL_RUNS,
      );
    },
  );

  test("all gateways are killed and one of them starts: trading within 15 s", async () => {
    await during("all gateways killed", async () => {
      await Promise.all(cluster.gateways.map((gateway) => gateway.kill()));
      await cluster.gateway(2).start();
      const started = performance.now();
      const lateness = new Lateness(onTestFinished);
      await load.more(1);
      expect(performance.now() - started).toBeLessThan(15_000 + lateness.allowedMs);
      await Promise.all([cluster.gateway(0).start(), cluster.gateway(1).start()]);
      await until(cluster.gateway(0), ALL);
    });
  });

  test("all servers are killed and start again: trading within 15 s of a quorum", async () => {
    await during("all servers killed", async () => {
      await Promise.all(cluster.nats.servers.map((server) => server.kill()));
      await delay(500);
      await cluster.nats.restartAll();
      const started = performance.now();
      const lateness = new Lateness(onTestFinished);
      await load.more(1);
      expect(performance.now() - started).toBeLessThan(15_000 + lateness.allowedMs);
    });
  });

  test("afterwards: nothing lost, nothing twice, nothing that was not to be; all agree", async () => {
    await load.stop();
    // Each gateway is asked about its share: they publish the same log.
    for (const [at, url] of cluster.urls.entries()) {
      const share = load.receipts.filter((_, receipt) => receipt % cluster.urls.length === at);
      await expectKept(share.slice(-JUDGED), url, checkpoints);
    }
    await cluster.stop();
    await auditMirrors(
      cluster.gateways.map(({ data }) => data),
      load,
    );
  });
});
