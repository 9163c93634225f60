/** What a client is answered when the log is slow, silent or lost, and clocks that are wrong. */

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { FaultProxy, isWithoutNatsServer, Lateness } from "@perpgate/cluster/testing";
import { StreamClient } from "@perpgate/gateway/testing";
import { decodeMessage, type Message } from "@perpgate/journal";
import { until } from "@perpgate/journal/testing";
import { decodeRecord, ENGINE_VERSION, encodeRecord, verify } from "@perpgate/venue";
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
import { type ClientAnswer, ProcessClient } from "../testing/client.js";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";
import { auditMirrors } from "./testing/audit.js";
import { ClusterLoad } from "./testing/cluster-load.js";
import { ConnectedHolders } from "./testing/connected-holders.js";
import { dropsAt, messagesWith } from "./testing/mirrored-messages.js";
import { RunningCluster, RunningGateway } from "./testing/running-cluster.js";
import { NO_CLAIMS, StreamWriter } from "./testing/stream-writer.js";
import { LONGEST_WAIT_MS } from "./testing/waits.js";

const SLOWLY = { everyMs: 50 };
const IS_LONG = Number(process.env.PERPGATE_CLUSTER_RUNS ?? 1) > 1;
const TIMEOUT = 120_000;
const STREAM = "perpgate";
const ORDER = { symbol: "BTCUSD", side: "long", type: "market", margin: 5, leverage: 2 };
/** Nonces of single orders, which no trader of a load reaches; by what becomes of them. */
const HELD = 1_000_001;
const UNPUBLISHED = 1_000_002;
const WRITER_ENDED = 1_000_003;
const PROCESS_KILLED = 1_000_004;
const AT_CUT = 1_000_005;
const BEHIND_CUT = Array.from({ length: 12 }, (_, at) => AT_CUT + 1 + at);

