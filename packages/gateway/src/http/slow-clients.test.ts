import { once } from "node:events";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { POLL } from "@perpgate/journal/testing";
import { Registry } from "prom-client";
import { expect, test, vi } from "vitest";
import type { Edge } from "../edge.js";
import { ask, BEARER, readUntilClose, runGateway } from "../testing/running-gateway.js";
import { SAMPLE_ACK, BOOK as SAMPLE_BOOK } from "../testing/sample-values.js";
import { sampleVenue } from "../testing/sample-venue.js";
import { rawGet, rawOrder } from "./testing/raw-http.js";

const IMPATIENT = {
  headersTimeoutMs: 100,
  requestTimeoutMs: 150,
  idleTimeoutMs: 1_000,
  keepAliveTimeoutMs: 100,
  timeoutCheckIntervalMs: 20,
};

test("headers that never end: 408 in the one shape, then closed", async () => {
  const { dial } = await runGateway({ limits: IMPATIENT });
  const socket = await dial();
  socket.write("GET /v1/markets HTTP/1.1\r\nhost: x\r\nx-slow: ");
  expect(await readUntilClose(socket)).toMatch(/^HTTP\/1.1 408 [\s\S]*"code":"request_timeout"/);
});

test("headers dripped a byte at a time: cut off though bytes keep coming", async () => {
  const { dial } = await runGateway({ limits: IMPATIENT });
  const socket = await dial();
  socket.write("GET /v1/markets HTTP/1.1\r\nhost: x\r\nx-slow: ");
  const drip = setInterval(() => socket.write("a"), 10);
  const text = await readUntilClose(socket);
  clearInterval(drip);
  expect(text).toContain("408");
});

test("a body that never ends: cut off", async () => {
  const { dial } = await runGateway({ limits: IMPATIENT });
  const socket = await dial();
  socket.write(
    "POST /v1/orders HTTP/1.1\r\nhost: x\r\nauthorization: Bearer t\r\n" +
      "content-type: application/json\r\ncontent-length: 100\r\n\r\n{",
  );
  expect(await readUntilClose(socket)).toContain('"code":"request_timeout"');
});

test("a connection that says nothing: closed", async () => {
  const { dial } = await runGateway({ limits: IMPATIENT });
  await readUntilClose(await dial());
});

test("slow clients: a quick one is still answered", async () => {
  const { dial, url } = await runGateway();
  for (let i = 0; i < 50; i++) (await dial()).write("GET / HTTP/1.1\r\nx-slow: ");
  expect((await ask(`${url}/healthz`)).status).toBe(200);
});

const HEALTH = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
const READ_OF_SESSION = rawGet("/v1/account", BEARER);
const ORDER = '{"symbol":"BTCUSD","side":"long","type":"market","margin":5,"leverage":5,"nonce":1}';
const BOOK = "GET /v1/markets/BTCUSD/book HTTP/1.1\r\nhost: x\r\n\r\n";

async function counted(metrics: Registry, name: string): Promise<Record<string, number>> {
  const { values = [] } = (await metrics.getSingleMetric(name)?.get()) ?? {};
  return Object.fromEntries(values.map(({ labels, value }) => [labels.reason, value]));
}

test("every place is held by a hundred addresses that send nothing: newcomers are served, and it is counted", async () => {
  const metrics = new Registry();
  const { dial } = await runGateway({ metrics, limits: { maxConnections: 100 } });
  const held = [];
  for (let i = 1; i <= 110; i++) held.push(await dial(`127.0.1.${i}`));
  const newcomer = await dial("127.0.2.1");
  newcomer.end(HEALTH);
  expect(await readUntilClose(newcomer)).toContain("200 OK");
  // The oldest have left: 90 places are for everyone.
  await Promise.all(held.slice(0, 21).map(readUntilClose));
  const evicted = await counted(metrics, "perpgate_http_connections_evicted_total");
  expect(evicted).toEqual({ silent: 21, idle: 0, unread: 0 });
  expect(await counted(metrics, "perpgate_http_connections_refused_total")).toEqual({
    address: 0,
    full: 0,
  });
});

