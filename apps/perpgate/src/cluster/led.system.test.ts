/**
 * Gateways of `log.cores`: each machine's core leads or stands by, and the edges of each machine are linked
 * to all cores, with TLS to those of others. Traders that send to one gateway go on there while another
 * core takes over. PERPGATE_LED_FAULTS repeats the faults.
 */

import { join } from "node:path";
import { isWithoutNatsServer } from "@perpgate/cluster/testing";
import { until } from "@perpgate/journal/testing";
import { freePort } from "@perpgate/venue/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";
import { auditMirrors } from "./testing/audit.js";
import { ClusterLoad } from "./testing/cluster-load.js";
import { RunningCluster } from "./testing/running-cluster.js";

const TIMES = Number(process.env.PERPGATE_LED_FAULTS ?? 1);
const repeated = Array.from({ length: TIMES }, (_, index) => index + 1);
const NAMES = ["gateway-1", "gateway-2", "gateway-3"];
const HOST = "127.0.0.1";

describe.skipIf(isWithoutNatsServer())("gateways whose cores lead by turns", () => {
  let folder = "";

  beforeAll(async () => {
    folder = temporaryFolder(afterAll);
    const ca = join(folder, "ca");
    await keygen("authority", ca);
    await keygen("core", join(folder, "core"), "--ca", ca);
    await keygen("edge", join(folder, "edge"), "--ca", ca);
  });

  async function keygen(...args: readonly string[]): Promise<void> {
    const { code, stderr } = await new PerpgateProcess(["keygen", ...args], {}, undefined, afterAll)
      .ended;
    expect([code, stderr]).toEqual([0, ""]);
  }

  async function start(): Promise<RunningCluster> {
    const places = await Promise.all(NAMES.map(async () => `${HOST}:${await freePort()}`));
    const tls = {
      ca: join(folder, "ca.pem"),
      cert: join(folder, "core.pem"),
      key: join(folder, "core.key"),
    };
    const cluster = await RunningCluster.start({
      settings: { bots: false, edges: 1 },
      own: (member) => ({
        log: { servers: ["nats://replaced"], cores: NAMES },
        link: {
          listen: places[member],
          cores: places.filter((_, index) => index !== member),
          tls,
        },
      }),
    });
    await cluster.ready();
    return cluster;
  }

  /** The first gateway starts alone, so it leads. */
  const others = (cluster: RunningCluster) => cluster.urls.slice(1);

  async function audit(cluster: RunningCluster, load: ClusterLoad): Promise<void> {
    await load.stop();
    await cluster.stop();
    await auditMirrors(
      cluster.gateways.map(({ data }) => data),
      load,
    );
  }

  function expectNoRefusals(load: ClusterLoad): void {
    expect(Object.fromEntries(load.refusals)).toEqual({});
  }

  test.each(repeated)(
    "the leader is killed (%i): traders at other gateways go on, without an error",
    async () => {
      const cluster = await start();
      const load = await ClusterLoad.start(others(cluster), 4);
      await load.more(50);
      await cluster.gateway(0).kill();
      await load.more(50);
      expectNoRefusals(load);
      await cluster.gateway(0).start();
      await load.more(20);
      expectNoRefusals(load);
      await audit(cluster, load);
    },
    180_000,
  );

  test.each(repeated)(
    "the leader is stopped for 3 s and goes on (%i): another leads, nothing runs twice",
    async () => {
      const cluster = await start();
      const load = await ClusterLoad.start(others(cluster), 4);
      await load.more(50);
      const leader = cluster.gateway(0).process;
      leader.signalCore("SIGSTOP");
      try {
        await load.more(50);
      } finally {
        leader.signalCore("SIGCONT");
      }
      await load.more(50);
      expectNoRefusals(load);
      await audit(cluster, load);
    },
    180_000,
  );

  test.each(repeated)(
    "the leader's gateway stops and starts again (%i): no order fails",
    async () => {
      const cluster = await start();
      const load = await ClusterLoad.start(others(cluster), 4);
      await load.more(20);
      await cluster.gateway(0).stop();
      await load.more(20);
      await cluster.gateway(0).start();
      await until(() => cluster.gateway(0).isReady(), { everyMs: 50 });
      await load.more(20);
      expectNoRefusals(load);
      await audit(cluster, load);
    },
    180_000,
  );
});
