/** What one connection writes, and in which order, over a real socket. */

import { describe, expect, test } from "vitest";
import { CLOSE } from "./close-codes.js";
import { SocketPairs } from "./testing/connected-pair.js";
import { wireFrame } from "./wire-frame.js";

const FRAMES = [1, 2, 3].map((number) => ({ t: "ok", d: { number } }));

function numbers(frames: readonly { readonly d: Readonly<Record<string, unknown>> }[]): unknown[] {
  return frames.map(({ d }) => d.number);
}

/** What waits for the present callbacks to be through has had its turn. */
function afterCallbacks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("frames that are held", () => {
  test("leave together once the present callbacks are through, in order", async () => {
    const { connection, received } = await (await SocketPairs.open()).connect();
    connection.hold();
    for (const frame of FRAMES) connection.answer(frame);
    connection.hold();
    const bytes = FRAMES.reduce((sum, frame) => sum + wireFrame(frame).length, 0);
    expect(connection.bufferedBytes).toBe(bytes);
    await afterCallbacks();
    expect(connection.bufferedBytes).toBe(0);
    expect(numbers(await received())).toEqual([1, 2, 3]);
    connection.answer(FRAMES[0]!);
    expect(connection.bufferedBytes).toBe(0);
  });

  test("are not overtaken: neither by a frame that is offered nor by a ping", async () => {
    const { connection, client, received } = await (await SocketPairs.open()).connect();
    const seen: unknown[] = [];
    client.socket.on("message", () => seen.push("frame"));
    client.socket.on("ping", () => seen.push("ping"));
    connection.hold();
    connection.answer(FRAMES[0]!);
    connection.ping();
    expect(connection.offer(wireFrame(FRAMES[1]!))).toBe(true);
    connection.answer(FRAMES[2]!);
    expect(numbers(await received())).toEqual([1, 2, 3]);
    expect(seen.slice(0, 4)).toEqual(["frame", "ping", "frame", "frame"]);
  });

  test("come before the goodbye of a connection that closes meanwhile; nothing comes after it", async () => {
    const { connection, client } = await (await SocketPairs.open()).connect();
    connection.hold();
    connection.answer(FRAMES[0]!);
    connection.answer(FRAMES[1]!);
    connection.close(CLOSE.sessionEnded);
    connection.answer(FRAMES[2]!);
    expect(await client.closed).toEqual({ code: 4401, reason: "session_ended" });
    expect(numbers(client.frames)).toEqual([1, 2]);
  });

  test("count toward the cap: past it the socket is closed", async () => {
    const maxBufferedBytes = 1_000;
    const { connection, client } = await (await SocketPairs.open({ maxBufferedBytes })).connect();
    const large = { t: "ok", d: { number: 1, text: "x".repeat(600) } };
    connection.hold();
    connection.answer(large);
    connection.answer(large);
    expect(await client.closed).toEqual({ code: 4408, reason: "too_slow" });
    expect(numbers(client.frames)).toEqual([1]);
  });

  test("go with a connection that is cut meanwhile", async () => {
    const { connection, client } = await (await SocketPairs.open()).connect();
    connection.hold();
    connection.answer(FRAMES[0]!);
    connection.destroy();
    connection.hold();
    await connection.closed;
    expect((await client.closed).code).toBe(1006);
    expect(client.frames).toEqual([]);
  });
});
