/** Hostile clients: none crashes the gateway, costs it memory, or learns more than an error code. */

import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { until } from "@perpgate/journal/testing";
import { Random } from "@perpgate/protocol/random";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { ask } from "../testing/running-gateway.js";
import { type RunningVenue, runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { StreamClient } from "./testing/stream-client.js";

const HANDSHAKE =
  "GET /ws/v1 HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n" +
  "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

async function isWell(at: RunningVenue): Promise<void> {
  const client = await StreamClient.connect(at.url);
  await client.settled();
  await client.close();
  expect((await ask(`${at.url}/healthz`)).status).toBe(200);
  expect(at.streamFaults).toEqual([]);
}

describe("hostile messages", () => {
  test("many in one read: parsed in several turns of the event loop, each answered in order", async () => {
    const metrics = new Registry();
    // A tenth of the burst, 2 ms, may be used in one turn: some 40 of these messages.
    const at = await runVenue({ limits: { costBurstMs: 20 }, metrics });
    const client = await StreamClient.connect(at.url);
    const parsedBytes = async (): Promise<number> => {
      const metric = await metrics.getSingleMetric("perpgate_parsed_bytes_total")?.get();
      return metric?.values[0]?.value ?? 0;
    };
    const text = (id: number): string => `{"id":${1_000 + id},"op":"nothing"}`;
    const before = await parsedBytes();
    for (let i = 0; i < 300; i++) client.socket.send(text(i));
    const all = before + 300 * text(0).length;
    let most = 0;
    for (let last = before; last < all; ) {
      await nextTurn();
      const now = await parsedBytes();
      most = Math.max(most, now - last);
      last = now;
    }
    expect(most / text(0).length).toBeLessThanOrEqual(60);
    for (let i = 0; i < 300; i++) {
      expect((await client.take(() => true)).d).toMatchObject({ id: 1_000 + i });
    }
    await isWell(at);
  });

  test.each([
    ["a close frame", (socket: WebSocket) => socket.close(1_000)],
    ["a FIN", (socket: WebSocket) => void Reflect.get(socket, "_socket").end()],
  ])("many in one read, and %s after them: the socket closes without a fault", async (_, end) => {
    const at = await runVenue({ limits: { costBurstMs: 20 } });
    const client = await StreamClient.connect(at.url);
    const closed = new Promise<void>((resolve) => client.socket.once("close", () => resolve()));
    Reflect.get(client.socket, "_socket").cork();
    for (let i = 0; i < 300; i++) client.socket.send(`{"id":${1_000 + i},"op":"nothing"}`);
    end(client.socket);
    Reflect.get(client.socket, "_socket").uncork();
    await closed;
    await until(() => at.streams.size === 0);
    await isWell(at);
  });

  test("frames behind a close frame: dropped unparsed, and the socket closes without an error", async () => {
    const at = await runVenue();
    const client = await StreamClient.connect(at.url);
    const closed = new Promise<number>((resolve) => client.socket.once("close", resolve));
    const tcp = Reflect.get(client.socket, "_socket");
    tcp.cork();
    client.socket.close(1_000);
    tcp.write(Buffer.alloc(20_000, 0x81));
    tcp.uncork();
    expect(await closed).toBe(1_000);
    await until(() => at.streams.size === 0);
    expect(at.socketEndings).toEqual([expect.objectContaining({ code: 1_000 })]);
    await isWell(at);
  });

  test("text that is no operation: an error with a code, and the socket lives on", async () => {
    const at = await runVenue();
    const client = await StreamClient.connect(at.url);
    const nested = `${"[".repeat(500)}${"]".repeat(500)}`;
    const cases: readonly (readonly [string, string])[] = [
      ["", "malformed_json"],
      ["{", "malformed_json"],
      ['{"op":"ping"', "malformed_json"],
      [nested, "malformed_json"],
      ['{"op":"ping","op":"ping"}', "duplicate_key"],
      ['{"op":"ping","__proto__":{}}', "forbidden_key"],
      ['{"op":"ping","id":9007199254740993}', "number_not_exact"],
      ["null", "invalid_request"],
      ["[]", "invalid_request"],
      ["5", "invalid_request"],
      ["{}", "invalid_request"],
      ['{"op":5}', "invalid_request"],
      ['{"op":"constructor"}', "unknown_operation"],
      ['{"op":"subscribe"}', "invalid_request"],
      ['{"op":"subscribe","streams":"book.BTCUSD"}', "invalid_request"],
      ['{"op":"subscribe","streams":[]}', "invalid_request"],
      ['{"op":"subscribe","streams":[{}]}', "invalid_request"],
      ['{"op":"subscribe","streams":["orders"],"since":-1}', "invalid_request"],
      ['{"op":"subscribe","streams":["orders"],"since":"5"}', "invalid_request"],
      ['{"op":"subscribe","streams":["book.BTCUSD"],"format":"xml"}', "invalid_request"],
      ['{"op":"subscribe","streams":["book.__proto__"]}', "unknown_stream"],
      ['{"op":"auth"}', "invalid_request"],
      ['{"op":"auth","token":5}', "invalid_request"],
      ['{"op":"order","body":{},"sig":""}', "invalid_request"],
      ['{"op":"order","body":"{}","sig":""}', "token_required"],
      ['{"op":"cancel","orderId":5}', "invalid_request"],
      ['{"op":"cancel","orderId":"-5"}', "invalid_request"],
    ];
    for (const [text, code] of cases) {
      client.socket.send(text);
      const { t, d } = await client.take(() => true);
      expect([t, d.code], text).toEqual(["error", code]);
      expect(d.requestId).toMatch(/^ws\d+-\d+$/);
    }
    await isWell(at);
  });

  test("id: echoed where it can be read, and never otherwise", async () => {
    const at = await runVenue();
    const client = await StreamClient.connect(at.url);
    const answerTo = async (text: string) => {
      client.socket.send(text);
      return (await client.take(() => true)).d;
    };
    expect(await answerTo('{"id":"a","op":"nope"}')).toMatchObject({ id: "a", op: "nope" });
    expect(await answerTo('{"id":7,"op":"auth","token":"x"}')).toMatchObject({ id: 7 });
    expect(await answerTo('{"id":{},"op":"ping"}')).not.toHaveProperty("id");
    expect(await answerTo(`{"id":"${"x".repeat(65)}","op":"ping"}`)).not.toHaveProperty("id");
  });

  test("binary where text belongs: an error; text that is not UTF-8: closed with 1007", async () => {
    const at = await runVenue();
    const client = await StreamClient.connect(at.url);
    client.socket.send(Buffer.from('{"op":"ping"}'));
    expect((await client.next("error")).d.code).toBe("invalid_request");
    client.socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
    expect((await client.closed).code).toBe(1007);
    await isWell(at);
  });

  test("too large, in one piece or in many: closed with 1009 or 1008", async () => {
    const at = await runVenue();
    const large = await StreamClient.connect(at.url);
    large.socket.send("x".repeat(65_537));
    expect((await large.closed).code).toBe(1009);
    const pieces = await StreamClient.connect(at.url);
    for (let i = 0; i < 200; i++) pieces.socket.send("x", { fin: false });
    expect((await pieces.closed).code).toSatisfy((code) => code === 1008 || code === 1009);
    await isWell(at);
  });

  test("too fast: refused unread, and closed if it continues", async () => {
    const at = await runVenue({ sockets: { messagesPerSecond: 0.001, messagesBurst: 5 } });
    const client = await StreamClient.connect(at.url);
    for (let i = 0; i < 12; i++) client.send({ op: "ping" });
    expect(await client.closed).toEqual({ code: 4429, reason: "rate_limited" });
    const kinds = client.frames.map(({ t }) => t);
    expect(kinds.slice(0, 5)).toEqual(Array(5).fill("pong"));
    expect(kinds.slice(5)).toEqual(Array(5).fill("error"));
    expect(client.frames.at(-1)?.d).toMatchObject({ code: "rate_limited" });
  });

  test("too many pings, or pongs that nobody asked for: closed", async () => {
    const rate = { messagesPerSecond: 0.001, messagesBurst: 5 };
    const at = await runVenue({ sockets: { ...rate, pingIntervalMs: 3_600_000 } });
    const pinging = await StreamClient.connect(at.url);
    const pongs: string[] = [];
    pinging.socket.on("pong", (data: Buffer) => pongs.push(data.toString()));
    for (let i = 0; i < 6; i++) pinging.socket.ping(String(i));
    expect(await pinging.closed).toEqual({ code: 4429, reason: "rate_limited" });
    expect(pongs).toEqual(["0", "1", "2", "3", "4"]);
    const ponging = await StreamClient.connect(at.url);
    for (let i = 0; i < 6; i++) ponging.socket.pong();
    expect((await ponging.closed).code).toBe(4429);
    await isWell(at);
  });

  test("pings and messages are counted separately", async () => {
    const at = await runVenue({ sockets: { messagesPerSecond: 0.001, messagesBurst: 3 } });
    const client = await StreamClient.connect(at.url);
    for (let i = 0; i < 3; i++) await client.settled();
    for (let i = 0; i < 3; i++) client.socket.ping();
    client.send({ op: "ping" });
    expect((await client.next("error")).d.code).toBe("rate_limited");
    expect(client.socket.readyState).toBe(WebSocket.OPEN);
  });

  test("a pong that was asked for is not counted", async () => {
    const rate = { messagesPerSecond: 0.001, messagesBurst: 1 };
    // Long enough for the pong to arrive on a busy machine.
    const at = await runVenue({ sockets: { ...rate, pingIntervalMs: 3_000 } });
    const client = await StreamClient.connect(at.url);
    const asked = new Promise((resolve) => client.socket.once("ping", resolve));
    client.socket.ping();
    await asked;
    await client.settled();
  });

  test("too many: streams of a socket, sockets of an address", async () => {
    const at = await runVenue({ sockets: { streamsPerSocket: 3, socketsPerAddress: 2 } });
    const client = await StreamClient.connect(at.url);
    const streams = ["book.BTCUSD", "book.ETHUSD", "book.SOLUSD", "trades.BTCUSD"];
    client.send({ op: "subscribe", streams });
    expect((await client.next("ok")).d.streams).toEqual(streams.slice(0, 3));
    expect((await client.next("error")).d).toMatchObject({
      stream: "trades.BTCUSD",
      code: "too_many_streams",
    });
    // One that is held may be asked for again.
    expect((await client.ask({ op: "subscribe", streams: ["book.BTCUSD"] })).t).toBe("ok");
    const second = await StreamClient.connect(at.url);
    await expect(StreamClient.connect(at.url)).rejects.toThrow(/429/);
    await second.close();
    while (at.streams.size > 1) await new Promise((resolve) => setImmediate(resolve));
    await StreamClient.connect(at.url);
  });
});

describe("hostile bytes", () => {
  test("frames cut short, unmasked, with reserved bits, random: closed, nothing else", async () => {
    const at = await runVenue();
    const random = new Random(3);
    const cases: Buffer[] = [
      Buffer.from([0x81]),
      Buffer.from([0x81, 0xfe, 0x00]),
      Buffer.from([0x81, 0x05, 0x68, 0x65, 0x6c, 0x6c, 0x6f]),
      Buffer.from([0xf1, 0x80, 0, 0, 0, 0]),
      Buffer.from([0x83, 0x80, 0, 0, 0, 0]),
      Buffer.from([0x89, 0xfe, 0x01, 0x00, 0, 0, 0, 0]),
      Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
      Buffer.from([0x80, 0x80, 0, 0, 0, 0]),
      Buffer.from([0x88, 0x81, 0, 0, 0, 0, 0x03]),
      ...Array.from({ length: 40 }, () => randomBytes(1 + random.below(300))),
    ];
    for (const bytes of cases) {
      const socket = await at.dial();
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.resume();
      socket.write(HANDSHAKE);
      socket.write(bytes);
      socket.end();
      await closed;
    }
    while (at.streams.size > 0) await new Promise((resolve) => setImmediate(resolve));
    await isWell(at);
  });

  test("handshakes that are none: refused in the shape of every error", async () => {
    const at = await runVenue();
    const heads = [
      HANDSHAKE.replace("version: 13", "version: 7"),
      HANDSHAKE.replace("dGhlIHNhbXBsZSBub25jZQ==", "short"),
      HANDSHAKE.replace("GET", "POST"),
      HANDSHAKE.replace("upgrade: websocket", "upgrade: tea"),
    ];
    for (const head of heads) {
      const socket = await at.dial();
      let text = "";
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.write(head);
      await closed;
      expect(text).toMatch(/^HTTP\/1\.1 4\d\d/);
      expect(text).toContain('"code":"malformed_request"');
    }
    await isWell(at);
  });

  test("many clients that connect and vanish leave nothing behind", async () => {
    const at = await runVenue({ sockets: { socketsPerAddress: 100 } });
    const sockets = Array.from({ length: 50 }, () => {
      const socket = new WebSocket(`${at.url.replace("http", "ws")}/ws/v1`);
      socket.on("error", () => undefined);
      socket.on("open", () => {
        socket.send(JSON.stringify({ op: "subscribe", streams: ["book.BTCUSD", "ticker.BTCUSD"] }));
        socket.terminate();
      });
      return new Promise((resolve) => socket.on("close", resolve));
    });
    await Promise.all(sockets);
    while (at.streams.size > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(at.streams.readerCount).toBe(0);
    await isWell(at);
  });

  test("many clients of every stream that close in every way: no feed keeps any of them", async () => {
    const CROWD = 12;
    // As many as allowed per address: a socket that is not released blocks the next round.
    const at = await runVenue({ sockets: { socketsPerAddress: CROWD } });
    const trader = await Trader.enter(at);
    const open = ["book.BTCUSD", "trades.BTCUSD", "ticker.BTCUSD", "candles.BTCUSD.1m", "blocks"];
    const streams = [...open, "preconfirms", "orders", "positions", "deposits"];
    const goes: readonly ((client: StreamClient) => void)[] = [
      ({ socket }) => socket.close(),
      ({ socket }) => socket.terminate(),
      ({ socket }) => socket.send("x".repeat(70_000)),
      (client) => client.send({ op: "unsubscribe", streams }),
    ];
    for (let crowd = 0; crowd < 2; crowd++) {
      const clients = await Promise.all(
        Array.from({ length: CROWD }, () => StreamClient.connect(at.url, trader.token)),
      );
      for (const client of clients) await client.ask({ op: "subscribe", streams });
      // Again, this time with `since`: the earlier subscriptions are released.
      for (const client of clients) await client.ask({ op: "subscribe", streams, since: 1 });
      await until(() => at.streams.readerCount === CROWD * streams.length);
      // Frames are being sent to all of them while they close.
      await trader.place(trader.limit("long", 64_000, { margin: 1 }));
      for (const [i, client] of clients.entries()) goes[i % goes.length]!(client);
      await until(() => at.streams.readerCount === 0);
      for (const { socket } of clients) socket.close();
      await until(() => at.streams.size === 0);
    }
    expect(at.streams.readerCount).toBe(0);
    await isWell(at);
  });
});
