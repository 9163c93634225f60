/**
 * The log while servers are cut off, silent and damaged, and while a proxy holds what passes; those
 * that are killed, paused and restored are in the tests of whole gateways. PERPGATE_CLUSTER_FAULTS
 * repeats the damage that often.
 *
 * After each: every acknowledged batch is in every mirror, once, and the mirrors are equal.
 */

import { connect, type NatsConnection } from "@nats-io/transport-node";
import { CLAIM_WINDOW } from "@perpgate/journal";
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
  Load,
  LogGateway,
  level,
  NatsCluster,
  type NatsServer,
  request,
} from "./testing/index.js";

const TIMES = Number(process.env.PERPGATE_CLUSTER_FAULTS ?? 1);

describe.skipIf(isWithoutNatsServer())("replicated log under faults", () => {
  let cluster: NatsCluster;
  let stream = "";
  let streams = 0;
  let gateways: LogGateway[] = [];
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
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await Promise.all(proxies.map((proxy) => proxy.close()));
    gateways = [];
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

  async function newGateway(servers: readonly string[]): Promise<LogGateway> {
    const gateway = await LogGateway.start({ servers, stream });
    gateways.push(gateway);
    return gateway;
  }

  async function newProxy(server: NatsServer): Promise<FaultProxy> {
    const proxy = await FaultProxy.start(server.url, stream);
    proxies.push(proxy);
    return proxy;
  }

  /** Every acknowledged batch is applied everywhere, once, in one order; a fresh reader agrees. */
  async function expectSound(load: Load): Promise<void> {
    const among = [...gateways];
    expect(among.map(({ stopped }) => stopped)).toEqual(among.map(() => undefined));
    const fresh = await newGateway(cluster.urls());
    await level(fresh, ...among);
    const texts = fresh.applied.map(({ text }) => text);
    expect(new Set(texts).size).toBe(texts.length);
    const applied = new Set(texts);
    expect(load.acknowledged.filter((text) => !applied.has(text))).toEqual([]);
    // Digests: tens of thousands of messages take minutes to compare one by one.
    expect(among.map((gateway) => gateway.digest())).toEqual(among.map(() => fresh.digest()));
  }

  test("a batch held back while 65,536 messages pass is dropped, and reported", async () => {
    const proxy = await newProxy(cluster.servers[0]!);
    const held = await newGateway([proxy.url]);
    await held.publish("before");
    proxy.hold();
    const late = held.publish("late");
    await withNats(async (nats) => {
      const subject = subjectOf(stream, "rubbish");
      for (let number = 0; number < CLAIM_WINDOW; number++) {
        // An answer now and then, so that the server is not flooded.
        if (number % 100 === 0) await request(nats, subject, "x");
        else nats.publish(subject, "x");
      }
      await nats.flush();
    });
    await until(() => held.mirror.end > CLAIM_WINDOW);
    proxy.release();
    expect(await late).toBe(false);
    expect(held.dropped).toEqual([{ writer: held.writer, counter: 1 }]);
    expect(held.stopped).toBeUndefined();
    expect(held.log.status().chainDrops).toBe(1);
  });

  test("a server cut off from the others: gateways leave it", async () => {
    const [first, ...others] = cluster.servers;
    const gateway = await newGateway(cluster.urls());
    const load = Load.start(gateway);
    await load.more(10);
    await first!.kill();
    // It accepts connections and holds an old copy of the stream.
    first!.start({ isolated: true });
    await Promise.all(others.map((server) => server.kill()));
    await until(() => gateway.log.status().server === first!.url);
    for (const server of others) server.start();
    await load.more(10);
    expect(gateway.log.status().server).not.toBe(first!.url);
    const started = await newGateway(cluster.urls());
    expect(started.log.status().server).not.toBe(first!.url);
    await load.stop();
    await first!.kill();
    first!.start();
    await cluster.inSync(stream);
    await expectSound(load);
  });

  test("a silent connection: the gateway moves within 2 s and loses nothing", async () => {
    const proxy = await newProxy(cluster.servers[0]!);
    const gateway = await newGateway([proxy.url, cluster.servers[1]!.url]);
    const load = Load.start(gateway);
    await load.more(10);
    const lateness = new Lateness(onTestFinished);
    load.resetGap();
    proxy.isSilent = true;
    await load.more(10);
    expect(gateway.log.status().reconnects).toBeGreaterThan(0);
    lateness.expectWithin(load.longestGapMs, 2_500);
    await load.stop();
    await expectSound(load);
  });

  test("no server answers: the stream is not described as it was before", async () => {
    const gateway = await newGateway(cluster.urls());
    const replicas = () => gateway.log.status().stream?.replicas.length;
    expect(replicas()).toBe(2);
    await Promise.all(cluster.servers.map((server) => server.kill()));
    await expect.poll(() => gateway.log.status().stream, POLL).toBeUndefined();
    for (const server of cluster.servers) server.start();
    await expect.poll(replicas, POLL).toBe(2);
  });

  test("a stream created again with other content stops the gateways", async () => {
    const gateway = await newGateway(cluster.urls());
    await gateway.publish("before");
    await withNats(async (nats) => {
      await request(nats, `$JS.API.STREAM.DELETE.${stream}`);
      await createStream(nats, { stream, maxBytes: 1e9 });
    });
    const error = await gateway.log.stopped;
    expect(error.message).toMatch(/the stream was created again at .* up to sequence 1$/);
  });

  test.each(["flipped bytes", "cut files"] as const)(
    "%s in one server's store are never served",
    async (kind) => {
      for (let time = 0; time < TIMES; time++) {
        const load = Load.start(
          await newGateway(cluster.urls(1)),
          await newGateway(cluster.urls(2)),
        );
        await load.more(66);
        const victim = cluster.servers[time % 3]!;
        await victim.kill();
        await load.more(16);
        expect(damageStream(victim, stream, kind)).toBeGreaterThan(0);
        victim.start();
        await load.more(33);
        await load.stop();
        // Read through the damaged server only, from the first message on.
        const through = await newGateway([victim.url]);
        await level(through, ...gateways);
        await expectSound(load);
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
    const { mirror } = await newGateway(cluster.urls());
    expect([...mirror.messages()].map(({ message }) => Buffer.from(message).toString())).toEqual(
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
