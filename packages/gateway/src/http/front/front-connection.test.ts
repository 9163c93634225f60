/** A connection in the front, from its first byte to its end, and what a client may do to it. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { Registry } from "prom-client";
import { describe, expect, test, vi } from "vitest";
import { type GatewayChanges, runGateway } from "../../testing/running-gateway.js";
import { SAMPLE_ACK, sampleVenue } from "../../testing/sample-venue.js";
import { orderText, plainOrder } from "./testing/odd-requests.js";
import { headerOf, RawClient, rawGet, rawOrder } from "./testing/raw-http.js";

const BOOK = rawGet("/v1/markets/BTCUSD/book");
const WAIT = { timeout: 120_000, interval: 5 };

/** A gateway whose orders are answered when told, and which says what it has been asked. */
async function runHesitant(changes: GatewayChanges = {}) {
  const { venue, calls } = sampleVenue();
  const metrics = new Registry();
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let orders = 0;
  const placeOrder = async () => {
    orders++;
    await finished;
    return SAMPLE_ACK;
  };
  const gateway = await runGateway({ venue: { ...venue, placeOrder }, metrics, ...changes });
  const counted = async (name: string) => {
    const metric = await metrics.getSingleMetric(name)?.get();
    return metric?.values[0]?.value ?? 0;
  };
  const reads = () => calls.filter(([name]) => name === "book").length;
  return { ...gateway, finish: () => finish(), orders: () => orders, reads, counted };
}

const HANDED_OVER = "perpgate_http_connections_handed_over_total";

