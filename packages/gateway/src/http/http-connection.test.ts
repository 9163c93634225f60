/** One HTTP connection, from its first byte to its close. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { until } from "@perpgate/journal/testing";
import { Registry } from "prom-client";
import { describe, expect, onTestFinished, test } from "vitest";
import { COST } from "../limits/costs.js";
import { BEARER, type GatewayChanges, runGateway } from "../testing/running-gateway.js";
import { SAMPLE_ACK, BOOK as SAMPLE_BOOK } from "../testing/sample-values.js";
import { sampleVenue } from "../testing/sample-venue.js";
import { headerOf, RawClient, rawGet, rawOrder } from "./testing/raw-http.js";

/** The sample venue does not compare nonces. */
function plainOrder(): string {
  const body = { symbol: "BTCUSD", side: "long", type: "market", margin: 5, leverage: 5, nonce: 1 };
  return rawOrder(JSON.stringify(body), BEARER);
}

/** The headers of an order whose body follows in chunks. */
const IN_CHUNKS = rawOrder("", { ...BEARER, "transfer-encoding": "chunked" }).replace(
  "content-length: 0\r\n",
  "",
);
const BOOK = rawGet("/v1/markets/BTCUSD/book");

/** A gateway whose orders the test answers, and the calls that it has received. */
async function runHesitant(changes: GatewayChanges = {}) {
  const metrics = new Registry();
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let orders = 0;
  const placeOrder = async () => {
    orders++;
    await finished;
    return { result: SAMPLE_ACK };
  };
  const { edge, calls } = await sampleVenue({ placeOrder });
  const gateway = await runGateway({ edge, metrics, ...changes });
  const counted = async (name: string) => {
    const metric = await metrics.getSingleMetric(name)?.get();
    return metric?.values[0]?.value ?? 0;
  };
  const reads = () => calls.filter(([name]) => name === "getBook").length;
  return { ...gateway, finish: () => finish(), orders: () => orders, reads, counted };
}