test("every place is in use: a stranger is refused and counted, an address with a session is served", async () => {
  const { edge, requests, finish } = await hesitantVenue();
  const metrics = new Registry();
  const { dial } = await runGateway({ edge, metrics, limits: { maxConnections: 10 } });
  const trader = await dial("127.0.1.1");
  trader.end(
    `GET /v1/account HTTP/1.1\r\nhost: x\r\nauthorization: ${BEARER.authorization}\r\n` +
      "connection: close\r\n\r\n",
  );
  expect(await readUntilClose(trader)).toContain("200 OK");
  for (let i = 0; i < 9; i++) (await dial("127.0.1.2")).write(BOOK);
  await vi.waitUntil(() => requests() === 9, POLL);
  const stranger = await dial("127.0.1.3");
  expect(await readUntilClose(stranger)).toBe("");
  const again = await dial("127.0.1.1");
  again.end(HEALTH);
  expect(await readUntilClose(again)).toContain("200 OK");
  const refused = await counted(metrics, "perpgate_http_connections_refused_total");
  expect(refused).toEqual({ address: 0, full: 1 });
  finish();
});

/** Rejects if the connection is closed before. */
async function firstBytes(socket: Socket): Promise<void> {
  const closed = once(socket, "close").then(() => Promise.reject(new Error("closed")));
  await Promise.race([once(socket, "data"), closed]);
}

/** A gateway with a hundred places, and ways to take them. */
async function hundredPlaces(edge: Edge) {
  const metrics = new Registry();
  const { dial } = await runGateway({ metrics, edge, limits: { maxConnections: 100 } });
  /** Each connection is kept alive by one answered request. */
  const keptAlive = async (address: string, count: number): Promise<Socket[]> => {
    const sockets: Socket[] = [];
    for (let i = 0; i < count; i++) {
      const socket = await dial(address);
      socket.write(READ_OF_SESSION);
      await firstBytes(socket);
      sockets.push(socket);
    }
    return sockets;
  };
  /** Whether a new connection from there is served. */
  const isServed = async (address: string): Promise<boolean> => {
    const socket = await dial(address);
    socket.end(HEALTH);
    return (await readUntilClose(socket)).includes("200 OK");
  };
  const refused = () => counted(metrics, "perpgate_http_connections_refused_total");
  const evicted = () => counted(metrics, "perpgate_http_connections_evicted_total");
  return { dial, keptAlive, isServed, refused, evicted };
}

test("every place is held by addresses that have signed in once: newcomers and traders are served", async () => {
  const { edge } = await sampleVenue();
  const { keptAlive, isServed, refused, evicted } = await hundredPlaces(edge);
  const [trader] = await keptAlive("127.0.1.9", 1);
  await keptAlive("127.0.1.3", 1);
  await keptAlive("127.0.1.1", 60);
  await keptAlive("127.0.1.2", 28);
  await keptAlive("127.0.1.3", 10);
  expect(await isServed("127.0.2.1")).toBe(true);
  expect(await isServed("127.0.1.9")).toBe(true);
  expect(trader?.destroyed).toBe(false);
  expect(await refused()).toEqual({ address: 0, full: 0 });
  expect((await evicted()).idle).toBeGreaterThan(0);
});