describe("one connection", () => {
  test("plain requests one after the other stay in the front", async () => {
    const { dial, finish, counted } = await runHesitant();
    finish();
    const client = await RawClient.open(dial);
    for (let i = 0; i < 3; i++) {
      expect((await client.ask(plainOrder())).status).toBe(200);
      expect((await client.ask(BOOK)).status).toBe(200);
    }
    expect(await counted(HANDED_OVER)).toBe(0);
  });

  test("a refused request: logged with its id and path, without its query", async () => {
    const { dial, logLines } = await runGateway({ venue: undefined });
    const client = await RawClient.open(dial);
    const id = { "x-request-id": "mine" };
    expect((await client.ask(rawOrder("{", id))).status).toBe(400);
    expect((await client.ask(rawGet("/v1/markets/BTCUSD/book?depth=1", id))).status).toBe(503);
    const lines = logLines.map((line) => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === "request")).toMatchObject([
      { requestId: "mine", method: "POST", path: "/v1/orders", status: 400 },
      { requestId: "mine", method: "GET", path: "/v1/markets/BTCUSD/book", status: 503 },
    ]);
  });

  test("another request after plain ones: Node answers it, and whatever follows", async () => {
    const { dial, finish, counted } = await runHesitant();
    finish();
    const client = await RawClient.open(dial);
    expect((await client.ask(plainOrder())).status).toBe(200);
    expect((await client.ask(rawGet("/healthz"))).status).toBe(200);
    expect((await client.ask(plainOrder())).status).toBe(200);
    expect(await counted(HANDED_OVER)).toBe(1);
  });

  test("another request right behind an order: not answered before the order is", async () => {
    const { dial, finish, orders, counted } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder() + rawGet("/healthz"));
    await vi.waitUntil(() => orders() === 1, WAIT);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(client.socket.bytesRead).toBe(0);
    finish();
    expect((await client.nextAnswer()).body).toContain('"ackNonce"');
    expect((await client.nextAnswer()).body).toContain('"version"');
    expect(await counted(HANDED_OVER)).toBe(1);
  });

  test("handed over while it waits: elapsedMs counts from the first byte all the same", async () => {
    const { dial, finish, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    const charset = "application/json; charset=utf-8";
    const second = rawOrder(orderText(), { authorization: "Bearer t" }, charset);
    client.socket.write(plainOrder() + second);
    await vi.waitUntil(() => orders() === 1, WAIT);
    await new Promise((later) => setTimeout(later, 200));
    finish();
    await client.nextAnswer();
    const { body } = await client.nextAnswer();
    expect(JSON.parse(body).elapsedMs).toBeGreaterThan(150);
  });

  test("a body in pieces: waited for in the front, and elapsedMs counts the wait", async () => {
    const { dial, finish, counted } = await runHesitant();
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
    expect(await counted(HANDED_OVER)).toBe(0);
  });

  test("a client that has said all it will: still gets its answer", async () => {
    const { dial, finish, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.end(plainOrder());
    await vi.waitUntil(() => orders() === 1, WAIT);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    finish();
    const answer = await client.nextAnswer();
    expect(answer.status).toBe(200);
    expect(headerOf(answer, "connection")).toBe("close");
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

  test("a client that ends while Node has its orders under way: all of them answered", async () => {
    const { dial, finish, orders, counted } = await runHesitant();
    const client = await RawClient.open(dial);
    const odd = () => rawOrder(orderText(), { authorization: "Bearer t", "x-odd": "1" });
    client.socket.end(odd() + odd() + plainOrder());
    await vi.waitUntil(() => orders() >= 1, WAIT);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    finish();
    const answers = [
      await client.nextAnswer(),
      await client.nextAnswer(),
      await client.nextAnswer(),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await client.closed()).toBe("");
    expect(orders()).toBe(3);
    expect(await counted(HANDED_OVER)).toBe(1);
  });

  test("a client that ends in the middle of a body: told so", async () => {
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

  test("a client that resets the connection in the middle of an order: counted, nobody hurt", async () => {
    const { dial, url, finish, orders, counted } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder());
    await vi.waitUntil(() => orders() === 1, WAIT);
    const idle = await RawClient.open(dial);
    await idle.ask(BOOK);
    client.socket.resetAndDestroy();
    idle.socket.resetAndDestroy();
    // Known to the server once it has read that far.
    await vi.waitUntil(() => client.isClosed && idle.isClosed, WAIT);
    await fetch(`${url}/healthz`);
    finish();
    await vi.waitUntil(
      async () => (await counted("perpgate_http_requests_aborted_total")) === 1,
      WAIT,
    );
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test("a client that does not read: not read from either, until it does", async () => {
    const { venue } = sampleVenue();
    const bids = Array.from({ length: 5_000 }, (_, i): [number, number] => [60_000 - i, 0.5]);
    let reads = 0;
    const book = async (symbol: string, depth: number) => {
      reads++;
      return { ...(await venue.book(symbol, depth)), bids };
    };
    const { dial } = await runGateway({ venue: { ...venue, book } });
    const client = await RawClient.open(dial);
    client.socket.pause();
    const count = 500;
    client.socket.write(BOOK.repeat(count));
    // As much as fits into the buffers of both ends, and then no more.
    let seen = -1;
    await vi.waitUntil(
      () => {
        const isStill = reads === seen && reads > 0;
        seen = reads;
        return isStill;
      },
      { ...WAIT, interval: 200 },
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

  test("nothing after an answer: closed without a word", async () => {
    const limits = { keepAliveTimeoutMs: 100, timeoutCheckIntervalMs: 20 };
    const { dial } = await runHesitant({ limits });
    const client = await RawClient.open(dial);
    expect(headerOf(await client.ask(BOOK), "keep-alive")).toBe("timeout=0");
    expect(await client.closed()).toBe("");
  });

  test("an order under way for longer than all of them: answered", async () => {
    // Long enough for the order to arrive on a busy machine.
    const limits = { ...IMPATIENT, headersTimeoutMs: 1_500, requestTimeoutMs: 1_500 };
    const { dial, finish, orders } = await runHesitant({ limits });
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder());
    await vi.waitUntil(() => orders() === 1, WAIT);
    await new Promise((later) => setTimeout(later, 1_700));
    finish();
    expect((await client.nextAnswer()).status).toBe(200);
  });

  test("an order under way for longer than a connection may be still: cut", async () => {
    const { dial } = await runHesitant({ limits: { idleTimeoutMs: 100 } });
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder());
    expect(await client.closed()).toBe("");
  });
});

describe("drain", () => {
  const LONG_MS = 60_000;

  test("idle connections, a thousand of them: closed at once", async () => {
    const { dial, gateway } = await runHesitant();
    const clients = await Promise.all(Array.from({ length: 1_000 }, () => RawClient.open(dial)));
    for (const { status } of await Promise.all(clients.map((client) => client.ask(BOOK)))) {
      expect(status).toBe(200);
    }
    await gateway.drain(LONG_MS);
    for (const client of clients) expect(await client.closed()).toBe("");
  });

  test("an order under way: answered as the last on its connection", async () => {
    const { dial, gateway, finish, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder() + plainOrder());
    await vi.waitUntil(() => orders() === 1, WAIT);
    const drained = gateway.drain(LONG_MS);
    finish();
    const answer = await client.nextAnswer();
    expect(answer.status).toBe(200);
    expect(headerOf(answer, "connection")).toBe("close");
    expect(await client.closed()).toBe("");
    await drained;
    expect(orders()).toBe(1);
  });

  test("an order whose body is not whole, and a connection without a request: refused as stopped", async () => {
    const { dial, gateway, finish, orders } = await runHesitant();
    const [busy, partial, silent] = [
      await RawClient.open(dial),
      await RawClient.open(dial),
      await RawClient.open(dial),
    ];
    const order = plainOrder();
    partial.socket.write(order.slice(0, -5));
    // The port stays open for as long as an order is under way.
    busy.socket.write(plainOrder());
    await vi.waitUntil(() => orders() === 1, WAIT);
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

  test("an order that is never answered: cut when the grace period ends", async () => {
    const { dial, gateway, orders } = await runHesitant();
    const client = await RawClient.open(dial);
    client.socket.write(plainOrder());
    await vi.waitUntil(() => orders() === 1, WAIT);
    await gateway.drain(20);
    expect(await client.closed()).toBe("");
  });
});