describe.skipIf(isWithoutNatsServer())(
  "gateways behind a faulty line",
  { timeout: TIMEOUT },
  () => {
    let cluster: RunningCluster;
    /** Of each gateway, which has no other way to the log. */
    const proxies: FaultProxy[] = [];
    /** Under all tests, also so that the history of a start is written all the time. */
    let load: ClusterLoad;
    let holders: ConnectedHolders;
    let client: ProcessClient;
    /** Of a process that has ended before the others. */
    let shorterMirror = "";
    /** Why all drop the messages that the test has published; null if they apply them. By sequence. */
    const foreign = new Map<number, string | null>();

    beforeAll(async () => {
      cluster = await RunningCluster.start(
        {
          gateways: 2,
          nats: { canCutOff: true },
          servers: async (nats, member) => {
            const proxy = await FaultProxy.start(nats.urls()[member] ?? "", STREAM);
            proxies.push(proxy);
            return [proxy.url];
          },
        },
        afterAll,
      );
      afterAll(() => void Promise.all(proxies.map((proxy) => proxy.close())));
      holders = new ConnectedHolders([...cluster.gateways], afterAll);
      load = await ClusterLoad.start(cluster.urls, 4);
      client = new ProcessClient(cluster.gateway(1).url);
      expect((await client.signIn()).status).toBe(200);
    }, TIMEOUT);

    // No order may be canceled of a session that was connected during a whole test.
    beforeEach(() => holders.renew(), TIMEOUT);
    afterEach(() => holders.note(), TIMEOUT);

    const proxy = (member: number): FaultProxy => {
      const found = proxies[member];
      if (found === undefined) throw new Error(`no proxy ${member}`);
      return found;
    };

    async function orders(member: number, nonce: number): Promise<readonly unknown[]> {
      const { url } = cluster.gateway(member);
      for (;;) {
        const path = `/v1/orders?status=all&nonce=${nonce}`;
        const { body } = await client.at(url).request("GET", path);
        if (Array.isArray(body)) return body;
        expect(body).toMatchObject({ code: "lagging" });
      }
    }

    /** What the audit checks of a single order. */
    function note(nonce: number, answer: ClientAnswer | undefined): void {
      const { ackNonce, orderId, code } = answer?.body ?? {};
      const told = { session: Number(client.token.split(".")[1]), nonce };
      if (answer?.status === 200) {
        const ids = { ackNonce: Number(ackNonce), orderId: Number(orderId) };
        load.acknowledged.push({ ...told, ...ids });
      } else if (code === "not_executed") {
        load.notExecuted.push(told);
      }
    }

    /** Places an order at the second gateway, whose batch the proxy holds. */
    async function placeHeld(nonce: number): Promise<{ readonly answer: Promise<ClientAnswer> }> {
      const held = proxy(1).holdFrom(textOf(nonce));
      const answer = timely(client, { ...ORDER, nonce });
      await held;
      return { answer };
    }

    /** The first message of a gateway, its join, and the last one of the same writer. */
    async function firstAndLast(name: string): Promise<readonly [Message, Message]> {
      return cluster.nats.withManager(async ({ streams }) => {
        const read = async (query: { seq: number } | { last_by_subj: string }) => {
          const stored = await streams.getMessage(STREAM, query);
          const message = stored === null ? undefined : decodeMessage(stored.data);
          if (stored === null || message === undefined) throw new Error("not in the stream");
          return { message, subject: stored.subject };
        };
        for (let seq = 1; ; seq++) {
          const { message, subject } = await read({ seq });
          const [command] = message.records.map((record) => decodeRecord(record).command);
          if (command?.kind !== "WriterJoined" || command.name !== name) continue;
          return [message, (await read({ last_by_subj: subject })).message];
        }
      });
    }

    test("answers to publishes are dropped: trading goes on", async () => {
      proxy(1).dropsAnswers = true;
      await load.more(100);
      proxy(1).dropsAnswers = false;
      await load.more(20);
    });

    test("publishes are held for ten seconds: the outcome is unknown, then the same nonce tells it", async () => {
      const started = performance.now();
      const { answer } = await placeHeld(HELD);
      // Now nobody ticks, so no writer is ended.
      proxy(0).hold();
      // Behind the one in flight, and never published.
      const second = await timely(client, { ...ORDER, nonce: UNPUBLISHED });
      expect(second).toMatchObject({ status: 503, body: { code: "not_executed" } });
      note(UNPUBLISHED, second);
      expect(await answer).toMatchObject({ status: 503, body: { code: "outcome_unknown" } });
      expect(performance.now() - started).toBeGreaterThanOrEqual(10_000);
      for (const each of proxies) each.release();
      // The message that was held runs, and the same nonce is answered with what it did.
      await until(async () => (await orders(0, HELD)).length > 0, { everyMs: 20 });
      for (const [member, { url }] of cluster.gateways.entries()) {
        const again = await placed(client.at(url), { ...ORDER, nonce: HELD });
        expect(again.status, JSON.stringify(again.body)).toBe(200);
        expect(again.headers.get("idempotent-replay")).toBe("true");
        note(HELD, again);
        expect(await orders(member, HELD)).toMatchObject([{ orderId: again.body.orderId }]);
      }
      await load.more(20);
    });

    test("publishes of one gateway are held while the other ticks: its writer ends, not executed", async () => {
      const { answer } = await placeHeld(WRITER_ENDED);
      const ended = await answer;
      expect(ended).toMatchObject({ status: 503, body: { code: "not_executed" } });
      note(WRITER_ENDED, ended);
      await writers(cluster, ["gateway-1"]);
      proxy(1).release();
      await writers(cluster, ["gateway-1", "gateway-2"]);
      await load.more(20);
      for (const member of [0, 1]) expect(await orders(member, WRITER_ENDED)).toEqual([]);
    });

    test("malformed records, duplicates, gaps and used writer ids in the stream: dropped, trading goes on", async () => {
      const writer = await StreamWriter.connect(cluster.nats.urls(), STREAM);
      onTestFinished(() => writer.close());
      const expectDrop = async (reason: string | null, message: Message): Promise<void> => {
        foreign.set((await writer.publish(message)) ?? 0, reason);
      };
      const stopped = Promise.race(cluster.gateways.map((gateway) => gateway.process.ended));
      const expectTrading = async (): Promise<void> => {
        expect(await Promise.race([load.more(20), stopped])).toBeUndefined();
      };
      // The first gateway's first writer is live. The second gateway's has ended, and another has joined.
      const [join, last] = await firstAndLast("gateway-1");
      const [endedJoin, endedLast] = await firstAndLast("gateway-2");
      await expectDrop("counter_passed", last);
      await expectDrop("counter_passed", join);
      await expectDrop("counter_gap", { ...last, counter: last.counter + 1_000_000 });
      await expectDrop("writer_ended", endedJoin);
      const next = endedLast.counter + 1;
      await expectDrop("writer_not_live", { ...endedLast, counter: next, records: [] });
      await expectTrading();
      // A writer of a faulty release.
      const own = { writer: randomBytes(16).toString("hex"), ...NO_CLAIMS };
      const malformed = [Uint8Array.of(1)];
      const joined = [joinRecord(own.writer)];
      const left = [encodeRecord({ kind: "WriterLeft", stampMs: Date.now() })];
      await expectDrop("malformed", { ...own, counter: 0, records: malformed });
      await expectDrop(null, { ...own, counter: 0, records: joined });
      await expectDrop("malformed", { ...own, counter: 1, records: malformed });
      await expectDrop("malformed", { ...own, counter: 1, records: [...left, ...malformed] });
      await expectDrop("counter_gap", { ...own, counter: 2, records: [] });
      await expectDrop(null, { ...own, counter: 1, records: left });
      await expectDrop("writer_ended", { ...own, counter: 0, records: joined });
      await expectTrading();
      await writers(cluster, ["gateway-1", "gateway-2"]);
      await cluster.ready();
    });

    test("a batch of a killed process arrives after the next one has joined: the order runs once, when repeated", async () => {
      const { answer } = await placeHeld(PROCESS_KILLED);
      const [lost] = await Promise.all([
        answer.then(
          () => "an answer",
          () => "none",
        ),
        cluster.gateway(1).kill(),
      ]);
      expect(lost).toBe("none");
      // The late batch stays behind, the next process is not held.
      proxy(1).holdNoMore();
      await cluster.gateway(1).start();
      expect(proxy(1).heldPublishes).toBeGreaterThan(0);
      proxy(1).release();
      await load.more(20);
      for (const member of [0, 1]) expect(await orders(member, PROCESS_KILLED)).toEqual([]);
      const again = await placed(client, { ...ORDER, nonce: PROCESS_KILLED });
      expect(again.status, JSON.stringify(again.body)).toBe(200);
      expect(again.headers.get("idempotent-replay")).toBeNull();
      note(PROCESS_KILLED, again);
    });

    test("two processes of one name: the later join wins, the other joins again, trading goes on", async () => {
      const args = ["--log", cluster.nats.urls().join(","), "--config", cluster.config];
      const twin = new RunningGateway("gateway-2", temporaryFolder(afterAll), args, {}, afterAll);
      shorterMirror = twin.data;
      const inUse = /another process uses this gateway's name/;
      await twin.start();
      await cluster.gateway(1).process.printed(inUse, "stderr");
      // Its next join ends the twin's writer.
      await twin.process.printed(inUse, "stderr");
      await load.only([...cluster.urls, twin.url]);
      const target = load.acknowledged.length + 50;
      while (load.acknowledged.length < target) {
        const { writers: live } = (await cluster.gateway(0).status()).cluster;
        expect(["gateway-1", "gateway-1,gateway-2"]).toContain([...live].sort().join());
      }
      await load.only(cluster.urls);
      twin.process.signal("SIGTERM");
      expect(await twin.process.ended).toMatchObject({ code: 0 });
      await writers(cluster, ["gateway-1", "gateway-2"]);
      await cluster.ready();
    });

    test("a server cut off from the others: its gateway acknowledges nothing, and comes back with it", async () => {
      const server = cluster.nats.server("n2");
      // As the leader it goes on as one for some seconds, until the others have elected theirs.
      while (((await cluster.nats.streamLeader(STREAM)) === server) !== IS_LONG) {
        await cluster.nats.stepDown(STREAM);
        await load.more(5);
      }
      const { answer } = await placeHeld(AT_CUT);
      cluster.nats.cutOff(server);
      // To the server that is cut off.
      proxy(1).release();
      const behind = await Promise.all(
        BEHIND_CUT.map(async (nonce, at) => {
          await delay(250 * at);
          return timely(client, { ...ORDER, nonce });
        }),
      );
      expect(behind.map(({ status }) => status)).toEqual(BEHIND_CUT.map(() => 503));
      for (const [at, nonce] of BEHIND_CUT.entries()) note(nonce, behind[at]);
      expect(await cluster.gateway(1).isReady()).toBe(false);
      // The others are a majority.
      await load.more(50);
      const early = await Promise.race([answer, Promise.resolve()]);
      expect(early?.status).not.toBe(200);
      cluster.nats.rejoin();
      await cluster.nats.inSync(STREAM);
      await cluster.ready();
      const late = await answer;
      note(AT_CUT, late);
      if (late.body.code !== "not_executed") {
        note(AT_CUT, await placed(client, { ...ORDER, nonce: AT_CUT }));
      }
      for (const nonce of BEHIND_CUT) expect(await orders(1, nonce)).toEqual([]);
    });

    test("SIGTERM while the log does not take the join of a start, three times: exit 0", async () => {
      const holding = await FaultProxy.start(cluster.nats.urls()[0] ?? "", STREAM);
      onTestFinished(() => holding.close());
      holding.hold();
      const data = temporaryFolder();
      const log = ["--log", holding.url, "--name", "late", "--config", cluster.config];
      for (let round = 0; round < 3; round++) {
        const { publishes } = holding;
        const late = new PerpgateProcess(["serve", "--port", "0", "--data", data, ...log]);
        await until(() => holding.publishes !== publishes);
        late.signal("SIGTERM");
        expect(await late.ended, `round ${round}`).toMatchObject({ code: 0 });
      }
    });

    test("SIGTERM while the log stalls, with a session's socket: exit 0", async () => {
      const holding = await FaultProxy.start(cluster.nats.urls()[0] ?? "", STREAM);
      onTestFinished(() => holding.close());
      const args = ["--log", holding.url, "--config", cluster.config];
      const ending = new RunningGateway("ending", temporaryFolder(), args, {}, onTestFinished);
      await ending.start();
      const { token } = client;
      const socket = await StreamClient.connect(ending.url, token);
      expect(await socket.ask({ op: "auth", token })).toMatchObject({ t: "ok" });
      // Now nobody ticks, so no writer is ended.
      const all = [...proxies, holding];
      for (const each of all) each.hold();
      ending.process.signal("SIGTERM");
      expect(await ending.process.ended).toMatchObject({ code: 0 });
      for (const each of all) each.release();
      await load.more(20);
    });

    test("afterwards the gateways are writers, nothing is lost or doubled, and all agree", async () => {
      await cluster.ready();
      await load.more(20);
      await load.stop();
      await cluster.stop();
      const mirrors = cluster.gateways.map(({ data }) => data);
      const log = await auditMirrors(mirrors, load);
      expect(holders.expectKept(log)).toBeGreaterThanOrEqual(mirrors.length);
      expect(await verify(shorterMirror)).toMatchObject({ fault: null });
      const found = [...mirrors, shorterMirror].map((folder) => {
        const nonces = [HELD, UNPUBLISHED, WRITER_ENDED, PROCESS_KILLED];
        return [...messagesWith(folder, nonces.map(textOf)).values()];
      });
      for (const folder of [...mirrors, shorterMirror]) {
        expect(dropsAt(folder, foreign.keys()), folder).toEqual(foreign);
      }
      // Also a gateway that joined later has the late batches, and drops them.
      for (const messages of found) expect(messages).toEqual(found[0]);
      const [held, unpublished, ended, killed] = (found[0] ?? []).map((messages) =>
        messages.map(({ dropped }) => dropped),
      );
      expect(held).toEqual([null]);
      expect(unpublished).toEqual([]);
      expect(ended).toEqual(["writer_not_live"]);
      expect(killed).toEqual(["writer_not_live", null]);
    });
  },
);

