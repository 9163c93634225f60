/** What a client is answered when the log is slow, silent or lost, and clocks that are wrong. */

import { randomBytes } from "node:crypto";
import { FaultProxy, isWithoutNatsServer, Lateness } from "@perpgate/cluster/testing";
import { StreamClient } from "@perpgate/gateway/testing";
import type { Message } from "@perpgate/journal";
import { until } from "@perpgate/journal/testing";
import { ENGINE_VERSION, encodeRecord } from "@perpgate/venue";
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
import { askControl } from "../serve/control-socket.js";
import { type ClientAnswer, ProcessClient } from "../testing/client.js";
import { auditMirrors } from "./testing/audit.js";
import { ClusterLoad } from "./testing/cluster-load.js";
import { ConnectedHolders } from "./testing/connected-holders.js";
import { dropsAt, messagesWith } from "./testing/mirrored-messages.js";
import { RunningCluster, type RunningGateway } from "./testing/running-cluster.js";
import { NO_CLAIMS, StreamWriter } from "./testing/stream-writer.js";
import { LONGEST_WAIT_MS } from "./testing/waits.js";

const SLOWLY = { everyMs: 50 };
const TIMEOUT = 120_000;
const STREAM = "perpgate";
const ORDER = { symbol: "BTCUSD", side: "long", type: "market", margin: 5, leverage: 2 };
/** Nonces of single orders, which no trader of a load reaches; by what becomes of them. */
const HELD = 1_000_001;
const UNPUBLISHED = 1_000_002;
const TAKEN_OVER = 1_000_003;
const CORE_KILLED = 1_000_004;

