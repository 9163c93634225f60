/**
 * Readers that stop reading. What waits for one is bounded, other readers are not affected, and a
 * reader that comes back has the right book again.
 */

import { createHash, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { until } from "@perpgate/journal/testing";
import { BookMirror } from "@perpgate/protocol/core";
import { Random } from "@perpgate/protocol/random";
import { describe, expect, onTestFinished, test } from "vitest";
import { type RunningVenue, runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import type { SocketLimits } from "./socket-limits.js";
import { OrderFlow } from "./testing/order-flow.js";
import { StreamClient } from "./testing/stream-client.js";

const LIMITS = {
  roomBytes: 32_768,
  maxBufferedBytes: 8_388_608,
  closeTimeoutMs: 200,
  // A client that does not read does not answer pings either, and must not be closed for that here.
  pingIntervalMs: 3_600_000,
  messagesPerSecond: 1e6,
  messagesBurst: 1e6,
};
const STREAMS = ["book.BTCUSD"];

/** A socket that shakes hands, subscribes, and then reads nothing. */
async function deafSocket(at: RunningVenue, message: object): Promise<Socket> {
  const { hostname, port } = new URL(at.url);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  const key = randomBytes(16).toString("base64");
  socket.write(
    `GET /ws/v1 HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
      `sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`,
  );
  const head = await new Promise<string>((resolve) => {
    socket.once("data", (chunk: Buffer) => resolve(chunk.toString("latin1")));
  });
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  expect(head).toContain(accept.digest("base64"));
  socket.pause();
  socket.write(textFrame(JSON.stringify(message)));
  return socket;
}

/** Pings in one buffer, each of the maximum length. */
function pingFrames(count: number): Buffer {
  const ping = Buffer.alloc(6 + 125, "p");
  ping.set([0x89, 0x80 | 125, 0, 0, 0, 0]);
  return Buffer.concat(Array<Buffer>(count).fill(ping));
}

/** Resolves once the operating system has taken all of it. */
function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => resolve()));
}

function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const header = Buffer.alloc(8);
  header[0] = 0x81;
  header[1] = 0x80 | 126;
  header.writeUInt16BE(payload.length, 2);
  // A mask of zeros leaves the payload as it is.
  return Buffer.concat([header, payload]);
}

/** Asks for snapshots that nobody reads until the operating system takes no more of them. */
async function fillPipe(at: RunningVenue, send: (message: object) => void): Promise<void> {
  const witness = await StreamClient.connect(at.url);
  const enough = at.streams.bufferedBytes + LIMITS.roomBytes;
  while (at.streams.bufferedBytes <= enough) {
    for (let i = 0; i < 4; i++) send({ op: "subscribe", streams: STREAMS, format: "plain" });
    await witness.settled();
    await witness.settled();
  }
  await witness.close();
}

async function runDeepVenue(
  seed: number,
  sockets: Partial<SocketLimits> = LIMITS,
): Promise<{ at: RunningVenue; flow: OrderFlow }> {
  const at = await runVenue({ sockets });
  const flow = new OrderFlow(at.venue, new Random(seed), at.nowMs);
  await flow.signIn();
  await flow.run(3_000);
  return { at, flow };
}

/** Mirrors a book stream and counts. */
class Watching {
  readonly mirror = new BookMirror();
  readonly verdicts = new Set<string>();
  snapshots = 0;

  constructor(readonly client: StreamClient) {
    client.onFrame = ({ t, d }) => {
      if (t !== "book") return;
      if (d.type === "snapshot") this.snapshots++;
      this.verdicts.add(this.mirror.apply(d).kind);
    };
  }
}

describe("a reader that stops reading", () => {
  test("book: skips deltas at a bounded cost, others see every one", async () => {
    const { at, flow } = await runDeepVenue(7);
    const deaf: Socket[] = [];
    for (let i = 0; i < 3; i++) {
      const socket = await deafSocket(at, { op: "ping" });
      await fillPipe(at, (message) => socket.write(textFrame(JSON.stringify(message))));
      deaf.push(socket);
    }
    expect(at.streams.bufferedBytes).toBeGreaterThan(deaf.length * LIMITS.roomBytes);
    const reader = new Watching(await StreamClient.connect(at.url));
    reader.client.send({ op: "subscribe", streams: STREAMS });
    const start = at.venue.seq;
    let filled = 0;
    for (let i = 0; i < 50; i++) {
      const position = await flow.run(100);
      // By now everything that was asked for has been answered.
      if (i === 10) filled = at.streams.bufferedBytes;
      // Slow readers delay nobody: the round after the commands reaches the fast reader.
      if (i % 10 === 9) while (reader.mirror.seq < position - 100) await setImmediate();
    }
    expect(at.venue.seq).toBe(start + 5_000);
    expect(at.streams.size).toBe(deaf.length + 1);
    // No further byte is buffered for slow readers.
    expect(at.streams.bufferedBytes).toBeLessThanOrEqual(filled + LIMITS.roomBytes);
    expect([...reader.verdicts]).toEqual(["applied"]);
    expect(reader.snapshots).toBe(1);
    expect(at.streamFaults).toEqual([]);
  });

  test("book: back again, it gets a snapshot and the deltas after it", async () => {
    const { at, flow } = await runDeepVenue(8);
    const back = new Watching(await StreamClient.connect(at.url));
    back.client.socket.pause();
    await fillPipe(at, (message) => back.client.send(message));
    await flow.run(500);
    await until(() => at.streams.bufferedBytes > LIMITS.roomBytes);
    const { seq: position } = at.venue;
    back.client.socket.resume();
    await until(() => at.streams.bufferedBytes === 0);
    await flow.run(500);
    await until(() => back.mirror.seq > position);
    expect([...back.verdicts]).toEqual(["applied"]);
    await back.client.close();
  });

  test("private: above the cap the socket is closed, and resumes without a gap", async () => {
    const cap = { maxBufferedBytes: 524_288, closeTimeoutMs: 60_000 };
    const { at } = await runDeepVenue(9, { ...LIMITS, ...cap });
    const trader = await Trader.enter(at);
    const start = at.venue.seq;
    const witness = await StreamClient.connect(at.url, trader.token);
    await witness.ask({ op: "subscribe", streams: ["orders"], since: start });
    const slow = await StreamClient.connect(at.url, trader.token);
    await slow.ask({ op: "subscribe", streams: ["orders"] });
    slow.socket.pause();
    await fillPipe(at, (message) => slow.send(message));
    const placeAndCancel = async () => {
      const { body } = await trader.place(trader.limit("long", 60_000, { margin: 1 }));
      await trader.cancel(body.orderId);
    };
    // Answers fill most of the buffer quickly; private frames fill the rest.
    const streams = Array.from({ length: 256 }, (_, i) => `none.${i}`);
    while (at.streams.bufferedBytes < cap.maxBufferedBytes - 131_072) {
      slow.send({ op: "subscribe", streams });
      await witness.settled();
      await witness.settled();
    }
    while (at.streams.bufferedBytes < cap.maxBufferedBytes - 1_000) await placeAndCancel();
    for (let i = 0; i < 10; i++) await placeAndCancel();
    expect(at.streams.bufferedBytes).toBeLessThanOrEqual(cap.maxBufferedBytes);
    slow.socket.resume();
    expect(await slow.closed).toEqual({ code: 4408, reason: "too_slow" });
    await witness.settled();
    await witness.settled();
    const expected = witness.frames.map(({ d }) => d);
    expect(expected.length).toBeGreaterThan(100);
    const back = await StreamClient.connect(at.url, trader.token);
    await back.ask({ op: "subscribe", streams: ["orders"], since: start });
    await back.take(({ d }) => d.seq === expected.at(-1)?.seq);
    expect(back.frames.map(({ d }) => d)).toEqual(expected.slice(0, -1));
  });

  test("pings: the buffer of a client that does not read its pongs is bounded", async () => {
    const maxBufferedBytes = 65_536;
    const at = await runVenue({ sockets: { ...LIMITS, maxBufferedBytes } });
    const socket = await deafSocket(at, { op: "ping" });
    const pings = pingFrames(1_000);
    // Far more than the pipes in both directions hold.
    for (let bytes = 0; bytes < 32_000_000; bytes += pings.length) {
      await written(socket, pings);
      expect(at.streams.bufferedBytes).toBeLessThanOrEqual(maxBufferedBytes);
    }
    expect(at.streamFaults).toEqual([]);
  });

  test("pings: one that does not read and sends too many is closed", async () => {
    const rate = { messagesPerSecond: 0.001, messagesBurst: 50 };
    const at = await runVenue({ sockets: { ...LIMITS, ...rate } });
    const socket = await deafSocket(at, { op: "ping" });
    socket.write(pingFrames(51));
    await until(() => at.streams.size === 0);
  });

  test("answers that are not read: the socket is reset, although it keeps sending", async () => {
    const at = await runVenue({ sockets: LIMITS, http: { unreadTimeoutMs: 200 } });
    const socket = await deafSocket(at, { op: "ping" });
    const streams = Array.from({ length: 256 }, (_, i) => `none.${i}`);
    const refused = textFrame(JSON.stringify({ op: "subscribe", streams }));
    // Each is answered by some 60 KB of errors.
    for (let i = 0; i < 100; i++) socket.write(refused);
    await until(() => at.streams.size === 1);
    await until(() => {
      if (!socket.destroyed) socket.write(pingFrames(1));
      return at.streams.size === 0;
    });
    expect(at.streamFaults).toEqual([]);
  });

  test("heartbeat: a socket that answers no ping is destroyed", async () => {
    // Long enough for a live client to answer on a busy machine.
    const at = await runVenue({ sockets: { pingIntervalMs: 3_000 } });
    await deafSocket(at, { op: "ping" });
    const alive = await StreamClient.connect(at.url);
    await until(() => at.streams.size === 1);
    await alive.settled();
    expect(at.streams.size).toBe(1);
  });
});
