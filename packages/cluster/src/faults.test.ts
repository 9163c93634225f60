/**
 * The log while servers are killed, paused, restored and damaged, and while a proxy drops and holds
 * what passes. Each fault happens PERPGATE_CLUSTER_FAULTS times, once by default.
 *
 * After each: every acknowledged batch is in every mirror, once, and the mirrors are equal.
 */

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { CLAIM_WINDOW } from "@perpgate/journal";
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
import { reseed } from "./reseed.js";
import { subjectOf } from "./subjects.js";
import {
  damageStream,
  FaultProxy,
  isWithoutNatsServer,
  Lateness,
  Load,
  LogGateway,
  level,
  type MemoryMirror,
  NatsCluster,
  type NatsServer,
} from "./testing/index.js";

const TIMES = Number(process.env.PERPGATE_CLUSTER_FAULTS ?? 1);
const IS_LONG = TIMES > 1;
/** Takes minutes, or repeats what the tests of whole gateways do. */
const longTest = (name: string, run: () => Promise<void>): void => {
  if (IS_LONG) test(name, run);
};

describe.skipIf(isWithoutNatsServer())("replicated log under faults", () => {
  let cluster: NatsCluster;
  let stream = "";
  let streams = 0;
  let gateways: LogGateway[] = [];
  let proxies: FaultProxy[] = [];
  /** Servers that were restored may never find a quorum for other streams again. */
  let areServersSpent = false;

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
    if (!areServersSpent) return;
    areServersSpent = false;
    await cluster.remove();
    cluster = await NatsCluster.start();
  });

  async function withNats<T>(run: (nats: NatsConnection) => Promise<T>): Promise<T> {
    const nats = await connect({ servers: cluster.urls() });
    try {
      return await run(nats);
    } finally {
      await nats.close();
    }
  }

  async function newGateway(
    servers: readonly string[],
    mirror?: MemoryMirror,
  ): Promise<LogGateway> {
    const gateway = await LogGateway.start({ servers, stream }, mirror);
    gateways.push(gateway);
    return gateway;
  }

  const threeGateways = (): Promise<LogGateway[]> =>
    Promise.all([0, 1, 2].map((from) => newGateway(cluster.urls(from))));

  async function newProxy(server: NatsServer): Promise<FaultProxy> {
    const proxy = await FaultProxy.start(server.url, stream);
    proxies.push(proxy);
    return proxy;
  }

  /** Every acknowledged batch is applied everywhere, once, in one order; a fresh reader agrees. */
  async function expectSound(load: Load, among: readonly LogGateway[] = gateways): Promise<void> {
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

  /** Of a gateway whose consumer is not at the stream's leader, if there is one. */
  async function consumerHost(): Promise<NatsServer> {
    const leader = await cluster.streamLeader(stream);
    const hosts = await cluster.consumerHosts(stream);
    return hosts.find((host) => host !== leader) ?? leader;
  }

  const victims = {
    "a follower": () => cluster.streamFollower(stream),
    "a consumer's host": () => consumerHost(),
    "the stream's leader": () => cluster.streamLeader(stream),
    "the meta leader": async () => (await cluster.metaLeader()) ?? cluster.servers[0]!,
  };
  const roles = Object.entries(victims);

  test("kill -9 of each server role", async () => {
    const load = Load.start(...(await threeGateways()));
    // The meta leader is often one of the others; the long form kills it too.
    for (const [role, find] of IS_LONG ? roles : roles.slice(0, 3)) {
      for (let time = 0; time < TIMES; time++) {
        await load.more(16);
        const victim = await find();
        const isLeader = victim === (await cluster.streamLeader(stream));
        const lateness = new Lateness(onTestFinished);
        load.resetGap();
        await victim.kill();
        await load.more(33);
        const gapMs = report(`${role}${isLeader ? " (stream leader)" : ""} killed`, load);
        // An election takes 4 to 9 s; other servers are not waited for.
        expect(gapMs).toBeLessThan((isLeader ? 15_000 : 3000) + lateness.allowedMs);
        victim.start();
        await cluster.inSync(stream);
      }
    }
    await load.stop();
    await expectSound(load);
  });

  longTest("all servers killed and started again", async () => {
    const load = Load.start(...(await threeGateways()));
    for (let time = 0; time < TIMES; time++) {
      await load.more(16);
      await Promise.all(cluster.servers.map((server) => server.kill()));
      load.resetGap();
      const lateness = new Lateness(onTestFinished);
      for (const server of cluster.servers) server.start();
      await load.more(16);
      const gapMs = report("all servers killed", load);
      expect(gapMs).toBeLessThan(15_000 + lateness.allowedMs);
      await cluster.inSync(stream);
    }
    await load.stop();
    await expectSound(load);
  });

  longTest("SIGSTOP of each server role for 3, 7 and 30 s", async () => {
    const load = Load.start(...(await threeGateways()));
    for (const [role, find] of roles) {
      for (const seconds of [3, 7, 30]) {
        await load.more(16);
        const paused = await find();
        load.resetGap();
        paused.pause();
        await delay(seconds * 1000);
        paused.resume();
        await load.more(16);
        report(`${role} paused for ${seconds} s`, load);
        await cluster.inSync(stream);
      }
    }
    await load.stop();
    await expectSound(load);
  });

  test("a proxy that drops the answers of publishes: nothing is doubled, nothing hangs", async () => {
    const proxy = await newProxy(cluster.servers[0]!);
    proxy.dropsAnswers = true;
    const load = Load.start(await newGateway([proxy.url]), await newGateway(cluster.urls()));
    await load.more(50 * TIMES);
    await load.stop();
    await expectSound(load);
  });

  test("a proxy that holds publishes and releases all copies: one is applied", async () => {
    for (let time = 0; time < TIMES; time++) {
      const proxy = await newProxy(cluster.servers[0]!);
      const held = await newGateway([proxy.url]);
      const other = await newGateway(cluster.urls(1));
      await held.publish(`held before ${time}`);
      proxy.hold();
      const late = held.publish(`late ${time}`);
      while (proxy.heldPublishes < 3) await delay(5);
      const load = Load.start(other);
      proxy.release();
      expect(await late).toBe(true);
      expect(await held.publish(`after ${time}`)).toBe(true);
      await load.more(10);
      await load.stop();
      await level(held, other);
      const texts = other.applied.map(({ text }) => text);
      expect(texts.filter((text) => text === `late ${time}`).length).toBe(1);
      await expectSound(load);
    }
  });

  longTest("a batch held back while 65,536 messages pass is dropped, and reported", async () => {
    const proxy = await newProxy(cluster.servers[0]!);
    const held = await newGateway([proxy.url]);
    await held.publish("before");
    proxy.hold();
    const late = held.publish("late");
    await withNats(async (nats) => {
      const subject = subjectOf(stream, "rubbish");
      for (let number = 0; number < CLAIM_WINDOW; number++) {
        // An answer now and then, so that the server is not flooded.
        if (number % 100 === 0) await nats.request(subject, "x", { timeout: 15_000 });
        else nats.publish(subject, "x");
      }
      await nats.flush();
    });
    while (held.mirror.end <= CLAIM_WINDOW) await delay(5);
    proxy.release();
    expect(await late).toBe(false);
    expect(held.dropped).toEqual([{ writer: held.writer, counter: 1 }]);
    expect(held.stopped).toBeUndefined();
    expect(held.log.status().chainDrops).toBe(1);
  });

  longTest("a server cut off from the others: gateways leave it", async () => {
    const [first, ...others] = cluster.servers;
    const gateway = await newGateway(cluster.urls());
    const load = Load.start(gateway);
    await load.more(10);
    await first!.kill();
    first!.start({ isolated: true });
    await delay(500);
    // It accepts connections and holds an old copy of the stream.
    await Promise.all(others.map((server) => server.kill()));
    while (gateway.log.status().server !== first!.url) await delay(10);
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
    expect(load.longestGapMs).toBeLessThan(2500 + lateness.allowedMs);
    await load.stop();
    await expectSound(load);
  });

  longTest(
    "two of three servers restored from an older copy: gateways stop, reseed restores",
    async () => {
      areServersSpent = true;
      const running = await threeGateways();
      const before = Load.start(...running);
      await before.more(33);
      const restored = cluster.servers.slice(0, 2);
      await Promise.all(restored.map((server) => server.kill()));
      for (const server of restored) {
        server.copyStore(join(cluster.folder, `${server.name}-copy`));
        server.start();
      }
      await before.more(33);
      await before.stop();
      await level(...running);
      const end = running[0]!.mirror.end;
      const load = Load.start(...running);
      await Promise.all(cluster.servers.map((server) => server.kill()));
      for (const server of restored) {
        server.restoreStore(join(cluster.folder, `${server.name}-copy`));
        server.start();
      }
      // The third server has all messages; it must not be there when the two elect a leader.
      await cluster.streamLeader(stream);
      cluster.servers[2]!.start();
      const { mirror } = running[0]!;
      const opened = expect(newGateway(cluster.urls(), mirror.upTo(mirror.end))).rejects.toThrow(
        "perpgate cluster reseed",
      );
      const errors = await Promise.all(running.map(({ log }) => log.stopped));
      await load.stop();
      // The copy may end in a message that no majority had, and that another one took the place of.
      for (const error of errors) {
        expect(error.message).toMatch(
          /the stream has (ended at sequence \d+ for 10 s, but .*|another message at sequence \d+ than .*) applied/,
        );
      }
      // What was acknowledged lies before the loss: nothing was answered on the restored stream.
      const longest = running.map(({ mirror }) => mirror).sort((a, b) => b.end - a.end)[0]!;
      expect(longest.end).toBeGreaterThanOrEqual(end);
      await opened;
      const mirrors = running.map(({ mirror }) => mirror);
      await Promise.all(running.map((gateway) => gateway.close()));
      gateways = [];
      await cluster.empty();
      const messages = longest.messages();
      await withNats((connection) => reseed({ connection, stream, messages, maxBytes: 1e9 }));
      const again = await Promise.all(mirrors.map((mirror) => newGateway(cluster.urls(), mirror)));
      expect(await again[0]?.publish("after the reseed")).toBe(true);
      await expectSound(before);
      await expectSound(load);
    },
  );

  test("a stream created again with other content stops the gateways", async () => {
    const gateway = await newGateway(cluster.urls());
    await gateway.publish("before");
    await withNats(async (nats) => {
      await nats.request(`$JS.API.STREAM.DELETE.${stream}`);
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
});

function report(what: string, { longestGapMs }: Load): number {
  console.log(`${what}: ${Math.round(longestGapMs)} ms without acknowledgements`);
  return longestGapMs;
}
