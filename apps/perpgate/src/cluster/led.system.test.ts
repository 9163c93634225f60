/**
 * Gateways of `log.cores`: each machine's core leads or stands by, and the edges of each machine are linked
 * to all cores, with TLS to those of others. Traders that send to one gateway go on there while another
 * core takes over. All tests share one cluster; the last one audits its mirrors by what all traders were
 * answered. PERPGATE_LED_FAULTS repeats the faults.
 */

import { rmSync } from "node:fs";
import { isWithoutNatsServer, Lateness } from "@perpgate/cluster/testing";
import { fieldsOf, StreamClient } from "@perpgate/gateway/testing";
import { until } from "@perpgate/journal/testing";
import { serve } from "@perpgate/protocol/testing/serve";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from "vitest";
import { ProcessClient } from "../testing/client.js";
import { PerpgateProcess } from "../testing/perpgate-process.js";
import { auditMirrors } from "./testing/audit.js";
import { ClusterLoad } from "./testing/cluster-load.js";
import { RunningCluster, type RunningGateway } from "./testing/running-cluster.js";

const TIMES = Number(process.env.PERPGATE_LED_FAULTS ?? 1);
const repeated = Array.from({ length: TIMES }, (_, index) => index + 1);
const TIMEOUT = 180_000;
const PRICES = { BTCUSD: 65_000, ETHUSD: 3_200, SOLUSD: 150 };

