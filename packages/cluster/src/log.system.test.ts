/** The log on three real servers without faults; faults are in faults.system.test.ts and fence.system.test.ts. */

import { createServer } from "node:http";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { encodeMessage } from "@perpgate/journal";
import { until } from "@perpgate/journal/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FencedLog, type FencedLogOptions } from "./fenced-log.js";
import { createStream, publishGenesis } from "./init.js";
import { streamState } from "./jetstream-api.js";
import { connectToAny } from "./link.js";
import { checkSync } from "./open-checks.js";
import { reseed } from "./reseed.js";
import { coreSubject, subjectOf } from "./subjects.js";
import {
  isWithoutNatsServer,
  LogMember,
  MemoryMirror,
  NatsCluster,
  request,
} from "./testing/index.js";

const NO_BLOCK = { number: 0, hash: new Uint8Array(32) };

describe.skipIf(isWithoutNatsServer())("replicated log", () => {
  let cluster: NatsCluster;
  let nats: NatsConnection;
  let streams = 0;
  const open: LogMember[] = [];

  beforeAll(async () => {
    cluster = await NatsCluster.start();
    nats = await connect({ servers: cluster.urls() });
  });

  afterAll(async () => {
    await Promise.all(open.map(({ log }) => log.close()));
    await nats?.close();
    await cluster?.remove();
  });

  async function newStream(): Promise<string> {
    const stream = `venue${++streams}`;
    await createStream(nats, { stream, maxBytes: 100_000_000 });
    return stream;
  }

  /** The first of a stream leads it, after the silence of 1.5 s. */
  async function newMember(stream: string, mirror?: MemoryMirror, rank = 0): Promise<LogMember> {
    const options = { servers: cluster.urls(open.length % 3), stream, rank };
    const member = await LogMember.start(options, mirror);
    open.push(member);
    return member;
  }

  test("a message without records is delivered, and the largest one", async () => {
    const member = await newMember(await newStream());
    await member.written("before");
    const { end } = member.mirror;
    // A tick of this core has no text.
    await until(() => member.mirror.end > end);
    await member.written("x".repeat(1024 * 1024 - 4096 - 116));
    const larger = Buffer.alloc(1024 * 1024 - 4096 - 115);
    await until(() => member.log.mayPropose);
    expect(() => member.log.propose([larger])).toThrow("takes 1044480 bytes at most");
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
    const { mirror } = await newMember(stream);
    expect(mirror.batchAt(1).id).toEqual({ writer: "0".repeat(32), counter: 0 });
  });

  test("Genesis before anybody answers for the stream: published once somebody does", async () => {
    const stream = `${await newStream()}_late`;
    const connection = await connectToAny({ servers: cluster.urls(), name: "init" });
    const published = publishGenesis(connection, stream, [Buffer.from("genesis")]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await createStream(connection, { stream, maxBytes: 100_000_000 });
    await published;
    await connection.close();
    expect((await newMember(stream)).mirror.end).toBe(1);
  });

  test("Genesis while a server is away: init ends once all hold it, whoever leads the stream next", async () => {
    const stream = await newStream();
    const state = () => streamState(nats, stream);
    const { leader } = await state();
    const asked = nats.getServer();
    const away = cluster.servers.find(({ name, url }) => name !== leader && !url.endsWith(asked));
    if (away === undefined) throw new Error("no server can go away");
    await away.kill();
    let isDone = false;
    const published = publishGenesis(nats, stream, [Buffer.from("genesis")]).then(() => {
      isDone = true;
    });
    await until(async () => (await state()).lastSeq === 1);
    expect(isDone).toBe(false);
    away.start();
    await published;
    expect((await state()).replicas.map(({ isCurrent }) => isCurrent)).toEqual([true, true]);
  });

  test("rubbish on the subjects is dropped alike everywhere, and trading goes on", async () => {
    const stream = await newStream();
    const [leader, standby] = [await newMember(stream), await newMember(stream, undefined, 1)];
    await leader.written("before");
    const sound = encodeMessage({
      writer: "a".repeat(32),
      counter: 0,
      claim: { seq: 0, chain: new Uint8Array(32) },
      block: NO_BLOCK,
      records: [Buffer.from("from elsewhere")],
    });
    const rubbish: [subject: string, data: Uint8Array | string][] = [
      [coreSubject(stream), "rubbish on the cores' subject"],
      [coreSubject(stream), ""],
      [coreSubject(stream), sound],
      [subjectOf(stream, "rubbish"), "x"],
      [subjectOf(stream, "rubbish"), "PGM2 of nobody"],
      [subjectOf(stream, "b".repeat(32)), sound],
      [subjectOf(stream, "a".repeat(32)), sound.subarray(1)],
      [subjectOf(stream, "a".repeat(32)), Buffer.concat([sound, Buffer.alloc(1)])],
    ];
    const taken: number[] = [];
    for (const [subject, data] of rubbish) {
      const stored = await request(nats, subject, data);
      taken.push(stored.json<{ seq: number }>().seq);
    }
    const last = await leader.written("after");
    await until(() => standby.mirror.end >= last);
    for (const sequence of taken) expect(leader.mirror.batchAt(sequence).isUnfit).toBe(true);
    expect(standby.mirror.records.slice(0, last)).toEqual(leader.mirror.records.slice(0, last));
    expect(leader.epoch).toBe(1);
  });

  test("a message of a newer release stops the core, and is not mirrored", async () => {
    const stream = await newStream();
    const member = await newMember(stream);
    await request(nats, subjectOf(stream, "c".repeat(32)), "PGM3 and more");
    const error = await member.log.stopped;
    expect(error.message).toContain("sequence 1: a message of format PGM3");
    expect(member.mirror.end).toBe(0);
  });

  /** What a core would write as the stream's first message, but for what is changed. */
  const first = (changes: object) =>
    encodeMessage({
      writer: "d".repeat(32),
      counter: 1,
      claim: { seq: 0, chain: new Uint8Array(32) },
      block: NO_BLOCK,
      records: [],
      isFenced: true,
      ...changes,
    });

  test.each([
    [
      "another log",
      { claim: { seq: 0, chain: new Uint8Array(32).fill(1) } },
      /chain up to sequence 0/,
    ],
    [
      "another block",
      { block: { ...NO_BLOCK, hash: new Uint8Array(32).fill(1) } },
      /another block 0/,
    ],
    ["a block that is not here", { block: { ...NO_BLOCK, number: 1 } }, /another block 1/],
  ])(
    "a message of a core with %s: nothing of it is applied, the log stops",
    async (_, changes, text) => {
      const stream = await newStream();
      const member = await newMember(stream);
      await request(nats, coreSubject(stream), first(changes));
      const error = await member.log.stopped;
      expect(error.message).toMatch(/^message 1, of a core that led, contradicts this core's log/);
      expect(error.message).toMatch(text);
      expect(member.mirror.end).toBe(0);
    },
  );

  test("a mirror that fails stops the log", async () => {
    const member = await newMember(await newStream());
    member.mirror.failure = new Error("disk full");
    expect(String(await member.log.stopped)).toContain(
      "the mirror did not store sequence 1: disk full",
    );
  });

  test("a full stream refuses; the message is delivered once there is room", async () => {
    const stream = `venue${++streams}`;
    await createStream(nats, { stream, maxBytes: 10_000 });
    const member = await newMember(stream);
    for (let text = 1; text <= 4; text++) await member.written(`${text}`.repeat(2_000));
    const refused = member.written("x".repeat(2_000));
    await until(() => member.log.status().refusal !== "");
    expect(member.log.status().refusal).toContain("maximum bytes exceeded");
    const info = await request(nats, `$JS.API.STREAM.INFO.${stream}`);
    const { config } = info.json<{ config: Record<string, unknown> }>();
    const update = JSON.stringify({ ...config, max_bytes: 1_000_000 });
    await request(nats, `$JS.API.STREAM.UPDATE.${stream}`, update);
    await refused;
    await until(() => member.log.status().refusal === "");
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

  function optionsOf(stream: string, mirror = new MemoryMirror()): FencedLogOptions {
    return {
      servers: cluster.urls(),
      name: "test",
      core: "test",
      run: "a".repeat(32),
      rank: 0,
      versions: [3, 3],
      release: "test",
      stream,
      mirror,
      hooks: {
        lastBlock: () => NO_BLOCK,
        blockHash: () => undefined,
        room: () => undefined,
        leader: () => ({ epoch: 0, run: "" }),
        claim: () => undefined,
        isReady: () => false,
        edges: () => 0,
        mayPropose: () => undefined,
      },
      logger: { info: () => undefined, warn: () => undefined },
    };
  }

  test("open: a missing stream with a mirror asks for a reseed, not for init", async () => {
    const stream = await newStream();
    const member = await newMember(stream);
    const stored = await member.written("stored");
    await member.log.close();
    const mirror = member.mirror.upTo(stored);
    const opened = await FencedLog.open(optionsOf(stream, mirror));
    await request(nats, `$JS.API.STREAM.DELETE.${stream}`);
    const text =
      `stream ${stream} has been missing for 3 s; this gateway applied up to sequence ${stored}: stop all ` +
      "gateways and run `perpgate cluster reseed`";
    await expect(opened.start(() => undefined)).rejects.toThrow(text);
    await opened.close();
    await expect(newMember(stream, mirror)).rejects.toThrow(text);
  });

  test("open: a missing stream, a wrong one and no server are named in one line", async () => {
    const options = optionsOf("absent");
    await expect(FencedLog.open(options)).rejects.toThrow("run `perpgate cluster init`");
    const config = { name: "wrong", subjects: ["wrong.>"], discard: "old", num_replicas: 1 };
    await request(nats, "$JS.API.STREAM.CREATE.wrong", JSON.stringify(config));
    await expect(FencedLog.open({ ...options, stream: "wrong" })).rejects.toThrow(
      /its subjects must be "wrong\.log\.\*" alone; .*deny_delete must be on; .*deny_purge must/,
    );
    await expect(FencedLog.open({ ...options, stream: "a.b" })).rejects.toThrow("stream name");
    await expect(
      FencedLog.open({ ...options, servers: ["nats://127.0.0.1:1"], patienceMs: 0 }),
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
    await expect(newMember(stream)).rejects.toThrow(
      "the stream begins at sequence 10, but this gateway needs sequence 1: run `perpgate cluster join`",
    );
  });

  test("a mirror that differs from the stream at its end is refused", async () => {
    const [stream, other] = [await newStream(), await newStream()];
    await (await newMember(stream)).written("one");
    const foreign = await newMember(other);
    await foreign.written("1");
    await foreign.log.close();
    await expect(newMember(stream, foreign.mirror.upTo(2))).rejects.toThrow(
      "the message at sequence 2, the end of this gateway's mirror, is not the stream's",
    );
  });

  test("reseed: a new stream holds the mirror's messages at their sequences", async () => {
    const stream = await newStream();
    for (let message = 1; message <= 150; message++) {
      await request(nats, subjectOf(stream, "rubbish"), `kept all the same ${message}`);
    }
    const member = await newMember(stream);
    await member.written("last");
    await member.log.close();
    const { mirror } = member;
    const access = { servers: cluster.urls(), name: "reseed" };
    const logger = { info: () => undefined, warn: () => undefined };
    const options = { access, logger, stream, messages: mirror.messages() };
    await expect(reseed(options)).rejects.toThrow("is not empty: it ends at sequence 15");
    await request(nats, `$JS.API.STREAM.DELETE.${stream}`);
    const progress: number[] = [];
    const onProgress = (sequence: number) => progress.push(sequence);
    const messages = mirror.messages();
    expect(await reseed({ ...options, messages, maxBytes: 1e8, onProgress })).toBe(mirror.end);
    expect(progress).toEqual([64, 128, mirror.end]);
    const continued = await newMember(stream, mirror);
    const last = await continued.written("after");
    const fresh = await newMember(stream, undefined, 1);
    expect(fresh.mirror.records.slice(0, last)).toEqual(mirror.records.slice(0, last));
  });
});
