/** What a client is answered when the log is slow, silent or lost, and clocks that are wrong. */

import { setTimeout as delay } from "node:timers/promises";
import { FaultProxy, isWithoutNatsServer, Lateness } from "@perpgate/cluster/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type ClientAnswer, ProcessClient } from "../testing/client.js";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";
import { auditMirrors } from "./testing/audit.js";
import { ClusterLoad } from "./testing/cluster-load.js";
import { RunningCluster } from "./testing/running-cluster.js";

const TIMEOUT = 120_000;
const ORDER = { symbol: "BTCUSD", side: "long", type: "market", margin: 5, leverage: 2 };

describe.skipIf(isWithoutNatsServer())(
  "a gateway behind a faulty line",
  { timeout: TIMEOUT },
  () => {
    let cluster: RunningCluster;
    let proxy: FaultProxy;
    let client: ProcessClient;

    beforeAll(async () => {
      cluster = await RunningCluster.start(
        {
          gateways: 2,
          // The second gateway reaches the log through the proxy alone.
          servers: async (nats, member) => {
            if (member === 0) return nats.urls();
            proxy = await FaultProxy.start(nats.urls()[0] ?? "", "perpgate");
            return [proxy.url];
          },
        },
        afterAll,
      );
      afterAll(() => void proxy.close());
      client = new ProcessClient(cluster.gateway(1).url);
      expect((await client.signIn()).status).toBe(200);
    }, TIMEOUT);

    test("answers to publishes are dropped: nothing doubled, nothing hangs", async () => {
      proxy.dropsAnswers = true;
      const load = await ClusterLoad.start(cluster.urls, 4);
      await load.more(100);
      proxy.dropsAnswers = false;
      await load.more(20);
      await load.stop();
      load.expectShortWaits();
    });

    test("publishes are held for more than ten seconds: the outcome is unknown, then the same nonce tells it", async () => {
      proxy.hold();
      const started = performance.now();
      const lateness = new Lateness(onTestFinished);
      const first = client.place({ ...ORDER, nonce: 1 });
      while (proxy.heldPublishes === 0) await delay(5);
      const second = client.place({ ...ORDER, nonce: 2 });
      // Behind the one in flight, and never published.
      expect(await second).toMatchObject({ status: 503, body: { code: "not_executed" } });
      const answer = await first;
      const waitedMs = performance.now() - started;
      expect(waitedMs).toBeLessThan(15_000 + lateness.allowedMs);
      const { code } = answer.body;
      expect(["outcome_unknown", "not_executed"]).toContain(code);
      proxy.release();
      const elsewhere = client.at(cluster.gateway(0).url);
      const again = await placed(elsewhere, { ...ORDER, nonce: 1 });
      expect(again.status, JSON.stringify(again.body)).toBe(200);
      // It ran once: here, or before as the late message.
      const orders = await elsewhere.request("GET", "/v1/orders?status=all&nonce=1");
      expect(orders.body).toMatchObject([{ orderId: again.body.orderId }]);
      const other = await elsewhere.request("GET", "/v1/orders?status=all&nonce=2");
      expect(other.body).toEqual([]);
    });

    test("SIGTERM while the log does not take the join of a start, three times: exit 0", async () => {
      // The history of the start is written all the time.
      const load = await ClusterLoad.start([cluster.gateway(0).url], 4, 4);
      onTestFinished(() => load.stop());
      const holding = await FaultProxy.start(cluster.nats.urls()[0] ?? "", "perpgate");
      onTestFinished(() => holding.close());
      holding.hold();
      const data = temporaryFolder();
      const log = ["--log", holding.url, "--name", "late", "--config", cluster.config];
      for (let round = 0; round < 3; round++) {
        const { publishes } = holding;
        const late = new PerpgateProcess(["serve", "--port", "0", "--data", data, ...log]);
        while (holding.publishes === publishes) await delay(5);
        late.signal("SIGTERM");
        expect(await late.ended, `round ${round}`).toMatchObject({ code: 0 });
      }
    });

    test("afterwards the gateway is a writer again, and all agree", async () => {
      await cluster.ready();
      const load = await ClusterLoad.start(cluster.urls, 2);
      await load.more(20);
      await load.stop();
      await cluster.stop();
      await auditMirrors(
        cluster.gateways.map(({ data }) => data),
        load,
      );
    });
  },
);

describe.skipIf(isWithoutNatsServer())("clocks", { timeout: TIMEOUT }, () => {
  test.each([
    ["ahead of", 3_600_000],
    ["behind", -3_000],
  ])(
    "one clock is wrong, %s the others: time follows the majority, and it says so",
    async (side, ms) => {
      const cluster = await RunningCluster.start({
        clockShiftMs: (member) => (member === 0 ? ms : 0),
      });
      const right = new ProcessClient(cluster.gateway(1).url);
      expect((await right.signIn()).status).toBe(200);
      const named = new RegExp(
        `the clock of this gateway is [0-9]+ s ${side} the time that the majority has`,
      );
      while (!named.test((await cluster.gateway(0).notReadyReason()) ?? "")) await delay(50);
      const { time } = await cluster.gateway(1).status();
      expect(Math.abs(time - Date.now())).toBeLessThan(30_000);
      const answer = await placed(right, { ...ORDER, nonce: 1 });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      while (Math.abs((await cluster.gateway(1).status()).time - Date.now()) > 2_000) {
        await delay(50);
      }
      await cluster.stop();
    },
  );
});

/** Again with the same nonce as long as the log is behind, as a client does. */
async function placed(client: ProcessClient, order: object): Promise<ClientAnswer> {
  for (;;) {
    const answer = await client.place(order);
    if (answer.status !== 503) return answer;
    await delay(50);
  }
}