describe.skipIf(isWithoutNatsServer())("gateways whose cores lead by turns", () => {
  let cluster: RunningCluster;
  /** The gateway whose core leads, and two whose cores stand by. */
  let leading: RunningGateway;
  let standing: readonly RunningGateway[];
  let load: ClusterLoad | undefined;
  const loads: ClusterLoad[] = [];

  beforeAll(async () => {
    // Polled rarely: no order may be refused for want of a price while another core takes over.
    const url = await serve((_request, reply) => void reply.end(JSON.stringify(PRICES)), afterAll);
    const markets = Object.keys(PRICES).map((name) => [name, { url, price: `/${name}` }]);
    const feeds = [{ name: "feed", markets: Object.fromEntries(markets) }];
    const index = { source: "http", feeds, quorum: 1, pollMs: 5_000 };
    // The first one starts alone, so it leads.
    const settings = { bots: false, edges: 1, index };
    cluster = await RunningCluster.start({ settings, cores: 3 }, afterAll);
  }, TIMEOUT);

  beforeEach(async () => {
    await cluster.ready();
    await cluster.whole();
    leading = await cluster.leader();
    standing = cluster.gateways.filter((gateway) => gateway !== leading);
  }, TIMEOUT);

  afterEach(async () => {
    await load?.stop();
    load = undefined;
  }, TIMEOUT);

  async function trade(gateways: readonly RunningGateway[], traders: number): Promise<ClusterLoad> {
    load = await ClusterLoad.start(urlsOf(gateways), traders);
    loads.push(load);
    return load;
  }

  function expectNoRefusals(load: ClusterLoad): void {
    expect(Object.fromEntries(load.refusals)).toEqual({});
  }

  const command = (...words: string[]) =>
    new PerpgateProcess(["cluster", ...words, "--json"]).ended;

  const stepDown = ({ data }: RunningGateway, ...words: string[]) =>
    command("step-down", "--data", data, ...words);

  /** Its core alone; resolves once the supervisor knows it. */
  async function endCore({ process }: RunningGateway): Promise<void> {
    const { core } = process;
    process.signalCore("SIGKILL");
    await until(() => !isRunning(core));
    await process.printed(/"the core was killed; it is started again"/, "stderr");
  }

  /** Resolves once another core runs there, and stands by. */
  async function killCore(gateway: RunningGateway): Promise<void> {
    await endCore(gateway);
    const standsBy = async () =>
      (await stepDown(gateway)).stderr.includes("this core does not lead");
    await until(standsBy, { everyMs: 100 });
  }

  test(
    "the operator: who leads, another core leads, a core on an empty folder, all without an error",
    async () => {
      const load = await trade(cluster.gateways, 3);
      await load.more(20);
      const coresNow = async () => {
        const urls = cluster.urls.flatMap((url) => ["--url", url]);
        const { code, stdout, stderr } = await command("status", ...urls);
        expect(code, stdout + stderr).toBe(0);
        return JSON.parse(stdout);
      };
      const server = expect.stringMatching(/^nats:/);
      const release = expect.stringMatching(/^\d+\./);
      const numbers = { sequence: expect.stringMatching(/^\d+$/), clockAheadMs: expect.anything() };
      const heard = { epoch: "1", server, release, ...numbers };
      expect(await coresNow()).toMatchObject({
        gateways: cluster.urls.map((url) => ({ url, state: "ready" })),
        cores: [
          { name: "gateway-1", state: "leads", ...heard },
          { name: "gateway-2", state: "standby", ...heard },
          { name: "gateway-3", state: "standby", ...heard },
        ],
      });
      const elsewhere = await stepDown(cluster.gateway(1));
      expect(elsewhere.code).toBe(1);
      expect(elsewhere.stderr).toContain("this core does not lead: gateway-1 does");
      const unknown = await stepDown(cluster.gateway(0), "--to", "gateway-9");
      expect(unknown.code).toBe(1);
      expect(unknown.stderr).toContain("no core gateway-9 is heard that is ready to lead");
      const lateness = new Lateness(onTestFinished);
      const done = await stepDown(cluster.gateway(0), "--to", "gateway-3");
      lateness.stop();
      expect(done, done.stderr).toMatchObject({ code: 0 });
      const { leader, epoch, tookMs } = JSON.parse(done.stdout);
      expect([leader, epoch]).toEqual(["gateway-3", 2]);
      lateness.expectWithin(tookMs, 1_500);
      await load.more(20);
      expect((await cluster.leader()).name).toBe("gateway-3");
      // Nobody is at the machine that is stopped.
      await load.only([cluster.gateway(0).url, cluster.gateway(2).url]);
      await cluster.gateway(1).stop();
      expect(await cluster.gateway(1).process.ended).toMatchObject({ code: 0 });
      rmSync(cluster.gateway(1).data, { recursive: true });
      await cluster.gateway(1).start();
      await load.more(20);
      await cluster.whole();
      const { cores } = await coresNow();
      expect(cores).toMatchObject([{ state: "standby" }, { state: "standby" }, { state: "leads" }]);
      expectNoRefusals(load);
    },
    TIMEOUT,
  );

  test.each(repeated)(
    "the leader is killed (%i): traders at other gateways go on, without an error",
    async () => {
      const load = await trade(standing, 4);
      await load.more(50);
      await leading.kill();
      await load.more(50);
      expectNoRefusals(load);
      await leading.start();
      await load.more(20);
      expectNoRefusals(load);
    },
    TIMEOUT,
  );

  test.each(repeated)(
    "the leader is stopped for as long as 50 orders take, and goes on (%i): another leads, nothing runs twice",
    async () => {
      const load = await trade(standing, 4);
      await load.more(50);
      leading.process.signalCore("SIGSTOP");
      try {
        await load.more(50);
      } finally {
        leading.process.signalCore("SIGCONT");
      }
      await load.more(50);
      expectNoRefusals(load);
    },
    TIMEOUT,
  );

  test.each(repeated)(
    "the leader's gateway stops and starts again (%i): no order fails",
    async () => {
      const load = await trade(standing, 4);
      await load.more(20);
      await leading.stop();
      expect(await leading.process.ended).toMatchObject({ code: 0 });
      await load.more(20);
      await leading.start();
      await until(() => leading.isReady(), { everyMs: 50 });
      await load.more(20);
      expectNoRefusals(load);
    },
    TIMEOUT,
  );

  test.each(repeated)(
    "a core that stands by is killed (%i): its gateway's clients notice nothing, and it can lead again",
    async () => {
      const [gateway = leading] = standing;
      const load = await trade([gateway], 4);
      const client = new ProcessClient(gateway.url);
      expect(await client.signIn()).toMatchObject({ status: 200 });
      const stream = await StreamClient.connect(gateway.url, client.token);
      await load.more(20);
      const { edges } = gateway.process;
      await killCore(gateway);
      await load.more(20);
      await stream.settled();
      expect(gateway.process.edges).toEqual(edges);
      const handed = await stepDown(leading, "--to", gateway.name);
      expect(handed, handed.stderr).toMatchObject({ code: 0 });
      await load.more(20);
      expectNoRefusals(load);
    },
    TIMEOUT,
  );

  test.each(repeated)(
    "the core that leads is killed, and then the next (%i): clients of its gateway wait there, without an error",
    async () => {
      const gateway = leading;
      const load = await trade([gateway], 4);
      await load.more(20);
      const { edges } = gateway.process;
      await killCore(gateway);
      await load.more(20);
      await killCore(await cluster.leader());
      await load.more(20);
      expect(gateway.process.edges).toEqual(edges);
      expectNoRefusals(load);
    },
    TIMEOUT,
  );

  test.each(repeated)(
    "a gateway is stopped while its core is away (%i): it answers what it has, and no process is left",
    async () => {
      const gateway = leading;
      const load = await trade(cluster.gateways, 3);
      await load.more(20);
      const { edges } = gateway.process;
      await endCore(gateway);
      await load.only(urlsOf(standing));
      gateway.process.signal("SIGTERM");
      expect(await gateway.process.endedWithin(20_000)).toMatchObject({ code: 0 });
      expect(edges.filter(isRunning)).toEqual([]);
      await load.more(20);
      await gateway.start();
      await load.more(20);
      expectNoRefusals(load);
    },
    TIMEOUT,
  );

  test.each(repeated)(
    "the leader's machine is killed (%i): sessions that come back keep their orders, of the others those with the option end",
    async () => {
      const [first, second, third] = [leading, ...standing];
      if (second === undefined || third === undefined) throw new Error("3");
      const [lost, moved] = [await Holder.at(first, true), await Holder.at(first, true)];
      const [left, stayed] = [await Holder.at(second, true), await Holder.at(second, true)];
      const without = await Holder.at(first, false);
      const away = await Holder.at(third, false);
      await away.stream.close();
      const streams = [left, stayed].map(({ stream }) => stream);
      await first.kill();
      await until(async () => (await cluster.leader()) !== first);
      for (const { closed } of streams) expect(await closed).toMatchObject({ code: 1001 });
      await Promise.all([moved.comeBack(third), stayed.comeBack(second)]);
      for (const holder of [lost, left]) {
        holder.client.url = third.url;
        await until(async () => (await holder.order()).status !== "resting", { everyMs: 50 });
        expect(await holder.order()).toMatchObject({ status: "canceled", reason: "disconnected" });
      }
      for (const holder of [moved, stayed, without, away]) {
        holder.client.url = third.url;
        expect(await holder.order()).toMatchObject({ status: "resting" });
      }
      await first.start();
    },
    TIMEOUT,
  );

  test(
    "afterwards: nothing lost, nothing twice, nothing that was not to be; all agree",
    async () => {
      await cluster.stop();
      const mirrors = cluster.gateways.map(({ data }) => data);
      await auditMirrors(mirrors, ...loads);
    },
    TIMEOUT,
  );
});