describe("one connection", () => {
  test("a refused request: logged with its id and path, without its query", async () => {
    const { dial, logLines } = await runGateway({});
    const client = await RawClient.open(dial);
    const id = { "x-request-id": "mine" };
    expect((await client.ask(rawOrder("{", { ...id, ...BEARER }))).status).toBe(400);
    expect((await client.ask(rawGet("/v1/markets/BTCUSD/book?depth=1", id))).status).toBe(503);
    const lines = logLines.map((line) => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === "request")).toMatchObject([
      { requestId: "mine", method: "POST", path: "/v1/orders", status: 400 },
      { requestId: "mine", method: "GET", path: "/v1/markets/BTCUSD/book", status: 503 },
    ]);
  });

  test("requests of several tokens, or none: each is judged by its own header", async () => {
    const { dial, finish } = await runHesitant();
    finish();
    const client = await RawClient.open(dial);
    const { authorization } = BEARER;
    const statuses: number[] = [];
    for (const header of [authorization, undefined, `${authorization}7`, "", authorization]) {
      const headers = header === undefined ? {} : { authorization: header };
      const body = { symbol: "BTCUSD", side: "long", type: "market", margin: 5, leverage: 5 };
      const order = rawOrder(JSON.stringify({ ...body, nonce: 1 }), headers);
      statuses.push((await client.ask(order)).status);
    }
    expect(statuses).toEqual([200, 401, 401, 401, 200]);
  });

  test("another request right behind an order: not answered before the order is", async () => {
    const { dial, finish, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder() + rawGet("/healthz"));
    await until(() => orders() === 1);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(client.socket.bytesRead).toBe(0);
    finish();
    expect((await client.nextAnswer()).body).toContain('"ackNonce"');
    expect((await client.nextAnswer()).body).toContain('"version"');
  });

  test.each([
    ["bytes that are not a request", "\0\r\n\r\n"],
    ["the beginning of a request with a malformed body", `${IN_CHUNKS}x\r\n`],
  ])("%s right behind two orders: these are answered, and no more", async (_, bytes) => {
    const { dial, finish, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder() + plainOrder() + bytes);
    await until(() => orders() === 1 || client.socket.bytesRead > 0);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(client.socket.bytesRead).toBe(0);
    finish();
    for (let i = 0; i < 2; i++) expect((await client.nextAnswer()).body).toContain('"ackNonce"');
    expect(await client.closed()).toBe("");
    expect(orders()).toBe(2);
  });

  test("a malformed body: refused", async () => {
    const { dial, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    const answer = await client.ask(`${IN_CHUNKS}x\r\n`);
    expect(answer).toMatchObject({
      status: 400,
      body: expect.stringContaining("malformed_request"),
    });
    await client.closed();
    expect(orders()).toBe(0);
  });

  test("a body in pieces: elapsedMs counts the wait for it", async () => {
    const { dial, finish } = await runHesitant();
    finish();
    const client = await RawClient.open(dial);
    const order = plainOrder();
    client.socket.write(order.slice(0, -40));
    // Time counts once the first piece is read, and what was sent before this is read before it.
    await (await RawClient.open(dial)).ask(BOOK);
    await new Promise((later) => setTimeout(later, 200));
    client.socket.write(order.slice(-40, -20));
    await nextTurn();
    const { body } = await client.ask(order.slice(-20));
    expect(JSON.parse(body).elapsedMs).toBeGreaterThan(150);
  });

  test("a client that ends its side after a request: still gets its answer", async () => {
    const { dial, finish, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.end(plainOrder());
    await until(() => orders() === 1);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    finish();
    const answer = await client.nextAnswer();
    expect(answer.status).toBe(200);
    expect(await client.closed()).toBe("");
  });

  test("a client that ends with several requests: all of them answered", async () => {
    const { dial, finish } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.end(plainOrder() + BOOK + rawGet("/healthz"));
    finish();
    expect((await client.nextAnswer()).body).toContain('"ackNonce"');
    expect((await client.nextAnswer()).body).toContain('"bids"');
    expect((await client.nextAnswer()).body).toContain('"version"');
    expect(await client.closed()).toBe("");
  });

  test("a client that ends while several orders wait: all of them answered", async () => {
    const { dial, finish, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.end(plainOrder() + plainOrder() + plainOrder());
    await until(() => orders() === 1);
    finish();
    for (let i = 0; i < 3; i++) expect((await client.nextAnswer()).status).toBe(200);
    expect(await client.closed()).toBe("");
    expect(orders()).toBe(3);
  });

  test("more pipelined requests than may wait: those that may are answered, then closed", async () => {
    const { dial, finish, orders } = await runHesitant({ limits: { pipelinedRequests: 5 } });
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder().repeat(50));
    await until(() => orders() === 1);
    finish();
    // The one that was served, and the five that waited.
    for (let i = 0; i < 6; i++) expect((await client.nextAnswer()).status).toBe(200);
    expect(await client.closed()).toBe("");
    expect(orders()).toBe(6);
  });

  test("a reset with hundreds of requests unanswered: Node's errors for them have no stack traces", async () => {
    const { dial, orders, finish } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder() + rawGet("/healthz").repeat(500));
    await until(() => orders() === 1);
    const { stackTraceLimit, prepareStackTrace } = Error;
    onTestFinished(() => {
      Error.prepareStackTrace = prepareStackTrace;
    });
    const frames: number[] = [];
    Error.prepareStackTrace = (error, trace) => {
      if (error.message === "aborted") frames.push(trace.length);
      return String(error);
    };
    client.socket.resetAndDestroy();
    // The socket is paused; the server notices the reset when it answers.
    finish();
    await until(() => frames.length >= 300);
    expect(new Set(frames)).toEqual(new Set([0]));
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });

  test("a body far above the limit: refused, and not read to its end", async () => {
    const { dial } = await runGateway(await sampleVenue());
    const client = await RawClient.open(dial);
    const head = rawGet("/v1/orders").replace("GET", "POST").replace("\r\n\r\n", "\r\n");
    client.socket.write(
      `${head}content-type: application/json\r\ncontent-length: 1000000000\r\n\r\n`,
    );
    expect((await client.nextAnswer()).status).toBe(413);
    await client.closed();
  });

  test("a client that ends in the middle of a body: refused", async () => {
    const { dial, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.end(plainOrder().slice(0, -1));
    const answer = await client.nextAnswer();
    expect(answer).toMatchObject({
      status: 400,
      body: expect.stringContaining("malformed_request"),
    });
    await client.closed();
    expect(orders()).toBe(0);
  });

  test("a client that resets the connection in the middle of an order: counted, and the server goes on", async () => {
    const { dial, url, finish, orders, counted } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder());
    await until(() => orders() === 1);
    const idle = await RawClient.open(dial);
    await idle.ask(BOOK);
    client.socket.resetAndDestroy();
    idle.socket.resetAndDestroy();
    // Known to the server once it has read that far.
    await until(() => client.isClosed && idle.isClosed);
    await fetch(`${url}/healthz`);
    finish();
    await until(async () => (await counted("perpgate_http_requests_aborted_total")) === 1);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test("a client that does not read its responses: further requests are not served until it does", async () => {
    const bids = Array.from({ length: 5_000 }, (_, i): [number, number] => [60_000 - i, 0.5]);
    let reads = 0;
    const getBook = () => {
      reads++;
      return { result: { ...SAMPLE_BOOK, bids } };
    };
    const { edge } = await sampleVenue({ getBook });
    const { dial } = await runGateway({
      edge,
      limits: { pipelinedRequests: 500 },
    });
    const client = await RawClient.open(dial);
    client.socket.pause();
    const count = 500;
    client.socket.write(BOOK.repeat(count));
    // As much as fits into the buffers of both ends, and then no more.
    let seen = -1;
    await until(
      () => {
        const isStill = reads === seen && reads > 0;
        seen = reads;
        return isStill;
      },
      { everyMs: 200 },
    );
    expect(reads).toBeLessThan(count);
    client.socket.resume();
    for (let i = 0; i < count; i++) expect((await client.nextAnswer()).status).toBe(200);
    expect(reads).toBe(count);
  });
});

describe("time-outs", () => {
  const IMPATIENT = {
    headersTimeoutMs: 100,
    requestTimeoutMs: 150,
    keepAliveTimeoutMs: 100,
    timeoutCheckIntervalMs: 20,
  };

  test("a connection that says nothing: 408, then closed", async () => {
    const { dial } = await runGateway({ limits: IMPATIENT });
    const client = await RawClient.open(dial);
    expect((await client.nextAnswer()).status).toBe(408);
    await client.closed();
  });

  test("a body that never comes: 408, then closed", async () => {
    const { dial, orders } = await runHesitant({ limits: IMPATIENT });
    const client = await RawClient.open(dial);
    expect((await client.ask(plainOrder().slice(0, -1))).status).toBe(408);
    await client.closed();
    expect(orders()).toBe(0);
  });

  test("nothing after an answer: closed without an answer", async () => {
    const limits = { keepAliveTimeoutMs: 100, timeoutCheckIntervalMs: 20 };
    const { dial } = await runHesitant({ limits });
    const client = await RawClient.open(dial);
    expect((await client.ask(BOOK)).status).toBe(200);
    expect(await client.closed()).toBe("");
  });

  test("an order in flight for longer than all of them: answered", async () => {
    // Long enough for the order to arrive on a busy machine.
    const limits = { ...IMPATIENT, headersTimeoutMs: 1_500, requestTimeoutMs: 1_500 };
    const { dial, finish, orders } = await runHesitant({ limits });
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder());
    await until(() => orders() === 1);
    await new Promise((later) => setTimeout(later, 1_700));
    finish();
    expect((await client.nextAnswer()).status).toBe(200);
  });

  test("an order in flight for longer than the idle time-out: the connection is destroyed", async () => {
    const { dial } = await runHesitant({ limits: { idleTimeoutMs: 100 } });
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder());
    expect(await client.closed()).toBe("");
  });
});