describe.skipIf(isWithoutNatsServer())("cores behind a faulty line", { timeout: TIMEOUT }, () => {
  let cluster: RunningCluster;
  /** Of each core, which has no other way to the log. */
  const proxies: FaultProxy[] = [];
  /** Under all tests, also so that the history of a start is written all the time. */
  let load: ClusterLoad;
  let holders: ConnectedHolders;
  let client: ProcessClient;
  /** Why all drop the messages that the test has published. By sequence. */
  const foreign = new Map<number, string>();

  beforeAll(async () => {
    cluster = await RunningCluster.start(
      {
        gateways: 2,
        settings: { bots: false },
        servers: async (nats, member) => {
          const proxy = await FaultProxy.start(nats.urls()[member] ?? "", STREAM);
          proxies.push(proxy);
          return [proxy.url];
        },
      },
      afterAll,
    );
    afterAll(() => void Promise.all(proxies.map((proxy) => proxy.close())));
    await cluster.ready();
    holders = new ConnectedHolders([...cluster.gateways], afterAll);
    load = await ClusterLoad.start(cluster.urls, 4);
    client = new ProcessClient(cluster.gateway(1).url);
    expect((await client.signIn()).status).toBe(200);
  }, TIMEOUT);

  // No order may be canceled of a session that was connected during a whole test.
  beforeEach(() => holders.renew(), TIMEOUT);
  afterEach(() => holders.note(), TIMEOUT);

  /** Who leads, who stands by, and the lines of both. */
  async function roles() {
    await cluster.whole();
    const leader = await cluster.leader();
    const at = cluster.gateways.indexOf(leader);
    const [own, other] = [proxies[at], proxies[1 - at]];
    if (own === undefined || other === undefined) throw new Error("a gateway without a line");
    return { leader, standby: cluster.gateway(1 - at), own, other };
  }

  async function orders({ url }: RunningGateway, nonce: number): Promise<readonly unknown[]> {
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

  test("answers to publishes are dropped: trading goes on", async () => {
    const { own } = await roles();
    own.dropsAnswers = true;
    await load.more(100);
    own.dropsAnswers = false;
    await load.more(20);
  });

  test("publishes of all cores are held for ten seconds: the outcome is unknown, then the same nonce tells it", async () => {
    const { leader, standby, own, other } = await roles();
    const started = performance.now();
    const held = own.holdFrom(textOf(HELD));
    const answer = timely(client, { ...ORDER, nonce: HELD });
    await held;
    // Its claim.
    other.hold();
    // Behind the one in flight, and never published.
    const second = await timely(client.at(standby.url), { ...ORDER, nonce: UNPUBLISHED });
    expect(second).toMatchObject({ status: 503, body: { code: "not_executed" } });
    note(UNPUBLISHED, second);
    expect(await answer).toMatchObject({ status: 503, body: { code: "outcome_unknown" } });
    expect(performance.now() - started).toBeGreaterThanOrEqual(10_000);
    // The message that was held runs, and the same nonce is answered with what it did.
    own.release();
    await until(async () => (await orders(leader, HELD)).length > 0, { everyMs: 20 });
    other.release();
    for (const gateway of [leader, standby]) {
      const again = await placed(client.at(gateway.url), { ...ORDER, nonce: HELD });
      expect(again.status, JSON.stringify(again.body)).toBe(200);
      expect(again.headers.get("idempotent-replay")).toBe("true");
      note(HELD, again);
      expect(await orders(gateway, HELD)).toMatchObject([{ orderId: again.body.orderId }]);
    }
    await load.more(20);
  });

  test("publishes of the core that leads are held: another takes over and answers what was in flight, once", async () => {
    const { leader, standby, own } = await roles();
    const held = own.holdFrom(textOf(TAKEN_OVER));
    const answer = timely(client, { ...ORDER, nonce: TAKEN_OVER });
    await held;
    const taken = await answer;
    expect(taken.status, JSON.stringify(taken.body)).toBe(200);
    note(TAKEN_OVER, taken);
    await until(async () => (await cluster.leader()) === standby, SLOWLY);
    // Late: another message is in its place.
    own.release();
    await load.more(20);
    for (const gateway of [leader, standby]) {
      expect(await orders(gateway, TAKEN_OVER)).toMatchObject([{ orderId: taken.body.orderId }]);
    }
  });

  test("messages of strangers in the stream: dropped, trading goes on", async () => {
    const writer = await StreamWriter.connect(cluster.nats.urls(), STREAM);
    onTestFinished(() => writer.close());
    const expectDrop = async (reason: string, message: Message): Promise<void> => {
      foreign.set((await writer.publish(message)) ?? 0, reason);
    };
    const stopped = Promise.race(cluster.gateways.map((gateway) => gateway.process.ended));
    const own = { writer: randomBytes(16).toString("hex"), ...NO_CLAIMS };
    const left = encodeRecord({ kind: "WriterLeft", stampMs: Date.now() });
    await expectDrop("malformed", { ...own, counter: 0, records: [Uint8Array.of(1)] });
    // A gateway of release 0.2.
    await expectDrop("not_leading", { ...own, counter: 0, records: [joinRecord(own.writer)] });
    await expectDrop("writer_not_live", { ...own, counter: 1, records: [] });
    await expectDrop("writer_not_live", { ...own, counter: 1, records: [left] });
    expect(await Promise.race([load.more(20), stopped])).toBeUndefined();
    await cluster.ready();
  });

  test("a batch of a killed core arrives after another has claimed: the order runs once, when repeated", async () => {
    const { leader, standby, own } = await roles();
    const held = own.holdFrom(textOf(CORE_KILLED));
    const answer = timely(client.at(leader.url), { ...ORDER, nonce: CORE_KILLED });
    await held;
    const [lost] = await Promise.all([
      answer.then(
        () => "an answer",
        () => "none",
      ),
      leader.kill(),
    ]);
    expect(lost).toBe("none");
    await until(async () => (await cluster.leader()) === standby, SLOWLY);
    expect(own.heldPublishes).toBeGreaterThan(0);
    own.release();
    await leader.start();
    await load.more(20);
    for (const gateway of [leader, standby]) expect(await orders(gateway, CORE_KILLED)).toEqual([]);
    const again = await placed(client, { ...ORDER, nonce: CORE_KILLED });
    expect(again.status, JSON.stringify(again.body)).toBe(200);
    expect(again.headers.get("idempotent-replay")).toBeNull();
    note(CORE_KILLED, again);
  });

  test("SIGTERM of the core that leads while the log stalls, with a session's socket: exit 0", async () => {
    const { leader } = await roles();
    const { token } = client;
    const socket = await StreamClient.connect(leader.url, token);
    expect(await socket.ask({ op: "auth", token })).toMatchObject({ t: "ok" });
    for (const each of proxies) each.hold();
    leader.process.signal("SIGTERM");
    const ended = await leader.process.ended;
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    for (const each of proxies) each.release();
    await leader.start();
    await load.more(20);
  });

  test("afterwards nothing is lost or doubled, and all agree", async () => {
    await cluster.ready();
    await load.more(20);
    await load.stop();
    await cluster.stop();
    const mirrors = cluster.gateways.map(({ data }) => data);
    const log = await auditMirrors(mirrors, load);
    expect(holders.expectKept(log)).toBeGreaterThanOrEqual(mirrors.length);
    for (const folder of mirrors) {
      expect(dropsAt(folder, foreign.keys()), folder).toEqual(foreign);
      const nonces = [HELD, UNPUBLISHED, TAKEN_OVER, CORE_KILLED];
      const found = messagesWith(folder, nonces.map(textOf));
      const drops = [...found.values()].map((messages) => messages.map(({ dropped }) => dropped));
      // What another message has taken the place of is in no log.
      expect(drops, folder).toEqual([[null], [], [null], [null]]);
    }
  });
});

describe.skipIf(isWithoutNatsServer())("clocks", { timeout: 2 * TIMEOUT }, () => {
  const HOUR_MS = 3_600_000;
  let cluster: RunningCluster;
  let load: ClusterLoad;
  let holders: ConnectedHolders;
  let client: ProcessClient;
  let orders = 0;

  beforeAll(async () => {
    cluster = await RunningCluster.start({}, afterAll);
    await cluster.ready();
    load = await ClusterLoad.start(
      [1, 2].map((member) => cluster.gateway(member).url),
      2,
    );
    holders = new ConnectedHolders(cluster.gateways.slice(1), afterAll);
    client = new ProcessClient(cluster.gateway(1).url);
    expect((await client.signIn()).status).toBe(200);
  }, TIMEOUT);

  /** Until the core that leads has heard the clock to be that far ahead of its own. */
  async function untilAhead({ name }: RunningGateway, ms: number): Promise<void> {
    const isAhead = async () => {
      const leader = await cluster.leader();
      const { cores } = (await leader.status()).cluster;
      const { state, clockAheadMs = 0 } = cores.find((core) => core.name === name) ?? {};
      return state === "standby" && Math.abs(clockAheadMs - ms) < 1_000;
    };
    await until(() => isAhead().catch(() => false), SLOWLY);
  }

  test.each([
    ["an hour ahead of", HOUR_MS],
    ["an hour behind", -HOUR_MS],
    ["3 s ahead of", 3_000],
    ["3 s behind", -3_000],
  ])("the clock of a core is %s the others: it does not lead, and they say so", async (_, ms) => {
    const [wrong, right] = [cluster.gateway(0), cluster.gateway(1)];
    await holders.renew();
    await wrong.kill();
    wrong.clockShiftMs = ms;
    await wrong.start();
    const lateness = new Lateness(onTestFinished);
    await untilAhead(wrong, ms);
    // Whoever leads next, all sockets close and resume.
    await holders.note();
    const leader = await cluster.leader();
    expect(leader).not.toBe(wrong);
    // It is the first that is able, and it is not.
    await askControl(leader.data, { stepDown: "" }).catch(() => undefined);
    await load.more(20);
    expect(await cluster.leader()).not.toBe(wrong);
    const answer = await placed(client, { ...ORDER, nonce: ++orders });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const offMs = Math.abs((await right.status()).time - Date.now());
    lateness.expectWithin(offMs, 2_000);
  });

  test("a clock is put right while its core runs: it may lead, and alone it goes on", async () => {
    await load.stop();
    const wrong = cluster.gateway(0);
    const others = cluster.gateways.slice(1);
    // Its clock is right from now on.
    wrong.process.signalAll("SIGUSR2");
    await untilAhead(wrong, 0);
    // Its own readiness is in a later heartbeat: it must hear the others with its new clock first.
    const leads = async () => {
      const leader = await cluster.leader();
      if (leader !== wrong) await askControl(leader.data, { stepDown: wrong.name });
      return leader === wrong;
    };
    await until(() => leads().catch(() => false), SLOWLY);
    for (const other of others) await other.stop();
    const { time } = await wrong.status();
    // Longer than an index price is valid.
    await until(async () => (await wrong.status()).time >= time + 11_000, SLOWLY);
    const alone = new ProcessClient(wrong.url);
    expect((await alone.signIn()).status).toBe(200);
    const answer = await placed(alone, { ...ORDER, nonce: 1 });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    for (const other of others) await other.start();
    await cluster.whole();
  });

  test("afterwards nothing is lost or doubled, and all agree", async () => {
    await cluster.stop();
    const log = await auditMirrors(
      cluster.gateways.map(({ data }) => data),
      load,
    );
    expect(holders.expectKept(log)).toBeGreaterThanOrEqual(2);
  });
});

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