const urlsOf = (gateways: readonly RunningGateway[]) => gateways.map(({ url }) => url);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A session with a socket, and an order that rests; with the option its end cancels the order. */
class Holder {
  private constructor(
    readonly client: ProcessClient,
    public stream: StreamClient,
    private readonly orderId: string,
  ) {}

  static async at({ url }: RunningGateway, cancelsOnDisconnect: boolean): Promise<Holder> {
    const client = new ProcessClient(url);
    expect(await client.signIn()).toMatchObject({ status: 200 });
    const stream = await StreamClient.connect(url, client.token);
    const option = { op: "session", cancelOnDisconnect: cancelsOnDisconnect };
    expect(await stream.ask(option)).toMatchObject({ t: "ok" });
    const { body } = await client.request("GET", "/v1/markets");
    const price = Math.round(Number(fieldsOf(body["0"]).markPrice) * 0.9);
    const terms = { symbol: "BTCUSD", side: "long", type: "limit", margin: 5, leverage: 2 };
    const placed = await client.place({ ...terms, price, nonce: 1 });
    expect(placed.body).toMatchObject({ status: "resting" });
    return new Holder(client, stream, String(placed.body.orderId));
  }

  async comeBack({ url }: RunningGateway): Promise<void> {
    this.stream = await StreamClient.connect(url, this.client.token);
    await this.stream.settled();
  }

  /** As soon as a core leads. */
  order(): Promise<Readonly<Record<string, unknown>>> {
    const { client, orderId } = this;
    const ask = async () => {
      const { status, body } = await client.request("GET", `/v1/orders/${orderId}`);
      return status === 200 ? body : undefined;
    };
    return until(ask, { everyMs: 50 });
  }
}
