/** The processes of a venue: what the end of each means for the others, and for traders. */

import { Agent, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { fieldsOf, StreamClient } from "@perpgate/gateway/testing";
import { POLL, until } from "@perpgate/journal/testing";
import { describe, expect, test } from "vitest";
import { ProcessClient } from "../../testing/client.js";
import { MetricsReading } from "../../testing/metrics-text.js";
import { expectAll, OrderFlow } from "../../testing/order-flow.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
  UNLIMITED,
} from "../../testing/perpgate-process.js";

const TWO_EDGES = { PERPGATE_EDGES: "2" };
/** The long form (`npm test -- --long edges`) has 1,000 and 20. */
const SOCKETS = Number(process.env.PERPGATE_EDGE_SOCKETS ?? 12);
const RUNS = Number(process.env.PERPGATE_EDGE_RUNS ?? 1);
const ENDS = Array.from({ length: RUNS }, (_, run) => run + 1).flatMap((run) => [
  ["SIGKILL", run] as const,
  ["SIGSTOP", run] as const,
]);
const REST = { symbol: "BTCUSD", side: "long", type: "limit", margin: 5, leverage: 2 };
/** Rests, and is within the band of the market. */
const BELOW = 0.9;
const TICK_MS = 200;
/** Without their supervisor. */
const ORPHANS_MS = 5_000;
/** For so long a session that is lost with an edge counts as connected. */
const GRACE_MS = 25 * TICK_MS;

function start(data: string, port = "0", environment: NodeJS.ProcessEnv = TWO_EDGES) {
  const config = configurationFile({ limits: UNLIMITED, http: { drainGraceMs: 5_000 } });
  const args = ["--port", port, "--data", data, "--config", config];
  return new PerpgateProcess(args, environment);
}

const newData = (): string => join(temporaryFolder(), "data");

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Whether something listens there. */
function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

