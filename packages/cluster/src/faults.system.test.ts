/**
 * The log while servers are cut off, silent and damaged, and while a proxy holds what passes; those
 * that are killed, paused and restored are in the tests of whole gateways. PERPGATE_CLUSTER_FAULTS
 * repeats the damage that often.
 *
 * After each: every acknowledged text is in every mirror, once, and the mirrors are equal.
 */

import { createHash } from "node:crypto";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { POLL, until } from "@perpgate/journal/testing";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from "vitest";
import { createStream } from "./init.js";
import { type ReseedMessage, type ReseedOptions, reseed } from "./reseed.js";
import { subjectOf } from "./subjects.js";
import {
  damageStream,
  FaultProxy,
  isWithoutNatsServer,
  Lateness,
  LogMember,
  type MemoryMirror,
  NatsCluster,
  type NatsServer,
  request,
} from "./testing/index.js";

function digestOf({ records }: MemoryMirror): string {
  const hash = createHash("sha256");
  for (const record of records) hash.update(record);
  return hash.digest("hex");
}

const TIMES = Number(process.env.PERPGATE_CLUSTER_FAULTS ?? 1);

describe.skipIf(isWithoutNatsServer())("replicated log under faults", () => {
  let cluster: NatsCluster;
  let stream = "";
  let streams = 0;
  let members: LogMember[] = [];
  let texts = 0;
  let proxies: FaultProxy[] = [];

  beforeAll(async () => {
    cluster = await NatsCluster.start();
  });

  afterAll(async () => {
    await cluster?.remove();
  });

  beforeEach(async () => {
    stream = `venue${++streams}`;
    await cluster.restartAll();
    await withNats((nats) => createStream(nats, { stream, maxBytes: 1e9 }));
  });

  afterEach(async () => {
    await Promise.all(members.map(({ log }) => log.close()));
    await Promise.all(proxies.map((proxy) => proxy.close()));
    members = [];
    proxies = [];
  });

  async function withNats<T>(run: (nats: NatsConnection) => Promise<T>): Promise<T> {
    const nats = await connect({ servers: cluster.urls() });
    try {
      return await run(nats);
    } finally {
      await nats.close();
    }
  }

  /** The first of a stream leads it. */
  async function newMember(servers: readonly string[], mirror?: MemoryMirror): Promise<LogMember> {
    const member = await LogMember.start({ servers, stream, rank: members.length }, mirror);
    members.push(member);
    return member;
  }

  async function newProxy(server: NatsServer): Promise<FaultProxy> {
    const proxy = await FaultProxy.start(server.url, stream);
    proxies.push(proxy);
    return proxy;
  }

  /** Texts for this core, each written before the next; resolves with the longest time between two. */
  async function write(member: LogMember, count: number): Promise<number> {
    let [longestMs, lastMs] = [0, performance.now()];
    for (let each = 0; each < count; each++) {
      await member.written(`text ${++texts}`);
      const nowMs = performance.now();
      longestMs = Math.max(longestMs, nowMs - lastMs);
      lastMs = nowMs;
    }
    return longestMs;
  }

  /** Every acknowledged text is in the log, once, and all mirrors are equal; that of a fresh reader too. */
  async function expectSound(): Promise<void> {
    expect(members.map(({ stopped }) => stopped)).toEqual(members.map(() => undefined));
    const fresh = await newMember(cluster.urls());
    const last = fresh.mirror.end;
    await until(() => members.every(({ mirror }) => mirror.end >= last));
    for (const { mirror } of members) {
      expect(digestOf(mirror.upTo(last))).toBe(digestOf(fresh.mirror.upTo(last)));
    }
    const written = new Map<string, number>();
    for (let sequence = 1; sequence <= last; sequence++) {
      for (const record of fresh.mirror.batchAt(sequence).records) {
        const text = Buffer.from(record).toString();
        expect(written.has(text), text).toBe(false);
        written.set(text, sequence);
      }
    }
    for (const { acknowledged } of members) {
      for (const [text, sequence] of acknowledged) expect(written.get(text)).toBe(sequence);
    }
  }

  test("a server cut off from the others: cores leave it", async () => {
    const [first, ...others] = cluster.servers;
    const member = await newMember(cluster.urls());
    await write(member, 10);
    await first!.kill();
    // It accepts connections and holds an old copy of the stream.
    first!.start({ isolated: true });
    await Promise.all(others.map((server) => server.kill()));
    await until(() => member.log.status().server === first!.url);
    for (const server of others) server.start();
    await write(member, 10);
    expect(member.log.status().server).not.toBe(first!.url);
    const started = await newMember(cluster.urls());
    expect(started.log.status().server).not.toBe(first!.url);
    await first!.kill();
    first!.start();
    await cluster.inSync(stream);
    await expectSound();
  });

  test("a silent connection: the core moves within 2 s and loses nothing", async () => {
    const proxy = await newProxy(cluster.servers[0]!);
    const member = await newMember([proxy.url, cluster.servers[1]!.url]);
    await write(member, 10);
    const lateness = new Lateness(onTestFinished);
    proxy.isSilent = true;
    const longestMs = await write(member, 10);
    expect(member.log.status().reconnects).toBeGreaterThan(0);
    lateness.expectWithin(longestMs, 2_500);
    await expectSound();
  });

  test("no server answers: the stream is not described as it was before", async () => {
    const member = await newMember(cluster.urls());
    const replicas = () => member.log.status().stream?.replicas.length;
    expect(replicas()).toBe(2);
    await Promise.all(cluster.servers.map((server) => server.kill()));
    await expect.poll(() => member.log.status().stream, POLL).toBeUndefined();
    for (const server of cluster.servers) server.start();
    await expect.poll(replicas, POLL).toBe(2);
  });

  test("a stream created again with other content stops the cores", async () => {
    const member = await newMember(cluster.urls());
    await write(member, 1);
    await withNats(async (nats) => {
      await request(nats, `$JS.API.STREAM.DELETE.${stream}`);
      await createStream(nats, { stream, maxBytes: 1e9 });
    });
    const error = await member.log.stopped;
    expect(error.message).toMatch(/the stream was created again at .* up to sequence \d+$/);
  });

  test.each(["flipped bytes", "cut files"] as const)(
    "%s in one server's store are never served",
    async (kind) => {
      for (let time = 0; time < TIMES; time++) {
        const [leader = await newMember(cluster.urls(1))] = members;
        if (time === 0) await newMember(cluster.urls(2));
        await write(leader, 66);
        const victim = cluster.servers[time % 3]!;
        await victim.kill();
        await write(leader, 16);
        expect(damageStream(victim, stream, kind)).toBeGreaterThan(0);
        victim.start();
        await write(leader, 33);
        // Read through the damaged server only, from the first message on.
        await newMember([victim.url]);
        await expectSound();
      }
    },
  );

  /** More than ten groups of publishes. */
  const MESSAGES = 1000;
  const MIDDLE = 320;

  function* messagesToReseed(): Generator<ReseedMessage> {
    const subject = subjectOf(stream, "a".repeat(32));
    for (let sequence = 1; sequence <= MESSAGES; sequence++) {
      yield { sequence, subject, message: Buffer.from(`message ${sequence}`) };
    }
  }

  /** The stream then has exactly the messages, in their order. */
  async function expectReseeded(
    servers: readonly string[],
    onProgress: ReseedOptions["onProgress"] & object,
  ): Promise<void> {
    const messages = messagesToReseed();
    const access = { servers, name: "reseed" };
    const logger = { info: () => undefined, warn: () => undefined };
    const options = { access, logger, stream, maxBytes: 1e9, messages, onProgress };
    expect(await reseed(options)).toBe(MESSAGES);
    await cluster.restartAll();
    const { mirror } = await newMember(cluster.urls());
    const reseeded = mirror.upTo(MESSAGES).messages();
    expect([...reseeded].map(({ message }) => Buffer.from(message).toString())).toEqual(
      [...messagesToReseed()].map(({ message }) => Buffer.from(message).toString()),
    );
  }

  test.each(["through it", "through another server"])(
    "reseed: the leader is killed in the middle; it goes on, %s",
    async (through) => {
      const leader = await cluster.streamLeader(stream);
      const others = cluster.servers.filter((server) => server !== leader);
      const servers = through === "through it" ? [leader, ...others] : [...others, leader];
      await expectReseeded(
        servers.map(({ url }) => url),
        (sequence) => {
          if (sequence === MIDDLE) void leader.kill();
        },
      );
    },
  );

  test("reseed: answers are lost in the middle; it goes on", async () => {
    const proxy = await newProxy(cluster.servers[0]!);
    await expectReseeded([proxy.url], (sequence) => {
      proxy.dropsAnswers = sequence === MIDDLE;
    });
  });

  test("reseed: another message is stored in the middle; it ends, and names the sequence", async () => {
    const proxy = await newProxy(cluster.servers[0]!);
    const foreign = subjectOf(stream, "b".repeat(32));
    const reseeded = expectReseeded([proxy.url], (sequence) => {
      if (sequence !== MIDDLE) return;
      proxy.hold();
      void withNats((nats) => request(nats, foreign, "foreign")).then(() => proxy.release());
    });
    await expect(reseeded).rejects.toThrow(
      `reseed stopped at sequence ${MIDDLE + 1}: another message was stored meanwhile`,
    );
  });
});