describe.skipIf(isWithoutNatsServer())("clocks", { timeout: 2 * TIMEOUT }, () => {
  const HOUR_MS = 3_600_000;
  const PAUSE_MS = 2_000;
  /** The long form takes the time to start all gateways in each case. */
  const OFTEN_LAST: Place = IS_LONG ? "first" : "last";
  let cluster: RunningCluster;
  let load: ClusterLoad;
  let holders: ConnectedHolders;
  let client: ProcessClient;
  let orders = 0;

  beforeAll(async () => {
    // The gateway that is wrong begins alone, and then is the first to tick.
    const clockShiftMs = (member: number) => (member === 0 ? HOUR_MS : 0);
    cluster = await RunningCluster.start({ clockShiftMs }, afterAll);
    load = await ClusterLoad.start(
      [1, 2].map((member) => cluster.gateway(member).url),
      2,
    );
    holders = new ConnectedHolders(cluster.gateways.slice(1), afterAll);
    client = new ProcessClient(cluster.gateway(1).url);
    expect((await client.signIn()).status).toBe(200);
  }, TIMEOUT);

  /** Starts the first gateway again with a wrong clock, and the others so that it is that writer. */
  async function restart(place: Place, ms: number): Promise<void> {
    const [wrong, ...others] = cluster.gateways;
    if (wrong === undefined) throw new Error("no gateway");
    wrong.clockShiftMs = ms;
    if (place === "last" || ms > 0) {
      // One after the other, so that its clock is never the only one.
      for (const gateway of place === "last" ? [wrong] : cluster.gateways) {
        await gateway.stop();
        await gateway.start();
      }
      return;
    }
    await Promise.all(cluster.gateways.map((gateway) => gateway.kill()));
    // A gateway begins with the log's time at least, so as far behind the others as the log is now.
    await delay(PAUSE_MS);
    await wrong.start();
    await Promise.all(others.map((gateway) => gateway.start()));
  }

  test.each([
    ["first", "an hour ahead of", HOUR_MS],
    [OFTEN_LAST, "an hour behind", -HOUR_MS],
    [OFTEN_LAST, "3 s ahead of", 3_000],
    ["first", "3 s behind", -3_000],
  ] as const)(
    "the %s writer's clock is %s the others: time follows the majority, and it says so",
    async (place, _, ms) => {
      const [wrong, right] = [cluster.gateway(0), cluster.gateway(1)];
      const expectPlace = async (): Promise<void> => {
        const { writers: live } = (await wrong.status()).cluster;
        expect(live.at(place === "first" ? 0 : -1)).toBe(wrong.name);
      };
      if (wrong.clockShiftMs !== ms) await restart(place, ms);
      await writers(cluster, ["gateway-1", "gateway-2", "gateway-3"]);
      await expectPlace();
      await holders.renew();
      const side = ms > 0 ? "ahead of" : "behind";
      const named = new RegExp(
        `the clock of this gateway is [0-9]+ s ${side} the time that the majority has`,
      );
      await until(async () => named.test((await wrong.notReadyReason()) ?? ""), SLOWLY);
      const { time } = await right.status();
      expect(Math.abs(time - Date.now())).toBeLessThan(30_000);
      const answer = await placed(client, { ...ORDER, nonce: ++orders });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      const isClose = async () => Math.abs((await right.status()).time - Date.now()) <= 2_000;
      await until(isClose, SLOWLY);
      const lateness = new Lateness(onTestFinished);
      await load.more(20);
      const offMs = Math.abs((await right.status()).time - Date.now());
      lateness.expectWithin(offMs, 2_000);
      await expectPlace();
      await holders.note();
    },
  );

  test("a clock is put right while its gateway runs: it is ready, and alone it goes on", async () => {
    await load.stop();
    const wrong = cluster.gateway(0);
    const others = cluster.gateways.slice(1);
    await wrong.stop();
    // As after a boot: nothing shows how long it was stopped.
    await rm(join(wrong.data, "clock.json"));
    wrong.clockShiftMs = HOUR_MS;
    await wrong.start();
    const isAhead = async () => /ahead of the time/.test((await wrong.notReadyReason()) ?? "");
    const isReady = async () => (await wrong.notReadyReason()) === undefined;
    await until(isAhead, SLOWLY);
    // Its clock is right from now on.
    wrong.process.signalAll("SIGUSR2");
    await until(isReady, SLOWLY);
    for (const other of others) await other.stop();
    const { time } = await wrong.status();
    // Longer than an index price is valid.
    await until(async () => (await wrong.status()).time >= time + 11_000, SLOWLY);
    await until(isReady, SLOWLY);
    const alone = new ProcessClient(wrong.url);
    expect((await alone.signIn()).status).toBe(200);
    const answer = await placed(alone, { ...ORDER, nonce: 1 });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    for (const other of others) await other.start();
    await cluster.ready();
  });

  test("afterwards nothing is lost or doubled, and all agree", async () => {
    await cluster.stop();
    const log = await auditMirrors(
      cluster.gateways.map(({ data }) => data),
      load,
    );
    expect(holders.expectKept(log)).toBeGreaterThanOrEqual(4);
  });
});

