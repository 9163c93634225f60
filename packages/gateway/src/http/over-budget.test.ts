/**
 * Clients over their cost budget, over real sockets. Budgets refill by a clock that stands still: a debt
 * lasts until a test repays it.
 */

import { connect } from "node:net";
import { until } from "@perpgate/journal/testing";
import { Registry } from "prom-client";
import { describe, expect, onTestFinished, test } from "vitest";
import { COST } from "../limits/costs.js";
import { UNLIMITED } from "../limits/limit-settings.js";
import { runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { StreamClient } from "../ws/testing/stream-client.js";
import { RawClient, rawGet, rawOrder, rawPost } from "./testing/raw-http.js";

/**
 * Enough to sign two traders in, even at twice the price, which a busy event loop costs. What waits is
 * looked at whenever its debt would be repaid by the real clock, which a high rate makes soon.
 */
const POOR = { costMsPerSecond: 1_000, costBurstMs: 12 };
/** Costs more than is left. */
const EXPENSIVE = 800;
/** Repays every debt. */
const REPAID_MS = 2_000;

async function runPoor(changes: Parameters<typeof runVenue>[0] = {}) {
  const metrics = new Registry();
  let nowMs = 0;
  const at = await runVenue({
    ...changes,
    server: { ...changes.server, monotonic: () => nowMs },
    limits: { ...POOR, ...changes.limits },
    metrics,
  });
  const repay = (): void => {
    nowMs += REPAID_MS;
  };
  const counted = async (name: string): Promise<number> => {
    const metric = await metrics.getSingleMetric(name)?.get();
    return metric?.values[0]?.value ?? 0;
  };
  /** A connection from another address of this machine. */
  const dialFrom = async (localAddress: string) => {
    const { hostname, port } = new URL(at.url);
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    socket.on("error", () => socket.destroy());
    onTestFinished(() => {
      socket.destroy();
    });
    await new Promise((resolve) => socket.once("connect", resolve));
    return socket;
  };
  return { ...at, counted, dialFrom, repay };
}

type Poor = Awaited<ReturnType<typeof runPoor>>;

/** Uses up what this address has: until the first request that has to wait. */
async function spend({ dial, counted }: Pick<Poor, "dial" | "counted">): Promise<void> {
  const client = await RawClient.open(dial);
  for (let i = 0; i < EXPENSIVE; i++) {
    client.socket.write(rawGet("/healthz"));
    let isAnswered = false;
    const answer = client.nextAnswer().then(() => {
      isAnswered = true;
    });
    const isHeld = async () => (await counted("perpgate_cost_held_total")) > 0;
    const isOver = async () => isAnswered || (await isHeld());
    // Most are answered long before the next look.
    await Promise.race([answer, until(isOver)]);
    if (await isHeld()) {
      client.socket.destroy();
      await answer.catch(() => undefined);
      return;
    }
  }
  throw new Error("the budget is not used up");
}

/** Connections that were read while the address had a budget: new ones are not read in debt. */
async function openConnections({ dial }: Pick<Poor, "dial">, count: number): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  for (let i = 0; i < count; i++) {
    const client = await RawClient.open(dial);
    expect((await client.ask(rawGet("/healthz"))).status).toBe(200);
    clients.push(client);
  }
  return clients;
}

function signedPost(trader: Trader, path: string, body?: object): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  return rawPost(path, text, { ...trader.bearer(), ...trader.signatureOf(text) });
}

