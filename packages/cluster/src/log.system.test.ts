/** The log on three real servers without faults; faults are in faults.system.test.ts. */

import { createServer } from "node:http";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { encodeMessage } from "@perpgate/journal";
import { until } from "@perpgate/journal/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStream, publishGenesis } from "./init.js";
import { connectToAny } from "./link.js";
import { Publisher } from "./publisher.js";
import { type LogOptions, ReplicatedLog } from "./replicated-log.js";
import { reseed } from "./reseed.js";
import { subjectOf } from "./subjects.js";
import { checkSync } from "./sync-check.js";
import {
  isWithoutNatsServer,
  LogGateway,
  level,
  MemoryMirror,
  NatsCluster,
  request,
} from "./testing/index.js";

describe.skipIf(isWithoutNatsServer())("replicated log", () => {
  let cluster: NatsCluster;
  let nats: NatsConnection;
  let streams = 0;
  const open: LogGateway[] = [];

  beforeAll(async () => {
    cluster = await NatsCluster.start();
    nats = await connect({ servers: cluster.urls() });
  });

  afterAll(async () => {
    await Promise.all(open.map((gateway) => gateway.close()));
    await nats?.close();
    await cluster?.remove();
  });

  async function newStream(): Promise<string> {
    const stream = `venue${++streams}`;
    await createStream(nats, { stream, maxBytes: 100_000_000 });
    return stream;
  }

  async function newGateway(stream: string, mirror?: MemoryMirror): Promise<LogGateway> {
    const options = { servers: cluster.urls(open.length % 3), stream };
    const gateway = await LogGateway.start(options, mirror);
    open.push(gateway);
    return gateway;
  }

  async function repeatUntilStopped(
    { log }: LogGateway,
    run: () => Promise<unknown>,
  ): Promise<Error> {
    const timer = setInterval(run, 200);
    const error = await log.stopped;
    clearInterval(timer);
    return error;
  }

  test("three writers: all apply the same batches in the same order, and mirror them", async () => {
    const stream = await newStream();
    const gateways = await Promise.all([1, 2, 3].map(() => newGateway(stream)));
    const results = await Promise.all(
      gateways.map(async (gateway, index) => {
        const applied: boolean[] = [];
        for (let batch = 0; batch < 50; batch++) {
          applied.push(await gateway.publish(`${index}:${batch}`, `${index}:${batch}b`));
        }
        return applied;
      }),
    );
    expect(results.flat()).toEqual(Array(150).fill(true));
    await level(...gateways);
    const [first, second, third] = gateways;
    expect(first?.applied.length).toBe(300);
    expect(second?.applied).toEqual(first?.applied);
    expect(third?.applied).toEqual(first?.applied);
    expect(second?.mirror.records).toEqual(first?.mirror.records);
    expect(third?.mirror.records).toEqual(first?.mirror.records);
    expect(first?.log.status()).toMatchObject({ malformed: 0, chainDrops: 0 });
    expect(first?.log.status().writers.every(({ agrees }) => agrees)).toBe(true);
  });

  test("a batch without records is delivered, and the largest one", async () => {
    const stream = await newStream();
    const gateway = await newGateway(stream);
    expect(await gateway.publish()).toBe(true);
    expect(await gateway.publish("x".repeat(1024 * 1024 - 4096 - 116))).toBe(true);
    const larger = Buffer.alloc(1024 * 1024 - 4096 - 115);
    const id = { writer: gateway.writer, counter: 2 };
    expect(() => gateway.log.publish(id, [larger])).toThrow("takes 1044480 bytes at most");
  });

  test("a gateway that starts late, or again, reads what it lacks", async () => {
    const stream = await newStream();
    const first = await newGateway(stream);
    for (let batch = 0; batch < 30; batch++) await first.publish(`batch ${batch}`);
    const late = await newGateway(stream);
    expect(late.applied).toEqual(first.applied);
    await late.close();
    for (let batch = 0; batch < 30; batch++) await first.publish(`more ${batch}`);
    const again = await newGateway(stream, late.mirror);
    expect(again.applied).toEqual(first.applied);
    expect(again.mirror.records).toEqual(first.mirror.records);
  });

  test("several inits: one Genesis, the first message of every log", async () => {
    const stream = await newStream();
    const connections = await Promise.all(
      [0, 1, 2].map((from) => connectToAny({ servers: cluster.urls(from), name: "init" })),
    );
    const results = await Promise.allSettled(
      connections.map(async (connection, index) => {
        await createStream(connection, { stream, maxBytes: 100_000_000 });
        await publishGenesis(connection, stream, [Buffer.from(`genesis ${index}`)]);
      }),
    );
    await Promise.all(connections.map((connection) => connection.close()));
    expect(results.filter(({ status }) => status === "fulfilled").length).toBe(1);
    const refusals = results.flatMap((result) =>
      result.status === "rejected" ? [String(result.reason)] : [],
    );
    expect(refusals).toEqual(
      Array(2).fill(`ClusterError: stream ${stream} has its Genesis already`),
    );
    const gateway = await newGateway(stream);
    expect(gateway.applied.map(({ sequence, writer }) => ({ sequence, writer }))).toEqual([
      { sequence: 1, writer: "0".repeat(32) },
    ]);
  });

  test("Genesis before anybody answers for the stream: published once somebody does", async () => {
    const stream = `${await newStream()}_late`;
    const connection = await connectToAny({ servers: cluster.urls(), name: "init" });
    const published = publishGenesis(connection, stream, [Buffer.from("genesis")]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await createStream(connection, { stream, maxBytes: 100_000_000 });
    await published;
    await connection.close();
    expect((await newGateway(stream)).applied).toHaveLength(1);
  });

  test("rubbish on the subjects is dropped alike everywhere, and trading goes on", async () => {
    const stream = await newStream();
    const [a, b] = [await newGateway(stream), await newGateway(stream)];
    await a.publish("before");
    await b.publish("before too");
    const sound = encodeMessage({
      writer: "a".repeat(32),
      counter: 0,
      claim: { seq: 0, chain: new Uint8Array(32) },
      block: { number: 0, hash: new Uint8Array(32) },
      records: [Buffer.from("from elsewhere")],
    });
    const rubbish: [subject: string, data: Uint8Array | string][] = [
      [subjectOf(stream, a.writer), "rubbish on a writer's own subject"],
      [subjectOf(stream, b.writer), ""],
      [subjectOf(stream, "rubbish"), "x"],
      [subjectOf(stream, "rubbish"), "PGM2 of nobody"],
      [subjectOf(stream, "b".repeat(32)), sound],
      [subjectOf(stream, "a".repeat(32)), sound.subarray(1)],
      [subjectOf(stream, "a".repeat(32)), Buffer.concat([sound, Buffer.alloc(1)])],
    ];
    for (const [subject, data] of rubbish) await request(nats, subject, data);
    expect(await a.publish("after")).toBe(true);
    expect(await b.publish("after too")).toBe(true);
    await level(a, b);
    expect(a.log.status().malformed).toBe(rubbish.length);
    expect(b.mirror.records).toEqual(a.mirror.records);
    expect(a.applied.map(({ text }) => text)).toEqual([
      "before",
      "before too",
      "after",
      "after too",
    ]);
    expect(b.applied).toEqual(a.applied);
  });

  test("a message of a newer release stops the gateway, and is not mirrored", async () => {
    const stream = await newStream();
    const gateway = await newGateway(stream);
    await request(nats, subjectOf(stream, "c".repeat(32)), "PGM3 and more");
    const error = await gateway.log.stopped;
    expect(error.message).toContain("sequence 1: a message of format PGM3");
    expect(gateway.mirror.end).toBe(0);
  });

  test("a duplicate and a late batch are delivered and not applied", async () => {
    const stream = await newStream();
    const gateway = await newGateway(stream);
    await gateway.publish("once");
    await gateway.publish("twice");
    const [, { subject = "", message = new Uint8Array() } = {}] = gateway.mirror.messages();
    await request(nats, subject, message);
    expect(await gateway.publish("thrice")).toBe(true);
    expect(gateway.applied.map(({ text }) => text)).toEqual(["once", "twice", "thrice"]);
    expect(gateway.mirror.end).toBe(4);
    expect(gateway.log.status()).toMatchObject({ malformed: 0, chainDrops: 0 });
  });

  /** A sound message but for its claim. */
  const forged = (seq: number) =>
    encodeMessage({
      writer: "d".repeat(32),
      counter: 0,
      claim: { seq, chain: new Uint8Array(32).fill(1) },
      block: { number: 0, hash: new Uint8Array(32) },
      records: [Buffer.from("forged")],
    });

  test("claims that contradict the log: two gateways outvote one writer, one alone stops", async () => {
    const stream = await newStream();
    const [a, b] = [await newGateway(stream), await newGateway(stream)];
    for (const gateway of [a, b]) await gateway.publish("before");
    const subject = subjectOf(stream, "d".repeat(32));
    await request(nats, subject, forged(1));
    await request(nats, subject, forged(99));
    expect(await a.publish("after")).toBe(true);
    expect(await b.publish("after")).toBe(true);
    expect(a.log.status().chainDrops).toBe(2);
    expect(a.log.status().writers.find(({ writer }) => writer === "d".repeat(32))).toMatchObject({
      agrees: false,
      isLive: false,
    });
    await b.close();
    // Once b was not heard for 5 s it is one against one.
    const error = await repeatUntilStopped(a, () => request(nats, subject, forged(1)));
    expect(error.message).toMatch(/^at sequence \d+ only 1 of 2 gateways heard in the last 5 s/);
    expect(a.applied.every(({ text }) => text !== "forged")).toBe(true);
  });

  test("a writer whose blocks differ disagrees, although its claims are right", async () => {
    const stream = await newStream();
    const [a, b] = [await newGateway(stream), await newGateway(stream)];
    for (let batch = 0; batch < 10; batch++) await a.publish("x");
    await level(a, b);
    b.corruptBlocks();
    void b.publish("y");
    expect((await a.log.stopped).message).toContain("only 1 of 2 gateways");
  });

  test("a writer whose last block this gateway does not have disagrees", async () => {
    const stream = await newStream();
    const [a, b] = [await newGateway(stream), await newGateway(stream)];
    for (let batch = 0; batch < 10; batch++) await a.publish("x");
    await level(a, b);
    a.loseBlock();
    void b.publish("y");
    expect((await a.log.stopped).message).toContain("only 1 of 2 gateways");
  });

  test("an acknowledgement that contradicts the deliveries is reported", async () => {
    const stream = await newStream();
    const errors: string[] = [];
    let applied = 5;
    const newPublisher = () => {
      const found = (error: Error) => errors.push(error.message);
      const publisher = new Publisher(stream, () => applied, found);
      publisher.attach(nats);
      return publisher;
    };
    // Acknowledged at a sequence that this gateway has as another message.
    newPublisher().publish({ writer: "d".repeat(32), counter: 0 }, () => forged(0));
    await until(() => errors.length >= 1);
    expect(errors[0]).toContain("acknowledged at sequence 1, which contradicts");
    // Acknowledged at a sequence at which another message is delivered, before or after.
    const publisher = newPublisher();
    applied = 1;
    publisher.publish({ writer: "e".repeat(32), counter: 0 }, () => forged(0));
    publisher.deliveredAt(2, subjectOf(stream, "f".repeat(32)), undefined);
    applied = 2;
    await until(() => errors.length >= 2);
    expect(errors[1]).toContain("acknowledged at sequence 2, which contradicts");
  });

  test("a mirror that fails stops the log", async () => {
    const stream = await newStream();
    const gateway = await newGateway(stream);
    gateway.mirror.failure = new Error("disk full");
    void gateway.publish("x");
    expect(String(await gateway.log.stopped)).toContain(
      "the mirror did not store sequence 1: disk full",
    );
  });

  test("a full stream refuses; the batch is delivered once there is room", async () => {
    const stream = `venue${++streams}`;
    await createStream(nats, { stream, maxBytes: 10_000 });
    const gateway = await newGateway(stream);
    const sizes = Array.from({ length: 4 }, () => "x".repeat(2000));
    for (const text of sizes) await gateway.publish(text);
    const refused = gateway.publish("x".repeat(2000));
    await until(() => gateway.log.status().refusal);
    expect(gateway.log.status().refusal?.description).toContain("maximum bytes exceeded");
    const info = await request(nats, `$JS.API.STREAM.INFO.${stream}`);
    const { config } = info.json<{ config: Record<string, unknown> }>();
    const update = JSON.stringify({ ...config, max_bytes: 100_000 });
    await request(nats, `$JS.API.STREAM.UPDATE.${stream}`, update);
    expect(await refused).toBe(true);
    expect(gateway.log.status().refusal).toBeUndefined();
  });

  test("a stream that no longer has the writer's last message: the refusal shows", async () => {
    const stream = await newStream();
    const gateway = await newGateway(stream);
    await gateway.publish("before");
    const stateOf = async () => {
      const info = await request(nats, `$JS.API.STREAM.INFO.${stream}`);
      return info.json<{ config: Record<string, unknown>; state: { messages: number } }>();
    };
    const { config } = await stateOf();
    const update = JSON.stringify({ ...config, max_age: 100_000_000 });
    await request(nats, `$JS.API.STREAM.UPDATE.${stream}`, update);
    await until(async () => (await stateOf()).state.messages === 0, { everyMs: 20 });
    await request(nats, `$JS.API.STREAM.UPDATE.${stream}`, JSON.stringify(config));
    void gateway.publish("refused");
    await until(() => gateway.log.status().refusal);
    expect(gateway.log.status().refusal?.description).toBe(
      "wrong last sequence: 0: the stream no longer has this gateway's last message; " +
        "restart it if no other gateway writes",
    );
  });

  test("create: a stream with other replicas or another limit is refused with both values", async () => {
    const stream = `venue${++streams}`;
    await createStream(nats, { stream, replicas: 1, maxBytes: 1e8 });
    await expect(createStream(nats, { stream, maxBytes: 1e9 })).rejects.toThrow(
      `stream ${stream} exists with num_replicas 1, not 3; ` +
        `stream ${stream} exists with max_bytes 100000000, not 1000000000`,
    );
    await createStream(nats, { stream, replicas: 1 });
  });

  function optionsOf(stream: string, mirror = new MemoryMirror()): LogOptions {
    return {
      servers: cluster.urls(),
      name: "test",
      stream,
      mirror,
      hooks: {
        lastBlock: () => ({ number: 0, hash: new Uint8Array(32) }),
        blockHash: () => undefined,
        isLive: () => true,
        room: () => undefined,
      },
      logger: { info: () => undefined, warn: () => undefined },
    };
  }

  test("open: a missing stream with a mirror asks for a reseed, not for init", async () => {
    const stream = await newStream();
    const gateway = await newGateway(stream);
    await gateway.publish("stored");
    const { mirror } = gateway;
    const opened = await ReplicatedLog.open(optionsOf(stream, mirror));
    await request(nats, `$JS.API.STREAM.DELETE.${stream}`);
    const text =
      `stream ${stream} has been missing for 3 s; this gateway applied up to sequence 1: stop all ` +
      "gateways and run `perpgate cluster reseed`";
    await expect(opened.start(() => undefined)).rejects.toThrow(text);
    await opened.close();
    await expect(newGateway(stream, mirror)).rejects.toThrow(text);
  });

  test("open: a missing stream, a wrong one and no server are named in one line", async () => {
    const options = optionsOf("absent");
    await expect(ReplicatedLog.open(options)).rejects.toThrow("run `perpgate cluster init`");
    const config = { name: "wrong", subjects: ["wrong.>"], discard: "old", num_replicas: 1 };
    await request(nats, "$JS.API.STREAM.CREATE.wrong", JSON.stringify(config));
    await expect(ReplicatedLog.open({ ...options, stream: "wrong" })).rejects.toThrow(
      /its subjects must be "wrong\.log\.\*" alone; .*deny_delete must be on; .*deny_purge must/,
    );
    await expect(ReplicatedLog.open({ ...options, stream: "a.b" })).rejects.toThrow("stream name");
    await expect(
      ReplicatedLog.open({ ...options, servers: ["nats://127.0.0.1:1"], patienceMs: 0 }),
    ).rejects.toThrow("no NATS server accepts a connection");
  });

  test("sync_interval: seen on the servers' pages, and said to be unseen without them", async () => {
    const monitors = cluster.servers.map(({ monitorUrl }) => monitorUrl);
    expect(await checkSync(monitors)).toEqual({ refused: [], warned: [] });
    expect((await checkSync([])).warned[0]).toContain("not visible to clients");
    const page = { jetstream: { config: { sync_interval: 120_000_000_000 } } };
    const unsynced = createServer((_, response) => response.end(JSON.stringify(page)));
    await new Promise<void>((resolve) => unsynced.listen(0, "127.0.0.1", resolve));
    const address = unsynced.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    expect((await checkSync([url])).refused).toEqual([
      `the server at ${url} must have sync_interval: always`,
    ]);
    unsynced.closeAllConnections();
    await new Promise((resolve) => unsynced.close(resolve));
    expect((await checkSync([url])).warned[0]).toContain(`cannot see sync_interval`);
  });

  test("a stream that begins later than the mirror's end asks for a join", async () => {
    const stream = `venue${++streams}`;
    await createStream(nats, { stream, maxBytes: 1e8, firstSequence: 10 });
    await request(nats, subjectOf(stream, "rubbish"), "at sequence 10");
    await expect(newGateway(stream)).rejects.toThrow(
      "the stream begins at sequence 10, but this gateway needs sequence 1: run `perpgate cluster join`",
    );
  });

  test("a mirror that differs from the stream at its end is refused", async () => {
    const stream = await newStream();
    const gateway = await newGateway(stream);
    for (const text of ["one", "two", "three"]) await gateway.publish(text);
    const other = await newStream();
    const foreign = await newGateway(other);
    for (const text of ["1", "2"]) await foreign.publish(text);
    await foreign.close();
    await expect(newGateway(stream, foreign.mirror)).rejects.toThrow(
      "the message at sequence 2, the end of this gateway's mirror, is not the stream's",
    );
  });

  test("reseed: a new stream holds the mirror's messages at their sequences", async () => {
    const stream = await newStream();
    const gateway = await newGateway(stream);
    for (let batch = 0; batch < 150; batch++) await gateway.publish(`batch ${batch}`);
    await request(nats, subjectOf(stream, "rubbish"), "dropped, and kept all the same");
    await gateway.publish("last");
    await gateway.close();
    const { mirror } = gateway;
    const access = { servers: cluster.urls(), name: "reseed" };
    const logger = { info: () => undefined, warn: () => undefined };
    const options = { access, logger, stream, messages: mirror.messages() };
    await expect(reseed(options)).rejects.toThrow("is not empty: it ends at sequence 152");
    await request(nats, `$JS.API.STREAM.DELETE.${stream}`);
    const progress: number[] = [];
    const onProgress = (sequence: number) => progress.push(sequence);
    const messages = mirror.messages();
    expect(await reseed({ ...options, messages, maxBytes: 1e8, onProgress })).toBe(152);
    expect(progress).toEqual([64, 128, 152]);
    const continued = await newGateway(stream, mirror);
    expect(await continued.publish("after")).toBe(true);
    const fresh = await newGateway(stream);
    expect(fresh.applied).toEqual(continued.applied);
    expect(fresh.mirror.records).toEqual(continued.mirror.records);
  });
});
