/** What one connection writes, and in which order, over a real socket. */

import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { CLOSE } from "./close-codes.js";
import { type ConnectedPair, SocketPairs } from "./testing/connected-pair.js";
import { wireFrame } from "./wire-frame.js";

const FRAMES = [1, 2, 3].map((number) => ({ t: "ok", d: { number } }));

function numbers(frames: readonly { readonly d: Readonly<Record<string, unknown>> }[]): unknown[] {
  return frames.map(({ d }) => d.number);
}

describe("corked frames", () => {
  test("are written together on the next tick, in order", async () => {
    const { connection, received } = await (await SocketPairs.open()).connect();
    connection.corkUntilNextTick();
    for (const frame of FRAMES) connection.answer(frame);
    connection.corkUntilNextTick();
    const bytes = FRAMES.reduce((sum, frame) => sum + wireFrame(frame).length, 0);
    expect(connection.bufferedBytes).toBe(bytes);
    await setImmediate();
    expect(connection.bufferedBytes).toBe(0);
    expect(numbers(await received())).toEqual([1, 2, 3]);
    connection.answer(FRAMES[0]!);
    expect(connection.bufferedBytes).toBe(0);
  });

  test("are not overtaken by an offered frame or a ping", async () => {
    const { connection, client, received } = await (await SocketPairs.open()).connect();
    const seen: unknown[] = [];
    client.socket.on("message", () => seen.push("frame"));
    client.socket.on("ping", () => seen.push("ping"));
    connection.corkUntilNextTick();
    connection.answer(FRAMES[0]!);
    connection.ping();
    expect(connection.offer(wireFrame(FRAMES[1]!))).toBe(true);
    connection.answer(FRAMES[2]!);
    expect(numbers(await received())).toEqual([1, 2, 3]);
    expect(seen.slice(0, 4)).toEqual(["frame", "ping", "frame", "frame"]);
  });

  test("come before the close frame of a connection that closes meanwhile; nothing follows it", async () => {
    const { connection, client } = await (await SocketPairs.open()).connect();
    connection.corkUntilNextTick();
    connection.answer(FRAMES[0]!);
    connection.answer(FRAMES[1]!);
    connection.close(CLOSE.sessionEnded);
    connection.answer(FRAMES[2]!);
    expect(await client.closed).toEqual({ code: 4401, reason: "session_ended" });
    expect(numbers(client.frames)).toEqual([1, 2]);
  });

  test("count toward the cap: above it the socket is closed", async () => {
    const maxBufferedBytes = 1_000;
    const { connection, client } = await (await SocketPairs.open({ maxBufferedBytes })).connect();
    const large = { t: "ok", d: { number: 1, text: "x".repeat(600) } };
    connection.corkUntilNextTick();
    connection.answer(large);
    connection.answer(large);
    expect(await client.closed).toEqual({ code: 4408, reason: "too_slow" });
    expect(numbers(client.frames)).toEqual([1]);
  });

  test("are dropped if the connection is destroyed meanwhile", async () => {
    const { connection, client } = await (await SocketPairs.open()).connect();
    connection.corkUntilNextTick();
    connection.answer(FRAMES[0]!);
    connection.destroy();
    connection.corkUntilNextTick();
    await connection.closed;
    expect((await client.closed).code).toBe(1006);
    expect(client.frames).toEqual([]);
  });
});

describe("room", () => {
  test("few buffered bytes: nothing waits for a drain that Node does not emit", async () => {
    const { connection, received } = await (await SocketPairs.open({ roomBytes: 1_024 })).connect();
    // More than the setting and less than Node's own buffer.
    connection.corkUntilNextTick();
    connection.answer({ t: "ok", d: { number: 1, text: "x".repeat(4_096) } });
    expect(connection.bufferedBytes).toBeGreaterThan(1_024);
    await connection.room();
    expect(numbers(await received())).toEqual([1]);
  });

  test("a frame is skipped only if a drain follows, whatever the setting", async () => {
    const { connection } = await (await SocketPairs.open({ roomBytes: 1_024 })).connect();
    const large = wireFrame({ t: "ok", d: { text: "x".repeat(1_000) } });
    let drains = 0;
    connection.onDrain(() => drains++);
    connection.corkUntilNextTick();
    while (connection.offer(large));
    const waiting = connection.room();
    expect(drains).toBe(0);
    await waiting;
    expect(drains).toBe(1);
    expect(connection.offer(large)).toBe(true);
  });
});

