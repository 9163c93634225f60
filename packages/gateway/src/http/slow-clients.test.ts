import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { POLL } from "@perpgate/journal/testing";
import { expect, test } from "vitest";
import { ask, readUntilClose, runGateway } from "../testing/running-gateway.js";
import { sampleVenue } from "../testing/sample-venue.js";

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

test.each([
  ["by the lane", ""],
  ["by the framework", "origin: http://page.test\r\n"],
])("headers in two pieces, answered %s: elapsedMs counts from the first byte", async (_, extra) => {
  const { dial, url } = await runGateway({ venue: sampleVenue().venue });
  const socket = await dial();
  const body = JSON.stringify({
    symbol: "BTCUSD",
    side: "long",
    type: "market",
    margin: 5,
    leverage: 5,
    nonce: 1,
  });
  const answer = new Promise<string>((resolve) => {
    socket.on("data", (chunk: Buffer) => resolve(chunk.toString()));
  });
  socket.write(`POST /v1/orders HTTP/1.1\r\nhost: x\r\nauthorization: Bearer t\r\n${extra}`);
  // Time counts once the first piece is read, and what was sent before this is read before it.
  await ask(`${url}/healthz`);
  await setTimeout(200);
  socket.write(`content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  const elapsedMs = Number(/"elapsedMs":([0-9.]+)/.exec(await answer)?.[1]);
  expect(elapsedMs).toBeGreaterThan(150);
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

test("more connections than allowed: the newest is dropped, the others live", async () => {
  const { dial } = await runGateway({ limits: { maxConnections: 2 } });
  const first = await dial();
  await dial();
  const third = await dial();
  expect(await readUntilClose(third)).toBe("");
  first.end("GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  expect(await readUntilClose(first)).toContain("200 OK");
});

/** A venue whose book the test answers, and a promise that resolves when it is read. */
function hesitantVenue() {
  const { venue } = sampleVenue();
  let finish = () => {};
  let arrive = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const book = async (symbol: string, depth: number) => {
    arrive();
    await finished;
    return venue.publicReads.book(symbol, depth);
  };
  return { venue: { ...venue, publicReads: { ...venue.publicReads, book } }, asked, finish };
}

test("drain: a request in flight is answered, then the port is free", async () => {
  const { venue, asked, finish } = hesitantVenue();
  const { gateway, url } = await runGateway({ venue });
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
  const { gateway, dial } = await runGateway({ venue: sampleVenue().venue });
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
  const { gateway, dial } = await runGateway({ venue: sampleVenue().venue });
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
  const { venue, asked, finish } = hesitantVenue();
  const { gateway, dial, url } = await runGateway({ venue });
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
