/**
 * Rounds of a book that span several turns: readers subscribe, leave and fall behind while the frame is
 * sent to others. Each test runs a delivery step by step, over real sockets.
 */

import { setImmediate } from "node:timers/promises";
import { BookMirror } from "@perpgate/protocol/core";
import { Random } from "@perpgate/protocol/random";
import { afterAll, describe, expect, test } from "vitest";
import { runVenue } from "../../venue/testing/running-venue.js";
import { type ConnectedPair, SocketPairs } from "../testing/connected-pair.js";
import { OrderFlow } from "../testing/order-flow.js";
import type { Frame } from "../testing/stream-client.js";
import { BookStreamFeed } from "./book-feed.js";
import { FrameScheduler } from "./frame-scheduler.js";

interface Reader extends ConnectedPair {
  /** Ends the subscription. */
  leave(): void;
}

const at = await runVenue({}, afterAll);
const flow = new OrderFlow(at.venue, new Random(5), at.nowMs);
await flow.signIn();
await flow.run(200);

class Stage {
  private constructor(
    readonly feed: BookStreamFeed,
    private readonly pairs: SocketPairs,
  ) {}

  static async set(limits: { roomBytes?: number } = {}): Promise<Stage> {
    const { views } = at.venue;
    const levels = () => views.levels("BTCUSD")!;
    // Never scheduled: the tests run the rounds.
    const scheduler = new FrameScheduler((error) => {
      throw error;
    });
    const feed = new BookStreamFeed(scheduler, levels);
    return new Stage(feed, await SocketPairs.open(limits));
  }

  async join(): Promise<Reader> {
    const pair = await this.pairs.connect();
    return { ...pair, leave: this.feed.open(pair.connection, { isPlain: false }) };
  }

  async joinMany(count: number): Promise<Reader[]> {
    const readers: Reader[] = [];
    for (let i = 0; i < count; i++) readers.push(await this.join());
    return readers;
  }

  /** Changes the book and begins a round; returns a function that serves the next reader. */
  async begin(): Promise<() => boolean> {
    await flow.run(20);
    const delivery = this.feed.collect();
    if (delivery === undefined) throw new Error("the book has not changed");
    return () => delivery.next();
  }

  async round(): Promise<void> {
    finish(await this.begin());
  }
}

function finish(step: () => boolean): void {
  while (step());
}

function kinds(frames: readonly Frame[]): unknown[] {
  return frames.map(({ d }) => d.type);
}

/** Applies the frames as a client would; every one must fit. */
function mirrored(frames: readonly Frame[]): number {
  const mirror = new BookMirror();
  for (const { d } of frames) expect(mirror.apply(d)).toMatchObject({ kind: "applied" });
  return mirror.seq;
}

describe("a round of a book over several turns", () => {
  test("unsubscribed in the middle: no frame of that round any more", async () => {
    const stage = await Stage.set();
    const [first, second, third] = await stage.joinMany(3);
    const step = await stage.begin();
    step();
    second!.leave();
    finish(step);
    expect(kinds(await first!.received())).toEqual(["snapshot", "delta"]);
    expect(kinds(await second!.received())).toEqual(["snapshot"]);
    expect(kinds(await third!.received())).toEqual(["snapshot", "delta"]);
  });

  test("a socket that closes in the middle: the others get the frame", async () => {
    const stage = await Stage.set();
    const readers = await stage.joinMany(4);
    // As the server does: the subscriptions of a closed socket end.
    for (const { connection, leave } of readers) {
      connection.subscriptions.set("book.BTCUSD", { isPrivate: false, end: leave });
    }
    const step = await stage.begin();
    step();
    readers[1]!.connection.close({ code: 1001, reason: "stopping" });
    readers[2]!.connection.destroy();
    await readers[2]!.connection.closed;
    finish(step);
    for (const at of [0, 3]) {
      expect(kinds(await readers[at]!.received())).toEqual(["snapshot", "delta"]);
    }
    expect(await readers[1]!.client.closed).toEqual({ code: 1001, reason: "stopping" });
    expect(kinds(readers[1]!.client.frames)).toEqual(["snapshot"]);
    await stage.round();
    expect(kinds(await readers[3]!.received())).toEqual(["delta"]);
  });

  test("subscribed in the middle: a snapshot that includes the round, then the next delta", async () => {
    const stage = await Stage.set();
    const [early] = await stage.joinMany(2);
    const step = await stage.begin();
    step();
    const late = await stage.join();
    finish(step);
    await stage.round();
    const frames = await late.received();
    expect(kinds(frames)).toEqual(["snapshot", "delta"]);
    expect(mirrored(frames)).toBe(mirrored(await early!.received()));
  });

  test("all leave in the middle and one comes back: its chain begins with its snapshot", async () => {
    const stage = await Stage.set();
    const readers = await stage.joinMany(3);
    const step = await stage.begin();
    step();
    for (const { leave } of readers) leave();
    await flow.run(20);
    const back = await stage.join();
    finish(step);
    await stage.round();
    const frames = await back.received();
    expect(kinds(frames)).toEqual(["snapshot", "delta"]);
    mirrored(frames);
  });

  test("subscribed again in the middle: one chain, without a gap or a repeat", async () => {
    const stage = await Stage.set();
    const [first, second] = await stage.joinMany(2);
    const step = await stage.begin();
    step();
    for (const { leave, connection } of [first!, second!]) {
      leave();
      stage.feed.open(connection, { isPlain: false });
    }
    finish(step);
    await stage.round();
    const frames = await second!.received();
    expect(kinds(frames)).toEqual(["snapshot", "snapshot", "delta"]);
    mirrored(frames);
    expect(kinds(await first!.received())).toEqual(["snapshot", "delta", "snapshot", "delta"]);
  });

  test("caught up in the middle: the snapshot includes the delta, which is not sent after it", async () => {
    const roomBytes = 2_000_000;
    const stage = await Stage.set({ roomBytes });
    const [ready, slow] = await stage.joinMany(2);
    expect(kinds(await slow!.received())).toEqual(["snapshot"]);
    // Far more than the kernel buffers: it is stuck until the client reads.
    slow!.client.socket.pause();
    const load = Buffer.concat([Buffer.from([0x82, 0x7f, 0, 0, 0, 0, 0, 0x80, 0, 0]), LOAD]);
    slow!.connection.offer(load);
    expect(slow!.connection.bufferedBytes).toBeGreaterThan(roomBytes);
    await stage.round();
    const step = await stage.begin();
    step();
    slow!.client.onFrame = (frame) => {
      if (frame.t !== "load") slow!.client.frames.push(frame);
    };
    slow!.client.socket.resume();
    while (slow!.connection.bufferedBytes > 0) await setImmediate();
    finish(step);
    await stage.round();
    const frames = await slow!.received();
    expect(kinds(frames)).toEqual(["snapshot", "delta"]);
    expect(mirrored(frames)).toBe(mirrored(await ready!.received()));
  });
});

/** A frame of 8 MiB: `{t: "load", d: {x: bin}}`. */
const LOAD = (() => {
  const bytes = Buffer.alloc(0x80_0000);
  const head = [0x82, 0xa1, 0x74, 0xa4, 0x6c, 0x6f, 0x61, 0x64, 0xa1, 0x64, 0x81, 0xa1, 0x78, 0xc6];
  bytes.set(head);
  bytes.writeUInt32BE(bytes.length - head.length - 4, head.length);
  return bytes;
})();
