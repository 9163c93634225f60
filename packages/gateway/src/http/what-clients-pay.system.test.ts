/** What clients pay in odd cases: answers that are not sent, requests that are not finished, closed sockets. */

import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { until } from "@perpgate/journal/testing";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { COST } from "../limits/costs.js";
import { UNLIMITED } from "../limits/limit-settings.js";
import { runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { StreamClient } from "../ws/testing/stream-client.js";
import { MAX_HEADERS } from "./refuse-directly.js";
import { RawClient, rawGet } from "./testing/raw-http.js";

const KIB = 1_024;

async function run(changes: Parameters<typeof runVenue>[0] = {}) {
  const metrics = new Registry();
  const at = await runVenue({ limits: UNLIMITED, ...changes, metrics });
  const counted = async (name: string): Promise<number> => {
    const metric = await metrics.getSingleMetric(name)?.get();
    return metric?.values[0]?.value ?? 0;
  };
  const paidMicros = async (): Promise<number> =>
    1e6 * (await counted("perpgate_cost_seconds_total"));
  return { ...at, counted, paidMicros };
}

describe("a request", () => {
  test("HEAD: pays for the answer that it does not get, like GET", async () => {
    const at = await run();
    const costOfTen = async (method: string): Promise<number> => {
      const before = await at.paidMicros();
      for (let i = 0; i < 10; i++) {
        const response = await fetch(`${at.url}/v1/openapi.json`, { method });
        expect(response.status).toBe(200);
        await response.arrayBuffer();
      }
      return (await at.paidMicros()) - before;
    };
    const paidForGets = await costOfTen("GET");
    expect(await costOfTen("HEAD")).toBeGreaterThan(0.8 * paidForGets);
  });

  test("a chunked body that its client breaks off: pays as much as one that ends", async () => {
    const at = await run();
    const client = await RawClient.open(at.dial);
    const before = await at.paidMicros();
    const chunks = "1\r\n \r\n".repeat(10_000);
    client.socket.write(
      `POST /v1/auth/siwe HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`,
    );
    await until(() => client.socket.writableLength === 0);
    await sleep(100);
    client.socket.destroy();
    await until(async () => (await at.paidMicros()) - before > (340 / 2) * (chunks.length / KIB));
  });

  test("behind an answer that closes the connection: not served", async () => {
    const at = await run();
    const client = await RawClient.open(at.dial);
    const many = Object.fromEntries(
      Array.from({ length: MAX_HEADERS + 10 }, (_, i) => [`x-${i}`, "1"]),
    );
    const before = await at.counted("perpgate_parsed_bytes_total");
    const body = '{"address":"0x"}';
    client.socket.write(
      `${rawGet("/healthz", many)}POST /v1/auth/siwe HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    expect((await client.nextAnswer()).status).toBe(431);
    expect(await client.closed()).toBe("");
    expect(await at.counted("perpgate_parsed_bytes_total")).toBe(before);
  });

  test("whose client leaves while its position is awaited: no failure in the log", async () => {
    const at = await run();
    const client = await RawClient.open(at.dial);
    client.socket.write(rawGet("/v1/markets", { "perpgate-min-position": "9999999999999999" }));
    await sleep(200);
    client.socket.destroy();
    await sleep(1_200);
    expect(at.logLines.filter((line) => line.includes("unexpected failure"))).toEqual([]);
  });
});

const HANDSHAKE =
  "GET /ws/v1 HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n" +
  "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const MASK = [0, 0, 0, 0];

describe("a socket", () => {
  test("that authenticates again, and a message of 60 KB: pay for what they cost", async () => {
    const at = await run();
    const trader = await Trader.enter(at);
    const client = await StreamClient.connect(at.url);
    const costOf = async (text: string): Promise<number> => {
      const before = await at.paidMicros();
      client.socket.send(text);
      await client.take(() => true);
      return (await at.paidMicros()) - before;
    };
    const auth = JSON.stringify({ op: "auth", token: trader.token });
    await costOf(auth);
    const ping = await costOf('{"op":"ping"}');
    expect((await costOf(auth)) - ping).toBeGreaterThan(10);
    expect(await costOf(`{"op":"ping"}${" ".repeat(60_000)}`)).toBeGreaterThan(550);
  });

  test("an order of 4 KB: pays for each signed KiB beyond the bytes that are read", async () => {
    const at = await run();
    const trader = await Trader.enter(at);
    const costOf = async (padTo: number): Promise<number> => {
      const text = JSON.stringify(trader.order()).padEnd(padTo, " ");
      const before = await at.paidMicros();
      expect((await trader.placeText(text)).status).toBe(200);
      return (await at.paidMicros()) - before;
    };
    await costOf(0);
    const plain = await costOf(0);
    expect((await costOf(4_000)) - plain).toBeGreaterThan(3.5 * (45 + 10));
  });

  test("that changes its session or its options: pays for the commands", async () => {
    const at = await run();
    const traders = [await Trader.enter(at), await Trader.enter(at)];
    const client = await StreamClient.connect(at.url);
    const costOfTen = async (messageOf: (i: number) => object): Promise<number> => {
      const before = await at.paidMicros();
      for (let i = 0; i < 10; i++) expect((await client.ask(messageOf(i))).t).not.toBe("error");
      return (await at.paidMicros()) - before;
    };
    const token = (i: number) => traders[i % 2]!.token;
    const streams = ["blocks"];
    const ping = await costOfTen(() => ({ op: "ping" }));
    const auth = await costOfTen((i) => ({ op: "auth", token: token(i) }));
    const subscribe = await costOfTen((i) => ({ op: "subscribe", streams, token: token(i) }));
    const session = await costOfTen((i) => ({ op: "session", cancelOnDisconnect: i % 2 === 0 }));
    expect(auth - ping).toBeGreaterThan(10 * 2 * COST.sessionCommand);
    const others = 10 * COST.subscription;
    expect(subscribe - ping - others).toBeGreaterThan(10 * 2 * COST.sessionCommand);
    expect(session - ping).toBeGreaterThan(10 * COST.sessionCommand);
  });

  test("that has sent much and closes: pays nothing more", async () => {
    const at = await run();
    const client = await StreamClient.connect(at.url);
    for (let i = 0; i < 20; i++) {
      client.socket.send(`{"op":"ping"}${" ".repeat(60_000)}`);
      await client.next("pong");
    }
    const before = await at.paidMicros();
    await client.close();
    await until(() => at.streams.size === 0);
    expect((await at.paidMicros()) - before).toBeLessThan(1_000);
  });

  test.each([
    ["alone", 0],
    ["between pongs", 1],
  ])(
    "that sends fragments without a payload and without end, %s: closed, and pays for them",
    async (_, pongs) => {
      const at = await run();
      const client = await RawClient.open(at.dial);
      client.socket.write(HANDSHAKE);
      await until(() => client.socket.bytesRead > 0);
      const before = await at.paidMicros();
      const empty = Buffer.from([0x00, 0x80, ...MASK]);
      client.socket.write(Buffer.from([0x01, 0x80, ...MASK]));
      const pong = Buffer.from([0x8a, 0x80, ...MASK]);
      const hundred = [...Array.from({ length: 100 }, () => empty), ...Array(pongs).fill(pong)];
      client.socket.write(Buffer.concat(Array.from({ length: 200 }, () => hundred).flat()));
      await client.closed();
      expect((await at.paidMicros()) - before).toBeGreaterThan(10_000);
    },
  );
});

test("connections that are closed without a byte: nobody waits for reads that did not happen", async () => {
  const at = await run({ limits: { costMsPerSecond: 0.001, costBurstMs: 30 } });
  for (let round = 0; round < 4; round++) {
    const clients = await Promise.all(Array.from({ length: 6 }, () => RawClient.open(at.dial)));
    for (const { socket } of clients) socket.end();
    await Promise.all(clients.map((each) => each.closed()));
  }
  const client = await RawClient.open(at.dial);
  expect((await client.ask(rawGet("/healthz"))).status).toBe(200);
  expect(await at.counted("perpgate_cost_held_total")).toBe(0);
});

test("64 KiB of requests on each of 30 connections in one moment: read in many turns of the event loop", async () => {
  // A tenth of the burst, 10 ms, may be used in one turn.
  const limits = { ...UNLIMITED, costBurstMs: 100 };
  const at = await run({ limits, http: { connectionsPerAddress: 100 } });
  const clients = await Promise.all(Array.from({ length: 30 }, () => RawClient.open(at.dial)));
  for (const client of clients) await client.ask(rawGet("/healthz"));
  const request = rawGet("/healthz");
  const read = request.repeat(Math.floor((64 * KIB) / request.length));
  let last = await at.paidMicros();
  let most = 0;
  for (const { socket } of clients) socket.write(read);
  let isOpen = true;
  void Promise.all(clients.map((client) => client.closed())).then(() => {
    isOpen = false;
  });
  while (isOpen) {
    await nextTurn();
    const paid = await at.paidMicros();
    most = Math.max(most, paid - last);
    last = paid;
  }
  // What one more read may cost, and an answer on each connection.
  expect(most).toBeLessThan(10_000 + 15_000 + 30 * 200);
});

test("9,000 messages on each of 16 sockets in one moment: few of each read are parsed, in many turns of the event loop", async () => {
  // Those that are not closed for their messages are closed for their silence.
  const sockets = { pingIntervalMs: 500 };
  const limits = { ...UNLIMITED, costMsPerSecond: 100, costBurstMs: 100 };
  const at = await run({ limits, sockets });
  const clients = await Promise.all(Array.from({ length: 16 }, () => RawClient.open(at.dial)));
  for (const { socket } of clients) socket.write(HANDSHAKE);
  await until(() => at.streams.size === clients.length);
  const message = Buffer.from([0x81, 0x81, ...MASK, 0x31]);
  const read = Buffer.concat(Array.from({ length: 9_000 }, () => message));
  const received = (): Promise<number> => at.counted("perpgate_socket_frames_received_total");
  const before = await received();
  let last = before;
  let most = 0;
  for (const { socket } of clients) socket.write(read);
  while (at.streams.size > 0) {
    await nextTurn();
    const now = await received();
    most = Math.max(most, now - last);
    last = now;
  }
  // A tenth of the burst pays for 2,500 frames after a close, which cost least; a piece of a read has 585.
  expect(most).toBeLessThan(2_500 + 2 * 585);
  // The burst is some 6,000 messages; after it each socket is closed in its first piece.
  expect(last - before).toBeLessThan(6_000 + 16 * 600);
});