/** The same request with its body as one chunk. */
function inChunks(request: string): string {
  const [head = "", body = ""] = request.split("\r\n\r\n");
  const headers = head.replace(/content-length: \d+/, "transfer-encoding: chunked");
  return `${headers}\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
}

const OPENINGS = 3;

/** What sends the orders of a trader, each on a connection of its own, and what was answered. */
async function openByRequests(at: Poor, trader: Trader) {
  const clients = await openConnections(at, OPENINGS);
  const answers: unknown[] = [];
  const send = (order: object): void => {
    const client = clients.pop()!;
    client.socket.write(signedPost(trader, "/v1/orders", order));
    client.nextAnswer().then(
      (answer) => answers.push(answer),
      () => undefined,
    );
  };
  return { send, answers };
}

/** The same, on one socket. */
async function openByMessages({ url }: Poor, trader: Trader) {
  const client = await StreamClient.connect(url, trader.token);
  const send = (order: object): void => {
    const body = JSON.stringify(order);
    client.send({ op: "order", body, sig: trader.signatureOf(body)["x-service-sig"] });
  };
  return { send, answers: client.frames };
}

describe("an address over its budget", () => {
  test("its request waits and is answered once the debt is repaid; another address does not wait", async () => {
    const at = await runPoor();
    await spend(at);
    const held = await at.counted("perpgate_cost_held_total");
    const waiting = await RawClient.open(at.dial);
    waiting.socket.write(rawGet("/healthz"));
    await until(async () => (await at.counted("perpgate_cost_held_total")) > held);
    const other = await RawClient.open(() => at.dialFrom("127.0.0.2"));
    expect((await other.ask(rawGet("/healthz"))).status).toBe(200);
    expect(waiting.socket.bytesRead).toBe(0);
    at.repay();
    expect((await waiting.nextAnswer()).status).toBe(200);
  });

  test("more requests than may wait: refused as rate_limited, and closed", async () => {
    const at = await runPoor();
    const clients = await Promise.all(Array.from({ length: 80 }, () => RawClient.open(at.dial)));
    await spend(at);
    // One connection is accepted in a turn of the event loop: most are parked before the first is read.
    await until(async () => (await at.counted("perpgate_cost_waiting")) >= 64);
    for (const { socket } of clients) socket.write(rawGet("/healthz"));
    const refused = await Promise.any(
      clients.map(async (client) => {
        const answer = await client.nextAnswer();
        if (answer.status !== 429) throw new Error("not this one");
        await client.closed();
        return answer;
      }),
    );
    expect(JSON.parse(refused.body)).toMatchObject({
      code: "rate_limited",
      details: { limit: "cost" },
    });
  });

  test("a connection that ends before it is read: closed, not kept", async () => {
    const at = await runPoor();
    await spend(at);
    const client = await RawClient.open(at.dial);
    client.socket.end();
    expect(await client.closed()).toBe("");
  });

  test("its trader: cancels and reductions run immediately, other orders wait", async () => {
    const at = await runPoor({ limits: { costBurstMs: 40 } });
    const [trader, maker] = [await Trader.enter(at), await Trader.enter(at)];
    await maker.place(maker.limit("short", 65_000, { margin: 500, leverage: 10 }));
    await maker.place(maker.limit("long", 64_900, { margin: 500, leverage: 10 }));
    await trader.place(trader.order({ margin: 100 }));
    const resting = await trader.place(trader.limit("long", 60_000));
    const other = await trader.place(trader.limit("long", 60_000));
    await trader.place({ ...trader.limit("long", 60_000), clientOrderId: "mine" });
    const connections = await openConnections(at, 6);
    await spend(at);
    const finished: string[] = [];
    const send = async (name: string, path: string, body?: object) => {
      const { status } = await connections.pop()!.ask(signedPost(trader, path, body));
      finished.push(`${name} ${status}`);
    };
    const opening = send("opening", "/v1/orders", trader.limit("long", 60_000));
    const { nonce } = trader.order();
    const operations = [{ op: "cancel", orderId: other.body.orderId }];
    const { margin: _, leverage: __, ...stop } = trader.order({ side: "short", type: "stop" });
    await Promise.all([
      send("cancel", `/v1/orders/${resting.body.orderId}/cancel`),
      send("cancel by name", "/v1/orders/cancel", { clientOrderId: "mine" }),
      send("batch", "/v1/orders/batch", { nonce, operations }),
      send("closePosition", "/v1/orders", { ...stop, price: 60_000, closePosition: true }),
      send(
        "reduction",
        "/v1/orders",
        trader.order({ side: "short", margin: 10, reduceOnly: true }),
      ),
    ]);
    const exits = ["batch 200", "cancel 200", "cancel by name 200", "closePosition 200"];
    expect(finished.sort()).toEqual([...exits, "reduction 200"]);
    at.repay();
    await opening;
    expect(finished.at(-1)).toBe("opening 200");
    expect(await trader.list("/v1/positions")).toMatchObject([{ size: 0.00692 }]);
  });

  test.each([
    ["requests", openByRequests],
    ["messages", openByMessages],
  ])(
    "opening orders of one trader leave the reserve to another's cancel and reduction: %s",
    async (_, open) => {
      const at = await runPoor({ limits: { costBurstMs: 40, reserveBurstMs: 0.5 } });
      const [opener, trader] = [await Trader.enter(at), await Trader.enter(at)];
      const resting = await trader.place(trader.limit("long", 60_000));
      const client = await StreamClient.connect(at.url, trader.token);
      const { send, answers } = await open(at, opener);
      await spend(at);
      const held = await at.counted("perpgate_cost_held_total");
      for (let i = 0; i < OPENINGS; i++) send(opener.limit("long", 60_000));
      const isHeld = async () => (await at.counted("perpgate_cost_held_total")) >= held + 2;
      await until(isHeld);
      const canceled = await client.ask({ op: "cancel", orderId: resting.body.orderId });
      const body = JSON.stringify(trader.order({ reduceOnly: true }));
      const sig = trader.signatureOf(body)["x-service-sig"];
      const reduced = await client.ask({ op: "order", body, sig });
      expect([canceled.t, answers]).toEqual(["ok", []]);
      // Refused by the engine: the account has no position.
      expect(reduced.d.code).toBe("reduce_only_without_position");
    },
  );

  test("batches of one trader, read after all were admitted: leave the reserve to another's cancel", async () => {
    const at = await runPoor({ limits: { costBurstMs: 40, reserveBurstMs: 2 } });
    const [other, trader] = [await Trader.enter(at), await Trader.enter(at)];
    const resting = await trader.place(trader.limit("long", 60_000));
    const client = await StreamClient.connect(at.url, trader.token);
    const clients = await openConnections(at, 3);
    await spend(at);
    const held = await at.counted("perpgate_cost_held_total");
    const charged = await at.counted("perpgate_cost_seconds_total");
    const operations = Array.from({ length: 11 }, () => ({ op: "cancel", orderId: "1" }));
    const batches = clients.map((connection) => {
      const { nonce } = other.order();
      const request = signedPost(other, "/v1/orders/batch", { nonce, operations });
      return { connection, request, bodyAt: request.indexOf("\r\n\r\n") + 4 };
    });
    for (const { connection, request, bodyAt } of batches)
      connection.socket.write(request.slice(0, bodyAt));
    const admitted = charged + (batches.length * COST.request) / 1e6;
    const areAdmitted = async () => (await at.counted("perpgate_cost_seconds_total")) >= admitted;
    await until(areAdmitted);
    const statuses: number[] = [];
    for (const { connection, request, bodyAt } of batches) {
      connection.socket.write(request.slice(bodyAt));
      connection.nextAnswer().then(
        ({ status }) => statuses.push(status),
        () => undefined,
      );
    }
    const heldNow = async () => (await at.counted("perpgate_cost_held_total")) - held;
    await until(async () => statuses.length + (await heldNow()) >= batches.length);
    const canceled = await client.ask({ op: "cancel", orderId: resting.body.orderId });
    // Two batches wait, and the cancel does not.
    expect([canceled.t, await heldNow(), statuses]).toEqual(["ok", 2, [200]]);
  });

  test.each([
    ["longer than a message that may exit", 2 * UNLIMITED.signedBytes + 1, (text: string) => text],
    ["in chunks", 0, inChunks],
  ])("a batch of exits %s: waits unread", async (_, bytes, transferred) => {
    const at = await runPoor({ limits: { costBurstMs: 40 } });
    const trader = await Trader.enter(at);
    const [client] = await openConnections(at, 1);
    await spend(at);
    const held = await at.counted("perpgate_cost_held_total");
    const { nonce } = trader.order();
    const operations = [{ op: "cancel", orderId: "1" }];
    const body = JSON.stringify({ nonce, operations }).padEnd(bytes);
    const headers = { ...trader.bearer(), ...trader.signatureOf(body) };
    client!.socket.write(transferred(rawPost("/v1/orders/batch", body, headers)));
    let isAnswered = false;
    const answer = client!.nextAnswer().finally(() => {
      isAnswered = true;
    });
    const isHeld = async () => (await at.counted("perpgate_cost_held_total")) > held;
    await until(async () => isAnswered || (await isHeld()));
    expect([await isHeld(), isAnswered]).toEqual([true, false]);
    at.repay();
    expect((await answer).status).toBe(200);
  });

  test("its trader's socket: a cancel passes, other messages wait", async () => {
    const at = await runPoor({ limits: { costBurstMs: 10 } });
    const trader = await Trader.enter(at);
    const resting = await trader.place(trader.limit("long", 60_000));
    const client = await StreamClient.connect(at.url, trader.token);
    await spend(at);
    const subscribed = client.send({ op: "subscribe", streams: ["book.BTCUSD"] });
    const canceled = await client.ask({ op: "cancel", orderId: resting.body.orderId });
    expect(canceled.t).toBe("ok");
    expect(client.frames).toEqual([]);
    at.repay();
    const answer = await client.take(({ d }) => d.id === subscribed);
    expect(answer.t).toBe("ok");
  });

  test.each<[string, (trader: Trader) => object]>([
    ["a subscribe", () => ({ op: "subscribe", streams: ["orders"] })],
    [
      "a batch",
      (trader) => {
        const operations = [{ op: "cancel", orderId: "1" }];
        const body = JSON.stringify({ nonce: trader.order().nonce, operations });
        return { op: "batch", body, sig: trader.signatureOf(body)["x-service-sig"] };
      },
    ],
  ])("%s that mentions a cancel: waits", async (_, messageOf) => {
    const at = await runPoor({ limits: { costBurstMs: 10 } });
    const trader = await Trader.enter(at);
    const resting = await trader.place(trader.limit("long", 60_000));
    const client = await StreamClient.connect(at.url, trader.token);
    await spend(at);
    const sent = client.send({ mentions: { op: "cancel" }, ...messageOf(trader) });
    const canceled = await client.ask({ op: "cancel", orderId: resting.body.orderId });
    expect(canceled.t).toBe("ok");
    expect(client.frames).toEqual([]);
    at.repay();
    const answer = await client.take(({ d }) => d.id === sent);
    expect(answer.t).toBe("ok");
  });

  test("a socket that keeps sending: closed as rate limited", async () => {
    const at = await runPoor({ sockets: { heldMessages: 3 } });
    const client = await StreamClient.connect(at.url);
    await spend(at);
    for (let i = 0; i < 10; i++) client.send({ op: "ping" });
    expect(await client.closed).toMatchObject({ code: 4429 });
  });

  test("a client behind a trusted proxy: its debt is its own", async () => {
    const at = await runPoor({ server: { trustProxy: 1 } });
    const from = (address: string) => rawGet("/healthz", { "x-forwarded-for": address });
    const proxy = await RawClient.open(at.dial);
    for (let i = 0; i < EXPENSIVE; i++) proxy.socket.write(from("1.1.1.1"));
    const other = await RawClient.open(at.dial);
    expect((await other.ask(from("2.2.2.2"))).status).toBe(200);
  });
});

test("an account over its budget: reads and orders are refused, cancels and reductions are not", async () => {
  const limits = {
    costBurstMs: UNLIMITED.costBurstMs,
    accountCostMsPerSecond: 1,
    accountCostBurstMs: 2,
  };
  const at = await runPoor({ limits });
  const trader = await Trader.enter(at);
  const resting = await trader.place(trader.limit("long", 60_000));
  while ((await trader.get("/v1/account")).status === 200);
  const limited = { status: 429, body: { code: "rate_limited", details: { limit: "cost" } } };
  expect(await trader.get("/v1/fills")).toMatchObject(limited);
  expect(await trader.place(trader.limit("long", 60_000))).toMatchObject(limited);
  expect((await trader.cancel(resting.body.orderId)).status).toBe(200);
  const reduction = trader.order({ side: "short", reduceOnly: true });
  // Refused by the engine: the account has no position.
  expect(await trader.place(reduction)).toMatchObject({
    body: { code: "reduce_only_without_position" },
  });
});

test("more connections than allowed per address: closed immediately, others are served", async () => {
  const at = await runPoor({ limits: UNLIMITED, http: { connectionsPerAddress: 2 } });
  const first = await RawClient.open(() => at.dialFrom("127.0.0.3"));
  const second = await RawClient.open(() => at.dialFrom("127.0.0.3"));
  expect((await first.ask(rawGet("/healthz"))).status).toBe(200);
  const third = await RawClient.open(() => at.dialFrom("127.0.0.3"));
  await third.closed();
  expect((await second.ask(rawGet("/healthz"))).status).toBe(200);
  first.socket.destroy();
  await first.closed();
  expect(await at.counted("perpgate_http_connections_refused_total")).toBe(1);
});

test("an order without a token: none of its 4 KiB is parsed, and it is charged like any request", async () => {
  const at = await runPoor({ limits: UNLIMITED });
  const client = await RawClient.open(at.dial);
  const literal = `[1.${"0".repeat(4_000)}1]`;
  expect(JSON.parse((await client.ask(rawOrder(literal))).body)).toMatchObject({
    code: "token_required",
  });
  expect(await at.counted("perpgate_parsed_bytes_total")).toBe(0);
  expect(await at.counted("perpgate_cost_seconds_total")).toBeGreaterThan(0);
});

test("many connections of one address, a small request on each: none waits, the reads cost little", async () => {
  // One read of 64 KiB is charged 12 ms in advance.
  const at = await runPoor({ limits: { costBurstMs: 30 } });
  const clients: RawClient[] = [];
  for (let i = 0; i < 20; i++) {
    const client = await RawClient.open(at.dial);
    expect((await client.ask(rawGet("/healthz"))).status).toBe(200);
    clients.push(client);
  }
  expect(await at.counted("perpgate_cost_held_total")).toBe(0);
});