test("every place is held by addresses of few connections that have signed in: a trader gets the one that is idle longest", async () => {
  const { edge } = await sampleVenue();
  const { keptAlive, isServed, refused, evicted } = await hundredPlaces(edge);
  const addresses = [1, 2, 3, 4, 5, 6].map((i) => `127.0.1.${i}`);
  const first: Socket[] = [];
  for (const address of addresses) first.push(...(await keptAlive(address, 1)));
  await keptAlive("127.0.1.9", 1);
  for (const address of addresses) await keptAlive(address, address === "127.0.1.6" ? 8 : 15);
  await keptAlive("127.0.1.9", 10);
  expect(await isServed("127.0.1.9")).toBe(true);
  expect(first.map(({ destroyed }) => destroyed)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(await isServed("127.0.2.1")).toBe(false);
  expect(await isServed("127.0.1.9")).toBe(true);
  expect(await refused()).toEqual({ address: 0, full: 1 });
  expect(await evicted()).toEqual({ silent: 0, idle: 1, unread: 0 });
});

test("every place is held by bodies that do not end: newcomers are served, an order in flight stays", async () => {
  const order = await hesitantOrder();
  const { dial, isServed, refused, evicted } = await hundredPlaces(order.edge);
  const trader = await dial("127.0.1.200");
  trader.end(rawOrder(ORDER, { ...BEARER, connection: "close" }));
  await order.asked;
  for (let i = 1; i <= 89; i++) {
    const socket = await dial(`127.0.1.${i}`);
    socket.write(
      "POST /v1/auth/siwe HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n" +
        "expect: 100-continue\r\ncontent-length: 100\r\n\r\n{",
    );
    await firstBytes(socket);
  }
  for (let i = 1; i <= 3; i++) expect(await isServed(`127.0.2.${i}`)).toBe(true);
  order.finish();
  expect(await readUntilClose(trader)).toContain("200 OK");
  expect(await refused()).toEqual({ address: 0, full: 0 });
  expect((await evicted()).silent).toBeGreaterThan(0);
});

test("answers that are not read: the connection is closed, and it is counted", async () => {
  const metrics = new Registry();
  const { dial } = await runGateway({ metrics, limits: { unreadTimeoutMs: 100 } });
  const socket = await dial();
  socket.pause();
  socket.write("GET /v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(60));
  const evicted = () => counted(metrics, "perpgate_http_connections_evicted_total");
  await vi.waitUntil(async () => (await evicted()).unread === 1, POLL);
});

/** A venue whose order the test answers, and a promise that resolves when it is asked for. */
async function hesitantOrder() {
  let finish = () => {};
  let arrive = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const placeOrder = async () => {
    arrive();
    await finished;
    return { result: SAMPLE_ACK };
  };
  const { edge } = await sampleVenue({ placeOrder });
  return { edge, asked, finish: () => finish() };
}

/** A venue whose book the test answers, and a promise that resolves when it is read. */
async function hesitantVenue() {
  let finish = () => {};
  let arrive = () => {};
  let requests = 0;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const getBook = async () => {
    arrive();
    requests++;
    await finished;
    return { result: SAMPLE_BOOK };
  };
  const { edge } = await sampleVenue({ getBook });
  return { edge, asked, finish, requests: () => requests };
}

test("drain: a request in flight is answered, then the port is free", async () => {
  const { edge, asked, finish } = await hesitantVenue();
  const { gateway, url } = await runGateway({ edge });
  const answer = ask(`${url}/v1/markets/BTCUSD/book`);
  await asked;
  const drained = gateway.drain(10_000);
  finish();
  expect((await answer).status).toBe(200);
  await drained;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test.each([
  ["at the socket", "GET /v1/markets/BTCUSD/book HTTP/1.1\r\nhost: x\r\n\r\n"],
  ["by Node", "GET /v1/markets HTTP/1.1\r\nhost: x\r\norigin: http://page.test\r\n\r\n"],
])("drain: a request that has arrived unread is answered %s", async (_, request) => {
  const { gateway, dial } = await runGateway(await sampleVenue());
  const socket = await dial();
  let received = "";
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString();
  });
  // The connection is idle; the request is in the kernel's buffer when drain begins.
  socket.write(request);
  await expect.poll(() => received, POLL).toContain("HTTP/1.1 ");
  received = "";
  socket.write(request);
  await gateway.drain(10_000);
  await expect.poll(() => received, POLL).toMatch(/^HTTP\/1.1 (200|503)/);
});

test("drain: a request that has half arrived, unread, is refused once it is complete", async () => {
  const { gateway, dial } = await runGateway(await sampleVenue());
  const socket = await dial();
  const request = "GET /v1/markets/BTCUSD/book HTTP/1.1\r\nhost: x\r\n\r\n";
  socket.write(request);
  await once(socket, "data");
  socket.write(request.slice(0, 20));
  const drained = gateway.drain(60_000);
  for (let turns = 0; turns < 5; turns++) await setImmediate();
  socket.write(request.slice(20));
  expect(await readUntilClose(socket)).toMatch(/^HTTP\/1.1 503 [\s\S]*"code":"stopped"/);
  await drained;
});

test("drain: a request that is complete after drain began is refused with stopped", async () => {
  const { edge, asked, finish } = await hesitantVenue();
  const { gateway, dial, url } = await runGateway({ edge });
  const late = await dial();
  late.write("GET /healthz HTTP/1.1\r\nhost: x\r\n");
  const answer = ask(`${url}/v1/markets/BTCUSD/book`);
  await asked;
  const drained = gateway.drain(10_000);
  late.write("\r\n");
  expect(await readUntilClose(late)).toMatch(/^HTTP\/1.1 503 [\s\S]*"code":"stopped"/);
  finish();
  expect((await answer).status).toBe(200);
  await drained;
});

test("drain: a client that never finishes is cut when the grace period ends", async () => {
  const { gateway, dial } = await runGateway();
  const socket = await dial();
  socket.write("POST /v1/orders HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n");
  const closed = readUntilClose(socket);
  await gateway.drain(20);
  await closed;
});
