/** A stream that lost its end and was filled again while a gateway was away, or its process paused. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { encodeMessage } from "@perpgate/journal";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { CHAIN_START } from "./chain.js";
import { SILENCE_MS } from "./doubt.js";
import { createStream } from "./init.js";
import { NEAR_END, Reader } from "./reader.js";
import { ReplicatedLog } from "./replicated-log.js";
import { subjectOf } from "./subjects.js";
import {
  FaultProxy,
  isWithoutNatsServer,
  LogGateway,
  NatsCluster,
  type NatsServer,
  request,
} from "./testing/index.js";

const STREAM = "venue";

describe.skipIf(isWithoutNatsServer())("a stream that was rolled back and filled again", () => {
  let cluster: NatsCluster;
  let server: NatsServer;

  beforeAll(async () => {
    cluster = await NatsCluster.start({ servers: 1 });
    const [only] = cluster.servers;
    if (only === undefined) throw new Error("no server");
    server = only;
  });

  afterAll(async () => {
    await cluster?.remove();
  });

  async function withNats<T>(run: (nats: NatsConnection) => Promise<T>): Promise<T> {
    const nats = await connect({ servers: server.url });
    return run(nats).finally(() => nats.close());
  }

  test("a gateway that had read further accepts nothing of it, and stops; one that was opened and not started, too", async () => {
    await withNats((nats) => createStream(nats, { stream: STREAM, replicas: 1 }));
    const proxy = await FaultProxy.start(server.url, STREAM);
    onTestFinished(() => proxy.close());
    const gateway = await LogGateway.start({ servers: [proxy.url], stream: STREAM });
    onTestFinished(() => gateway.close());
    for (let batch = 0; batch < 10; batch++) await gateway.publish(`kept ${batch}`);
    await server.stop();
    const copy = join(cluster.folder, "copy");
    server.copyStore(copy);
    server.start();
    await cluster.ready();
    for (let batch = 0; batch < 5; batch++) await gateway.publish(`lost ${batch}`);
    expect(gateway.mirror.end).toBe(15);
    const opened = await ReplicatedLog.open({
      name: "opened",
      servers: [server.url],
      stream: STREAM,
      mirror: gateway.mirror.upTo(15),
      hooks: gateway,
      logger: { info: () => undefined, warn: () => undefined },
    });
    onTestFinished(() => opened.close());

    proxy.isSilent = true;
    await server.kill();
    server.restoreStore(copy);
    server.start();
    await cluster.ready();
    // A writer that never saw the lost messages: its claims fit both histories.
    const writer = randomBytes(16).toString("hex");
    const claim = { seq: 0, chain: CHAIN_START };
    const block = { number: 0, hash: new Uint8Array(32) };
    await withNats(async (nats) => {
      for (let counter = 0; counter < 10; counter++) {
        const message = encodeMessage({ writer, counter, claim, block, records: [] });
        await request(nats, subjectOf(STREAM, writer), message);
      }
    });
    proxy.isSilent = false;
    proxy.cut();
    const error = await gateway.log.stopped;
    expect(error.message).toMatch(/another message at sequence 15 than this gateway has applied/);
    expect(gateway.mirror.end).toBe(15);
    let delivered = 0;
    const started = opened.start(() => delivered++);
    await expect(started).rejects.toThrow(/another message at sequence 15/);
    expect(delivered).toBe(0);
  }, 60_000);

  test("rolled back and not filled again: after 10 s the gateway stops, and its mirror is refused by a start", async () => {
    const stream = "shorter";
    await withNats((nats) => createStream(nats, { stream, replicas: 1 }));
    const gateway = await LogGateway.start({ servers: [server.url], stream });
    onTestFinished(() => gateway.close());
    await gateway.publish("kept");
    await server.stop();
    const copy = join(cluster.folder, "shorter-copy");
    server.copyStore(copy);
    server.start();
    await gateway.publish("lost");
    await server.kill();
    server.restoreStore(copy);
    server.start();
    void gateway.publish("refused");
    const again = LogGateway.start({ servers: [server.url], stream }, gateway.mirror.upTo(2));
    const refused = expect(again).rejects.toThrow(
      /^the stream ends at sequence 1, but this gateway's mirror at 2: messages were lost; .*reseed/,
    );
    expect((await gateway.log.stopped).message).toMatch(
      /^the stream has ended at sequence 1 for 10 s, but .* sequence 2: messages were lost; .*reseed/,
    );
    await refused;
    // A restart would not help.
    expect(gateway.log.status().refusal?.description ?? "").not.toContain("restart it");
  }, 60_000);

  /** A reader of an empty stream whose clock stands still, and pushes of a server with another stream. */
  async function newReader(nats: NatsConnection, stream: string) {
    await createStream(nats, { stream, replicas: 1 });
    const subject = subjectOf(stream, "a".repeat(32));
    const time = { nowMs: 0 };
    const read: number[] = [];
    const contradictions: number[] = [];
    const events = {
      deliver: ({ sequence }: { readonly sequence: number }) => read.push(sequence),
      contradicted: (sequence: number) => contradictions.push(sequence),
      room: () => undefined,
      failed: () => undefined,
    };
    const reader = new Reader(stream, 0, events, () => time.nowMs);
    onTestFinished(() => reader.close());
    const storedMs = Date.now();
    const push = (sequence: number, afterMs = 0): void => {
      const data = Buffer.from("pushed");
      reader.message({ sequence, subject, data, storedMs: storedMs + afterMs });
    };
    const untilContradicted = async (): Promise<number[]> => {
      while (contradictions.length === 0) {
        reader.tick(50);
        await delay(5);
      }
      return contradictions;
    };
    return { reader, subject, time, read, contradictions, push, untilContradicted };
  }

  /** What the leader is asked for. */
  function questionsTo(nats: NatsConnection, stream: string): number[] {
    const asked: number[] = [];
    nats.subscribe(`$JS.API.STREAM.MSG.GET.${stream}`, {
      callback: (_, message) => {
        asked.push(message.json<{ seq: number }>().seq);
      },
    });
    return asked;
  }

  test("after a pause of its process a reader accepts nothing before the leader has confirmed its last message", () =>
    withNats(async (nats) => {
      const { reader, subject, time, read, push, untilContradicted } = await newReader(
        nats,
        "paused",
      );
      reader.attach(nats, 0);
      push(1);
      push(2);
      expect(read).toEqual([1, 2]);
      time.nowMs += 1_000;
      push(3);
      expect(read).toEqual([1, 2]);
      // The stream's own messages contradict those that were pushed.
      for (const text of ["one", "two", "three"]) await request(nats, subject, text);
      expect(await untilContradicted()).toEqual([2]);
      expect(read).toEqual([1, 2]);
    }));

  test("a new connection during a recovery: nothing is accepted before the leader has confirmed the last message", () =>
    withNats(async (nats) => {
      const { reader, subject, read, push, untilContradicted } = await newReader(nats, "moved");
      // It recovers until there is a consumer, which takes an answer of the server.
      reader.attach(nats, 0);
      push(1);
      expect(read).toEqual([1]);
      reader.attach(nats, 0);
      push(2);
      expect(read).toEqual([1]);
      await request(nats, subject, "one");
      expect(await untilContradicted()).toEqual([1]);
    }));

  test("a lost message read late, without a silence: the stored times make the leader's answer necessary", () =>
    withNats(async (nats) => {
      const { reader, subject, read, push, untilContradicted } = await newReader(nats, "late");
      reader.attach(nats, 0);
      push(1);
      push(2, 200);
      push(3, 500);
      expect(read).toEqual([1, 2]);
      for (const text of ["one", "two", "three"]) await request(nats, subject, text);
      expect(await untilContradicted()).toEqual([2]);
      expect(read).toEqual([1, 2]);
    }));

  test("a new leader whose clock is behind: its first message waits for the leader's answer", () =>
    withNats(async (nats) => {
      const { reader, read, push } = await newReader(nats, "behind");
      reader.attach(nats, 0);
      push(1);
      push(2, -200);
      push(3, -500);
      expect(read).toEqual([1, 2]);
    }));

  test("ticks every 200 ms, and a history far from its end: no questions", () =>
    withNats(async (nats) => {
      const { reader, read, push } = await newReader(nats, "far");
      reader.attach(nats, NEAR_END + 20);
      for (let sequence = 1; sequence <= 20; sequence++) push(sequence, sequence * 1_000);
      expect(read).toHaveLength(20);
      for (let tick = 1; tick <= 10; tick++) push(20 + tick, 20_000 + tick * 200);
      expect(read).toHaveLength(30);
      // Near its end a gap counts.
      push(31, 23_000);
      expect(read).toHaveLength(30);
    }));

  test("a message after a silence that the process was too busy to notice: the leader is asked, and it is read", () =>
    withNats(async (nats) => {
      const { reader, subject, time, read } = await newReader(nats, "slow");
      const asked = questionsTo(nats, "slow");
      reader.attach(nats, 0);
      await request(nats, subject, "one");
      const readUpTo = async (sequence: number): Promise<void> => {
        while (read.at(-1) !== sequence) {
          reader.tick(10);
          await delay(5);
        }
      };
      await readUpTo(1);
      await delay(SILENCE_MS);
      asked.length = 0;
      // Less than counts as a pause of the process.
      time.nowMs += 900;
      await request(nats, subject, "two");
      await readUpTo(2);
      await nats.flush();
      expect(asked).toContain(1);
      expect(read).toEqual([1, 2]);
    }));
});
