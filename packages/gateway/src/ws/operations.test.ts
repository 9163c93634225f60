import { setImmediate as nextTurn } from "node:timers/promises";
import { until } from "@perpgate/journal/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { HeldOrders } from "../venue/testing/held-orders.js";
import { runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { ClientSocket } from "./connection.js";
import { fieldsOf, StreamClient } from "./testing/stream-client.js";

describe("operations of a socket", () => {
  test("ping: answered with its id and the time, with or without a trailing slash", async () => {
    const at = await runVenue();
    for (const path of ["/ws/v1", "/ws/v1/", "/ws/v1?x=1"]) {
      const client = await StreamClient.connect(at.url, undefined, path);
      const { t, d } = await client.ask({ op: "ping" });
      expect(t).toBe("pong");
      expect(d).toEqual({ id: 1, time: at.nowMs() });
    }
  });

  test("subscribe: each stream is checked separately", async () => {
    const at = await runVenue();
    const client = await StreamClient.connect(at.url);
    const streams = ["trades.BTCUSD", "nonsense", "book.NOPEUSD", "orders", "ticker.ETHUSD"];
    client.send({ op: "subscribe", id: "s1", streams });
    const ok = await client.next("ok");
    expect(ok.d).toMatchObject({
      id: "s1",
      op: "subscribe",
      streams: ["trades.BTCUSD", "ticker.ETHUSD"],
      seq: at.venue.seq,
    });
    const refused = client.frames.filter(({ t }) => t === "error").map(({ d }) => d);
    expect(refused).toMatchObject([
      {
        id: "s1",
        stream: "nonsense",
        code: "unknown_stream",
        message:
          'No stream "nonsense"; there are book.<symbol>, trades.<symbol>, ticker.<symbol>, ' +
          "candles.<symbol>.<1m|5m|15m|1h|4h|1d>, blocks, status, " +
          "preconfirms, orders, positions, fills, account, deposits.",
      },
      { id: "s1", stream: "book.NOPEUSD", code: "market_not_found" },
      { id: "s1", stream: "orders", code: "token_required" },
    ]);
  });

  test("unsubscribe: ends the stream; a stream that is not held is refused", async () => {
    const at = await runVenue();
    const client = await StreamClient.connect(at.url);
    await client.ask({ op: "subscribe", streams: ["book.BTCUSD"] });
    const answer = await client.ask({ op: "unsubscribe", streams: ["book.BTCUSD"] });
    expect(answer.d).toMatchObject({ op: "unsubscribe", streams: ["book.BTCUSD"] });
    const again = await client.ask({ op: "unsubscribe", streams: ["book.BTCUSD"] });
    expect(again.d).toMatchObject({ code: "not_subscribed", stream: "book.BTCUSD" });
  });

  test("auth: by header, by operation, by a token in subscribe; a wrong one is refused", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const byHeader = await StreamClient.connect(at.url, trader.token);
    expect((await byHeader.ask({ op: "subscribe", streams: ["orders"] })).t).toBe("ok");
    const byOperation = await StreamClient.connect(at.url);
    expect((await byOperation.ask({ op: "auth", token: trader.token })).t).toBe("ok");
    expect((await byOperation.ask({ op: "subscribe", streams: ["orders"] })).t).toBe("ok");
    const bySubscribe = await StreamClient.connect(at.url);
    const { token } = trader;
    expect((await bySubscribe.ask({ op: "subscribe", streams: ["orders"], token })).t).toBe("ok");
    const stranger = await StreamClient.connect(at.url);
    const refused = await stranger.ask({ op: "auth", token: "no-such-token" });
    expect(refused.d).toMatchObject({ op: "auth", code: "invalid_token" });
    await expect(StreamClient.connect(at.url, "no-such-token")).rejects.toThrow(/401/);
    // A wrong token in a subscribe affects private streams only.
    const streams = ["trades.BTCUSD", "orders"];
    stranger.send({ op: "subscribe", id: "mixed", streams, token: "no-such-token" });
    expect((await stranger.next("ok")).d).toMatchObject({ streams: ["trades.BTCUSD"] });
    expect((await stranger.next("error")).d).toMatchObject({
      stream: "orders",
      code: "invalid_token",
    });
  });

  test("subscribe: a wrong token is refused also where no private stream is named", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const client = await StreamClient.connect(at.url, trader.token);
    const streams = ["book.BTCUSD", "trades.BTCUSD"];
    const refused = await client.ask({ op: "subscribe", streams, token: "no-such-token" });
    expect(refused).toMatchObject({ t: "error", d: { op: "subscribe", code: "invalid_token" } });
    expect(refused.d).not.toHaveProperty("stream");
    // Each stream is checked separately, and the socket keeps its session.
    expect((await client.next("ok")).d).toMatchObject({ id: refused.d.id, streams });
    expect((await client.ask({ op: "subscribe", streams: ["orders"] })).t).toBe("ok");
    // If a private stream was refused for the token, there is no second error.
    const mixed = ["orders", "ticker.BTCUSD", "nonsense"];
    client.send({ op: "subscribe", id: "mixed", streams: mixed, token: "no-such-token" });
    await client.take(({ t, d }) => t === "ok" && d.id === "mixed");
    const errors = client.frames.filter(({ t }) => t === "error").map(({ d }) => d);
    expect(errors).toMatchObject([
      { stream: "orders", code: "invalid_token" },
      { stream: "nonsense", code: "unknown_stream" },
    ]);
  });

  test("order: the same acknowledgement, replay, conflict and refusals as over REST", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const client = await StreamClient.connect(at.url, trader.token);
    const body = JSON.stringify(trader.limit("long", 64_000));
    const { "x-service-sig": sig = "" } = trader.signatureOf(body);
    const placed = await client.ask({ op: "order", body, sig });
    expect(placed.t).toBe("ok");
    expect(placed.d).toMatchObject({
      op: "order",
      replayed: false,
      ack: { status: "resting", nonce: 1, symbol: "BTCUSD", elapsedMs: expect.any(Number) },
    });
    const { elapsedMs: _, ...ack } = fieldsOf(placed.d.ack);

    const overRest = await trader.placeText(body);
    expect(overRest.headers.get("idempotent-replay")).toBe("true");
    const { elapsedMs: __, ...restAck } = overRest.body;
    expect(restAck).toEqual(ack);
    const replay = await client.ask({ op: "order", body, sig });
    expect(replay.d).toMatchObject({ replayed: true, ack });

    const other = body.replace("64000", "63000");
    const conflict = await client.ask({
      op: "order",
      body: other,
      sig: trader.signatureOf(other)["x-service-sig"],
    });
    expect(conflict.d).toMatchObject({ code: "nonce_conflict", field: "nonce" });

    const cases = [
      JSON.stringify({ ...trader.order(), margin: "5" }),
      JSON.stringify({ ...trader.order(), symbol: "NOPEUSD" }),
      '{"symbol":"BTCUSD","symbol":"BTCUSD"}',
      "{not json",
      // Text and bytes differ in length, or even in what they say: half a character has no bytes.
      JSON.stringify({ ...trader.order(), symbol: "ÜSD€😀" }),
      JSON.stringify({ ...trader.order(), symbol: "HALF" }).replace("HALF", "HALF\ud800"),
    ];
    for (const text of cases) {
      const { "x-service-sig": signature = "" } = trader.signatureOf(text);
      const rest = await trader.placeText(text);
      const answer = await client.ask({ op: "order", body: text, sig: signature });
      expect(answer.t).toBe("error");
      const { requestId: _id, ...expected } = rest.body;
      expect(answer.d).toMatchObject(expected);
    }
    const unsigned = await client.ask({ op: "order", body: cases[1], sig: "00" });
    expect(unsigned.d.code).toBe("invalid_signature");
    expect(at.streamFaults).toEqual([]);
  });

  test("order: many in flight on one socket are each answered once, with their own id", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const client = await StreamClient.connect(at.url, trader.token);
    await client.ask({ op: "subscribe", streams: ["preconfirms", "orders"] });
    await client.next("orders");
    client.frames.length = 0;
    const nonceOf = new Map<unknown, number>();
    for (let i = 0; i < 40; i++) {
      const order = trader.limit("long", 60_000 + i, { margin: 1 });
      const body = JSON.stringify(order);
      const sig = trader.signatureOf(body)["x-service-sig"];
      nonceOf.set(client.send({ op: "order", body, sig }), order.nonce);
      if (i % 8 === 0) client.send({ op: "order", body: "{}", sig: "00" });
    }
    const answers = new Map<unknown, unknown>();
    while (answers.size < 45) {
      const { t, d } = await client.take(({ t }) => t === "ok" || t === "error");
      expect(answers.has(d.id)).toBe(false);
      answers.set(d.id, t === "ok" ? fieldsOf(d.ack).nonce : d.code);
    }
    for (const [id, nonce] of nonceOf) expect(answers.get(id)).toBe(nonce);
    expect([...answers.values()].filter((value) => value === "invalid_request")).toHaveLength(5);
    // What the private streams tell of the same orders, batch by batch, is in the log's order.
    await client.settled();
    await client.settled();
    for (const stream of ["preconfirms", "orders"]) {
      const seqs = client.frames.filter(({ t }) => t === stream).map(({ d }) => Number(d.seq));
      expect(seqs).toHaveLength(40);
      expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    }
    expect(at.streamFaults).toEqual([]);
  });

  test("order: limits count REST and socket together", async () => {
    const at = await runVenue({ limits: { ordersPerSecond: 0.001, ordersBurst: 2 } });
    const trader = await Trader.enter(at);
    const client = await StreamClient.connect(at.url, trader.token);
    const text = JSON.stringify(trader.limit("long", 64_000));
    expect((await trader.placeText(text)).status).toBe(200);
    const sig = trader.signatureOf(text)["x-service-sig"];
    expect((await client.ask({ op: "order", body: text, sig })).t).toBe("ok");
    const third = await client.ask({ op: "order", body: text, sig });
    expect(third.d).toMatchObject({ code: "rate_limited", details: { limit: "orders" } });
    expect((await trader.placeText(text)).status).toBe(429);
  });

  test("cancel: the order is gone; again it is refused; without a token it is refused", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const { body } = await trader.place(trader.limit("long", 64_000));
    const client = await StreamClient.connect(at.url, trader.token);
    const { orderId } = body;
    const canceled = await client.ask({ op: "cancel", orderId });
    expect(canceled.d).toMatchObject({ canceled: { orderId, status: "canceled" } });
    expect(canceled.d.seq).toBeGreaterThan(Number(orderId));
    const again = await client.ask({ op: "cancel", orderId });
    expect(again.d).toMatchObject({ code: "order_not_cancelable" });
    const stranger = await StreamClient.connect(at.url);
    expect((await stranger.ask({ op: "cancel", orderId })).d.code).toBe("token_required");
  });

  test("sign out: the session's sockets are closed, others stay", async () => {
    const at = await runVenue();
    const leaving = await Trader.enter(at);
    const staying = await Trader.enter(at);
    const gone = await StreamClient.connect(at.url, leaving.token);
    const kept = await StreamClient.connect(at.url, staying.token);
    await Promise.all([gone.settled(), kept.settled()]);
    await leaving.signOut();
    expect(await gone.closed).toEqual({ code: 4401, reason: "session_ended" });
    await kept.settled();
  });

  test("expiry: the session's sockets are closed when it is over", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at, {
      expirationTime: new Date(at.nowMs() + 5_000).toISOString(),
    });
    const client = await StreamClient.connect(at.url, trader.token);
    await client.ask({ op: "subscribe", streams: ["orders"] });
    await at.advance(6_000);
    expect((await client.closed).code).toBe(4401);
  });

  test("upgrade: an offer of another protocol is ignored, as on any other path", async () => {
    const at = await runVenue();
    const socket = await at.dial();
    socket.write(
      "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: Upgrade, HTTP2-Settings\r\n" +
        "upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n",
    );
    const text = await new Promise<string>((resolve) =>
      socket.once("data", (chunk: Buffer) => resolve(chunk.toString())),
    );
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    expect((await ask(`${at.url}/ws/v1`)).status).toBe(404);
  });

  test("drain: sockets are closed with 1001", async () => {
    const at = await runVenue();
    const client = await StreamClient.connect(at.url);
    await client.settled();
    await at.gateway.drain(2_000);
    expect((await client.closed).code).toBe(1001);
  });

  test("drain: an order in flight is answered before its socket is closed", async () => {
    const held = new HeldOrders();
    const at = await runVenue({ held });
    const trader = await Trader.enter(at);
    const client = await StreamClient.connect(at.url, trader.token);
    held.hold();
    onTestFinished(() => held.release());
    const body = JSON.stringify(trader.limit("long", 64_000));
    const sent = client.send({ op: "order", body, sig: trader.signatureOf(body)["x-service-sig"] });
    await until(() => held.waiting === 1);
    const drained = at.gateway.drain(60_000);
    // New messages are refused meanwhile.
    let refused = await client.ask({ op: "ping" });
    while (refused.t === "pong") refused = await client.ask({ op: "ping" });
    expect(refused).toMatchObject({ t: "error", d: { op: "ping", code: "stopped" } });
    held.release();
    const answer = await client.take(({ d }) => d.id === sent);
    expect(answer).toMatchObject({ t: "ok", d: { ack: { status: "resting" } } });
    expect((await client.closed).code).toBe(1001);
    await drained;
  });

  test("stop and cut: many sockets are closed a hundred per turn", async () => {
    const sockets = 120;
    const at = await runVenue({ sockets: { socketsPerAddress: sockets } });
    const clients: Promise<StreamClient>[] = [];
    for (let i = 0; i < sockets; i++) clients.push(StreamClient.connect(at.url));
    await Promise.all(clients);
    const close = vi.spyOn(ClientSocket.prototype, "close");
    const destroy = vi.spyOn(ClientSocket.prototype, "destroy");
    onTestFinished(() => {
      close.mockRestore();
      destroy.mockRestore();
    });
    const stopped = at.streams.stop();
    at.streams.cut();
    for (const count of [0, 100, sockets]) {
      expect([close.mock.calls.length, destroy.mock.calls.length]).toEqual([count, count]);
      await nextTurn();
    }
    await stopped;
    expect(at.streams.size).toBe(0);
  });
});