describe("drain", () => {
  const LONG_MS = 60_000;

  test("a thousand idle connections: closed immediately", async () => {
    const { dial, gateway } = await runHesitant();
    const clients = await Promise.all(Array.from({ length: 1_000 }, () => RawClient.open(dial)));
    for (const { status } of await Promise.all(clients.map((client) => client.ask(BOOK)))) {
      expect(status).toBe(200);
    }
    await gateway.drain(LONG_MS);
    for (const client of clients) expect(await client.closed()).toBe("");
  });

  test("an order in flight: answered as the last on its connection", async () => {
    const { dial, gateway, finish, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder() + plainOrder());
    await until(() => orders() === 1);
    const drained = gateway.drain(LONG_MS);
    finish();
    const answer = await client.nextAnswer();
    expect(answer.status).toBe(200);
    expect(headerOf(answer, "connection")).toBe("close");
    expect(await client.closed()).toBe("");
    await drained;
    expect(orders()).toBe(1);
  });

  test("an order whose body is incomplete, and a connection without a request: refused with stopped", async () => {
    const { dial, gateway, finish, orders } = await runHesitant();
    const [busy, partial, silent] = [
      await RawClient.open(dial),
      await RawClient.open(dial),
      await RawClient.open(dial),
    ];
    const order = plainOrder();
    partial.socket.write(order.slice(0, -5));
    // The port stays open for as long as an order is in flight.
    busy.socket.write(plainOrder());
    await until(() => orders() === 1);
    const drained = gateway.drain(LONG_MS);
    for (const answer of [await partial.ask(order.slice(-5)), await silent.ask(plainOrder())]) {
      expect(answer).toMatchObject({ status: 503, body: expect.stringContaining('"stopped"') });
      expect(headerOf(answer, "connection")).toBe("close");
    }
    finish();
    expect((await busy.nextAnswer()).status).toBe(200);
    await drained;
    expect(orders()).toBe(1);
  });

  test("an order that is never answered: the connection is destroyed when the grace period ends", async () => {
    const { dial, gateway, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder());
    await until(() => orders() === 1);
    await gateway.drain(20);
    expect(await client.closed()).toBe("");
  });
});

test("requests that wait: the socket is not read until they are served", async () => {
  const { dial, orders, counted } = await runHesitant();
  const client = await RawClient.open(dial);
  client.socket.write(plainOrder());
  await until(() => orders() === 1);
  // Far more than the buffers of both ends hold; each request that is read is charged.
  const flood = Buffer.from(plainOrder().repeat(200));
  let sent = 0;
  await new Promise<void>((resolve) => {
    const pump = (): void => {
      for (; sent < 32 * 1_048_576; sent += flood.length) {
        if (!client.socket.write(flood)) {
          sent += flood.length;
          client.socket.once("drain", pump);
          // No drain: what is in flight is not read.
          setTimeout(resolve, 500);
          return;
        }
      }
      resolve();
    };
    pump();
  });
  const inOneRead = Math.ceil(65_536 / plainOrder().length);
  const chargedMicros = 1e6 * (await counted("perpgate_cost_seconds_total"));
  expect(chargedMicros).toBeLessThan(2 * inOneRead * COST.droppedRequest + 5_000);
});