/** The health over a connection of its own, which any edge may accept. */
function askOnce(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/healthz`, {
      agent: new Agent(),
      headers: { connection: "close" },
    });
    sent.once("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once("error", reject).end();
  });
}

async function metricsText(url: string): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

async function trader(url: string): Promise<ProcessClient> {
  const client = new ProcessClient(url);
  expect((await client.signIn()).status).toBe(200);
  return client;
}

/** A session with an order that ends with its sockets, and one socket. */
async function holder(url: string, price: number) {
  const client = await trader(url);
  const stream = await StreamClient.connect(url, client.token);
  expect(await stream.ask({ op: "session", cancelOnDisconnect: true })).toMatchObject({ t: "ok" });
  const { body } = await client.place({ ...REST, price, nonce: 1 });
  expect(body).toMatchObject({ status: "resting" });
  return { client, stream };
}

/** Newest first. */
const PAGE = 1_000;

/** All of them, newest first. */
async function ordersOf(
  client: ProcessClient,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const orders: Readonly<Record<string, unknown>>[] = [];
  for (let before = ""; ; before = `&before=${orders.at(-1)?.orderId}`) {
    const { body } = await client.request("GET", `/v1/orders?status=all&limit=${PAGE}${before}`);
    const page = Array.isArray(body) ? body.map(fieldsOf) : [];
    orders.push(...page);
    if (page.length < PAGE) return orders;
  }
}

async function restingPrice(client: ProcessClient): Promise<number> {
  const { body } = await client.request("GET", "/v1/markets");
  return Math.round(Number(fieldsOf(body["0"]).markPrice) * BELOW);
}

/** One order after the other, each sent again until it is acknowledged: it is executed once. */
class TradingOn {
  private acknowledged = 0;
  private isOver = false;
  private readonly ended: Promise<void>;

  constructor(private readonly client: ProcessClient) {
    this.ended = this.run();
  }

  async more(count: number): Promise<void> {
    const goal = this.acknowledged + count;
    await expect.poll(() => this.acknowledged, POLL).toBeGreaterThanOrEqual(goal);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.ended;
    expect(await ordersOf(this.client)).toHaveLength(this.acknowledged);
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      const nonce = this.acknowledged + 1;
      const order = {
        symbol: "BTCUSD",
        side: "long",
        type: "market",
        margin: 5,
        leverage: 2,
        nonce,
      };
      const answer = await this.client.place(order).catch(() => undefined);
      if (answer === undefined || answer.status >= 500) continue;
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      this.acknowledged++;
    }
  }
}

describe.skipIf(process.platform !== "linux")("the processes of a venue (needs /proc)", () => {
  test("two edges share the port: a session is used through both, and one page has all metrics", async () => {
    const perpgate = start(newData());
    const url = await perpgate.url();
    expect(perpgate.edges).toHaveLength(2);
    const client = await trader(url);
    const price = await restingPrice(client);
    const socketsOf = (text: string) =>
      ["edge-1", "edge-2"].map((name) =>
        Number(new RegExp(`^perpgate_sockets_open{process="${name}"} (.*)$`, "m").exec(text)?.[1]),
      );
    const streams: StreamClient[] = [];
    const areShared = async () => {
      streams.push(await StreamClient.connect(url, client.token));
      return Math.min(...socketsOf(await metricsText(url)));
    };
    await expect.poll(areShared, POLL).toBeGreaterThan(0);
    // Each edge takes an order of the session, and refuses one that another has taken.
    for (const [at, stream] of streams.entries()) {
      const body = JSON.stringify({ ...REST, margin: 1, price, nonce: 1 + at });
      const sig = client.signatureOf(JSON.parse(body))["x-service-sig"];
      expect(await stream.ask({ op: "order", body, sig })).toMatchObject({ t: "ok" });
      for (const other of streams) {
        expect(await other.ask({ op: "order", body, sig })).toMatchObject({ t: "ok" });
      }
    }
    expect(await ordersOf(client)).toHaveLength(streams.length);
    const text = await metricsText(url);
    for (const name of ["core", "edge-1", "edge-2", "supervisor"]) {
      expect(text).toContain(`process_resident_memory_bytes{process="${name}"}`);
    }
    expect(new MetricsReading(text).value("perpgate_edges_listening")).toBe(2);
    perpgate.signal("SIGTERM");
    expect(await perpgate.ended).toMatchObject({ code: 0 });
  });

  test.each(ENDS)(
    "an edge with sockets gets %s (%i): the others trade on, and it is started again",
    async (signal) => {
      const perpgate = start(newData());
      const url = await perpgate.url();
      const busy = await trader(url);
      const price = await restingPrice(busy);
      const trading = new TradingOn(busy);
      const holders = await Promise.all(Array.from({ length: SOCKETS }, () => holder(url, price)));
      const [ending = 0, kept = 0] = perpgate.edges;
      await trading.more(20);
      const endedAtMs = Date.now();
      process.kill(ending, signal);
      if (signal === "SIGSTOP") {
        // New connections go to the other.
        expect(await askOnce(url)).toBe(200);
        await perpgate.printed(/an edge does not answer; it is killed/, "stderr");
      }
      // The system closes its sockets; those of the other edge stay.
      await perpgate.printed(/an edge has ended; it is started again/, "stderr");
      const isOpen = ({ stream }: { stream: StreamClient }) => stream.socket.readyState === 1;
      const [open, lost] = [holders.filter(isOpen), holders.filter((each) => !isOpen(each))];
      expect(open.length + lost.length).toBe(SOCKETS);
      // Half of the lost come back, wherever they are accepted.
      const back = lost.slice(0, Math.ceil(lost.length / 2));
      await Promise.all(
        back.map(async (each) => {
          each.stream = await StreamClient.connect(url, each.client.token);
          await each.stream.settled();
        }),
      );
      await expect.poll(() => perpgate.edges.length, POLL).toBe(2);
      for (const { client } of lost.slice(back.length)) {
        await expect.poll(() => ordersOf(client), POLL).toMatchObject([{ reason: "disconnected" }]);
        const [order] = await ordersOf(client);
        expect(Number(order?.updatedAt)).toBeGreaterThan(endedAtMs + GRACE_MS - TICK_MS);
      }
      for (const { client } of [...open, ...back]) {
        await expect.poll(() => ordersOf(client), POLL).toMatchObject([{ status: "resting" }]);
      }
      expect(isRunning(kept)).toBe(true);
      await trading.more(20);
      await trading.stop();
      const listening = async () =>
        new MetricsReading(await metricsText(url)).value("perpgate_edges_listening");
      await expect.poll(listening, POLL).toBe(2);
      const reading = new MetricsReading(await metricsText(url));
      const restarts = ["edge-1", "edge-2"].map((name) =>
        reading.value(`perpgate_edge_restarts_total{edge="${name}"}`),
      );
      expect(restarts.sort()).toEqual([0, 1]);
    },
  );

  test("the core killed with orders in flight: the supervisor ends as it did, and nothing is lost", async () => {
    const data = newData();
    const perpgate = start(data);
    const url = await perpgate.url();
    const flow = new OrderFlow([await trader(url), await trader(url)], 4);
    await flow.reached(100);
    perpgate.signalCore("SIGKILL");
    const { code, signal, stderr } = await perpgate.endedWithin(5_000);
    await flow.over();
    expect([code, signal], stderr).toEqual([null, "SIGKILL"]);
    expect(stderr).toContain("perpgate: the core was ended by SIGKILL\n");
    expect(await isListening(url)).toBe(false);
    await expectAll(flow, await start(data, new URL(url).port).url());
  });

  test("SIGTERM with orders in flight: each that was taken is answered, by every edge", async () => {
    const data = newData();
    const perpgate = start(data);
    const url = await perpgate.url();
    const flow = new OrderFlow([await trader(url), await trader(url), await trader(url)], 4);
    await flow.reached(100);
    perpgate.signal("SIGTERM");
    const { code, stderr } = await perpgate.ended;
    await flow.over();
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("drained");
    // What was executed was acknowledged.
    const next = start(data, new URL(url).port);
    await expectAll(flow, await next.url());
    for (const client of new Set(flow.sent.map((each) => each.client))) {
      const own = flow.acknowledged.filter((each) => each.client === client);
      expect(await ordersOf(client)).toHaveLength(own.length);
    }
  });

  test("the supervisor killed: its core and edges end, and the next one has the folder and the port", async () => {
    const data = newData();
    const perpgate = start(data);
    const url = await perpgate.url();
    const pids = [perpgate.core, ...perpgate.edges];
    expect(pids.filter(isRunning)).toHaveLength(3);
    perpgate.signal("SIGKILL");
    await expect.poll(() => pids.filter(isRunning), { ...POLL, timeout: ORPHANS_MS }).toEqual([]);
    const next = start(data, new URL(url).port);
    expect(await next.url()).toBe(url);
  });

  test("one edge that is killed again and again: the venue stays, and the pauses grow", async () => {
    const perpgate = start(newData(), "0", { PERPGATE_EDGES: "1" });
    const url = await perpgate.url();
    const client = await trader(url);
    for (const pauseMs of [100, 200, 400]) {
      const [edge = 0] = perpgate.edges;
      process.kill(edge, "SIGKILL");
      await perpgate.printed(new RegExp(`"pauseMs":${pauseMs},`), "stderr");
      await expect.poll(() => isListening(url), POLL).toBe(true);
    }
    expect((await client.request("GET", "/v1/orders")).status).toBe(200);
  });

  test("an edge that is stopped while it starts again: killed, and the next one serves", async () => {
    const perpgate = start(newData(), "0", { PERPGATE_EDGES: "1" });
    const url = await perpgate.url();
    const [first = 0] = perpgate.edges;
    process.kill(first, "SIGKILL");
    const [second = 0] = await until(() => {
      const [edge = first] = perpgate.edges;
      return edge !== first && [edge];
    });
    // Before it has read its program.
    process.kill(second, "SIGSTOP");
    await perpgate.printed(/"an edge does not answer; it is killed"/, "stderr");
    await expect.poll(() => askOnce(url).catch(() => 0), POLL).toBe(200);
    expect(perpgate.edges).not.toContain(second);
  });
});