describe("a frame larger than the cap", () => {
  const maxBufferedBytes = 65_536;
  const large = { t: "ok", d: { number: 1, text: "x".repeat(8_000_000) } };
  const small = { t: "ok", d: { number: 2, text: "x".repeat(40_000) } };

  test("is sent if the buffer is empty, and what follows it too", async () => {
    const { connection, client, received } = await (
      await SocketPairs.open({ maxBufferedBytes })
    ).connect();
    // Far more than the kernel buffers: it is stuck until the client reads.
    client.socket.pause();
    connection.answer(large);
    connection.answer(small);
    expect(connection.bufferedBytes).toBeGreaterThan(8_000_000);
    client.socket.resume();
    expect(numbers(await received())).toEqual([1, 2]);
  });

  test("does not raise the cap for the frames behind it", async () => {
    const { connection, client } = await (await SocketPairs.open({ maxBufferedBytes })).connect();
    client.socket.pause();
    connection.answer(large);
    connection.answer(small);
    connection.answer(small);
    expect(connection.isOpen).toBe(false);
    client.socket.resume();
    expect(await client.closed).toEqual({ code: 4408, reason: "too_slow" });
    expect(numbers(client.frames)).toEqual([1, 2]);
  });

  test("is not sent if the buffer is not empty", async () => {
    const { connection, client } = await (await SocketPairs.open({ maxBufferedBytes })).connect();
    connection.corkUntilNextTick();
    connection.answer(small);
    connection.answer(large);
    expect(await client.closed).toEqual({ code: 4408, reason: "too_slow" });
    expect(numbers(client.frames)).toEqual([2]);
  });
});

describe("pongs", () => {
  /** What the client is answered, in order. */
  function pongsOf({ socket }: ConnectedPair["client"]): string[] {
    const pongs: string[] = [];
    socket.on("pong", (data: Buffer) => pongs.push(data.toString()));
    return pongs;
  }

  test("a reader gets one for each ping, in order", async () => {
    const pair = await (await SocketPairs.open()).connect();
    const pongs = pongsOf(pair.client);
    for (const name of ["a", "b", "", "c"]) pair.connection.pong(Buffer.from(name));
    await pair.received();
    expect(pongs).toEqual(["a", "b", "", "c"]);
  });

  test("for a slow reader one is buffered, and then the latest is sent", async () => {
    const pair = await (await SocketPairs.open()).connect();
    const { connection, client } = pair;
    const pongs = pongsOf(client);
    client.socket.pause();
    connection.send(wireFrame({ t: "ok", d: { number: 1, text: "x".repeat(8_000_000) } }));
    connection.pong(Buffer.from("first"));
    const waiting = connection.bufferedBytes;
    for (let i = 0; i < 1_000; i++) connection.pong(Buffer.from(`ping ${i}`));
    expect(connection.bufferedBytes).toBe(waiting);
    client.socket.resume();
    while (pongs.length < 2) await pair.received();
    expect(pongs).toEqual(["first", "ping 999"]);
    connection.pong(Buffer.from("later"));
    await pair.received();
    expect(pongs).toEqual(["first", "ping 999", "later"]);
  });

  test("above the cap the socket is closed", async () => {
    const limits = { maxBufferedBytes: 1_000 };
    const { connection, client } = await (await SocketPairs.open(limits)).connect();
    connection.corkUntilNextTick();
    connection.answer({ t: "ok", d: { number: 1, text: "x".repeat(900) } });
    connection.pong(Buffer.alloc(125));
    expect(await client.closed).toEqual({ code: 4408, reason: "too_slow" });
  });
});