/** In the order of joining. */
type Place = "first" | "last";

/** The join of a gateway that nobody runs. */
function joinRecord(writer: string): Uint8Array {
  const versions = [ENGINE_VERSION, ENGINE_VERSION] as const;
  const keys = { receiptKey: "", certificate: "" };
  const stampMs = Date.now();
  return encodeRecord({ kind: "WriterJoined", stampMs, writer, name: "faulty", versions, ...keys });
}

/** Part of the order's signed body, which the log has as evidence. */
function textOf(nonce: number): string {
  return `"nonce":${nonce}}`;
}

/** Until the first gateway sees exactly these. */
async function writers(cluster: RunningCluster, names: readonly string[]): Promise<void> {
  await until(async () => {
    const { writers: live } = (await cluster.gateway(0).status()).cluster;
    return [...live].sort().join() === names.join();
  }, SLOWLY);
}

/** Again with the same nonce as long as the log or the index is behind, as a client does. */
async function placed(client: ProcessClient, order: object): Promise<ClientAnswer> {
  return until(async () => {
    const answer = await timely(client, order);
    return answer.status === 503 || answer.body.code === "stale_index" ? undefined : answer;
  }, SLOWLY);
}

/** Places the order; fails if the answer takes longer than any may. */
async function timely(client: ProcessClient, order: object): Promise<ClientAnswer> {
  let stop: () => void = () => undefined;
  const lateness = new Lateness((end) => {
    stop = end;
  });
  const started = performance.now();
  const answer = await client.place(order).finally(() => stop());
  lateness.expectWithin(performance.now() - started, LONGEST_WAIT_MS);
  return answer;
}
