/**
 * Clients of a cluster of real processes whose cores lead by turns: a session, a nonce and a stream position
 * are valid at every gateway, and a client with all addresses goes on elsewhere when its gateway dies. The
 * last test audits every core's mirror. The counts are short here; `PERPGATE_FAILOVER_RUNS=1000` is the long form.
 */

import { setTimeout as delay } from "node:timers/promises";
import { isWithoutNatsServer, Lateness } from "@perpgate/cluster/testing";
import { until } from "@perpgate/journal/testing";
import { newPrivateKey, PerpgateClient, privateKeyAccount, type Session } from "@perpgate/sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type ClientAnswer, ProcessClient } from "../testing/client.js";
import { type Acknowledged, auditMirrors } from "./testing/audit.js";
import { RunningCluster, type RunningGateway } from "./testing/running-cluster.js";
import { Waits } from "./testing/waits.js";

const RUNS = Number(process.env.PERPGATE_FAILOVER_RUNS ?? 0);
const LOOPS = RUNS || 12;
const RACES = RUNS || 20;
const MOVES = RUNS || 20;
const WITHIN = { timeout: 180_000 + RUNS * 2_000 };
const STREAM = "perpgate";
/** A market takes 500 of an account. */
const MOST_OPEN = 100;
/** Sessions that nobody has announced for 25 ticks count as disconnected. */
const GONE_MS = 6_000;
/** Answers that ask for the same again: no gateway has done it. */
const AGAIN = new Set(["lagging", "not_executed", "not_ready", "overloaded", "stale_index"]);
const BID = { symbol: "BTCUSD", side: "long", type: "limit", margin: 5, leverage: 2 } as const;

describe.skipIf(isWithoutNatsServer())("clients of a cluster", () => {
  let cluster: RunningCluster;
  let price: number;
  let waits: Waits;
  /** By all tests. */
  const acknowledged: Acknowledged[] = [];

  const atEnd: (() => unknown)[] = [];

  afterAll(async () => {
    for (const end of atEnd.reverse()) await end();
  });

  beforeAll(async () => {
    cluster = await RunningCluster.start({ cores: 3 }, (end) => atEnd.push(end));
    waits = new Waits();
    await cluster.ready();
    const client = newClient(cluster.urls);
    const [market] = await client.markets();
    price = Math.round((market?.markPrice ?? 0) * 0.9);
    client.close();
  }, 180_000);

  const noteOrder = ({ ackNonce, orderId }: Readonly<Record<string, unknown>>): void => {
    acknowledged.push({ ackNonce: Number(ackNonce), orderId: Number(orderId) });
  };

  function holder(url: string): RunningGateway {
    const found = cluster.gateways.find((gateway) => gateway.url === url);
    if (found === undefined) throw new Error(`no gateway at ${url}`);
    return found;
  }

  /** Two gateways whose cores stand by. */
  async function standbys(): Promise<readonly RunningGateway[]> {
    const leader = await cluster.leader();
    return cluster.gateways.filter((gateway) => gateway !== leader);
  }

  /** The first answer of another kind: the servers may elect a leader meanwhile. */
  function answered(send: () => Promise<ClientAnswer>): Promise<ClientAnswer> {
    return waits.timed(async () => {
      const ask = async () => {
        const answer = await send();
        return AGAIN.has(String(answer.body.code)) ? undefined : answer;
      };
      return until(ask, { everyMs: 50 });
    });
  }

  test.each([
    ["stands by", 1_000],
    ["leads", 3_000],
  ])(
    "gateway killed whose core %s: the trader goes on within %i ms, each order once",
    WITHIN,
    async (role, withinMs) => {
      const leader = await cluster.leader();
      const [standby = leader] = await standbys();
      const first = role === "leads" ? leader : standby;
      const client = closing(newClient(cluster.urls));
      client.useGateway(first.url);
      const session = await signedIn(client);
      const streamed: string[] = [];
      const canceled: string[] = [];
      await session.stream.watchPreconfirms(({ ackNonce }) => streamed.push(ackNonce)).ready;
      await session.stream.watchOrders(({ orders }) => {
        for (const { orderId, status } of orders) if (status === "canceled") canceled.push(orderId);
      }).ready;
      await session.stream.cancelOnDisconnect(true);
      const acks: { readonly ackNonce: string; readonly orderId: string; readonly at: number }[] =
        [];
      const errors: unknown[] = [];
      let isOver = false;
      const trade = async (at: Pick<Session, "placeOrder">): Promise<void> => {
        while (!isOver) {
          try {
            const placed = waits.timed(() => at.placeOrder({ ...BID, price }));
            const { ackNonce, orderId } = await placed;
            acks.push({ ackNonce, orderId, at: performance.now() });
          } catch (error) {
            errors.push(error);
          }
          await delay(10);
        }
      };
      const traders = [trade(session), trade(session), trade(session.stream)];
      await until(() => acks.length >= 30);
      expect(client.url).toBe(first.url);
      const moved: number[] = [];
      client.onGateway(() => moved.push(performance.now()));
      const lateness = new Lateness(onTestFinished);
      const killed = performance.now();
      await first.kill();
      await until(() => acks.filter(({ at }) => at > killed + 5).length >= 30);
      const socketOpen = performance.now();
      lateness.stop();
      isOver = true;
      await Promise.all(traders);
      const after = acks.map(({ at }) => at - killed).filter((ms) => ms > 5);
      const gapMs = Math.min(...after);
      console.log(
        `moved ${Math.round((moved[0] ?? 0) - killed)} ms after the kill, next acknowledgement after ${Math.round(gapMs)} ms, thirty after ${Math.round(socketOpen - killed)} ms`,
      );
      expect(errors).toEqual([]);
      expect(client.url).not.toBe(first.url);
      const movedMs = (moved[0] ?? Number.POSITIVE_INFINITY) - killed;
      lateness.expectWithin(movedMs, 1_000);
      lateness.expectWithin(gapMs, withinMs);
      // After 25 ticks the log ends the dead gateway's sockets; the session has another by then.
      const other = holder(client.url);
      const { time } = await other.status();
      await until(async () => (await other.status()).time > time + GONE_MS, { everyMs: 50 });
      const open = (await session.openOrders()).map(({ orderId }) => orderId);
      expect([...open].sort()).toEqual(acks.map(({ orderId }) => orderId).sort());
      expect(canceled).toEqual([]);
      for (const { ackNonce, orderId } of acks) noteOrder({ ackNonce, orderId });
      await until(() => streamed.length >= acks.length);
      const given = acks.map(({ ackNonce }) => Number(ackNonce)).sort((a, b) => a - b);
      expect(streamed.map(Number)).toEqual(given);
      await first.start();
      await cluster.ready();
    },
  );

  test(
    "all servers and gateways are restarted one by one: no order fails, each is streamed once",
    WITHIN,
    async () => {
      const client = closing(newClient(cluster.urls));
      const session = await signedIn(client);
      const { stream } = session;
      const streamed: string[] = [];
      await stream.watchPreconfirms(({ ackNonce }) => streamed.push(ackNonce)).ready;
      const given: string[] = [];
      const errors: unknown[] = [];
      let isOver = false;
      const trade = async (at: Pick<Session, "placeOrder">): Promise<void> => {
        for (let order = 1; !isOver; order++) {
          try {
            const { ackNonce, orderId } = await at.placeOrder({ ...BID, price });
            noteOrder({ ackNonce, orderId });
            given.push(ackNonce);
            if (order % MOST_OPEN === 0) await session.cancelAll();
          } catch (error) {
            errors.push(error);
          }
          await delay(20);
        }
      };
      const traders = [trade(session), trade(session), trade(stream)];
      /** Orders go on after each step. */
      const more = async (): Promise<void> => {
        const before = given.length;
        await until(() => given.length >= before + 30);
      };
      await more();
      for (const server of cluster.nats.servers) {
        await server.stop();
        await more();
        server.start();
        await cluster.nats.ready();
        await cluster.nats.inSync(STREAM);
      }
      for (const gateway of cluster.gateways) {
        await gateway.stop();
        await more();
        await gateway.start();
        await cluster.ready();
      }
      await more();
      isOver = true;
      await Promise.all(traders);
      expect(errors).toEqual([]);
      await until(() => streamed.length >= given.length);
      const inOrder = given.map(Number).sort((a, b) => a - b);
      expect(streamed.map(Number)).toEqual(inOrder);
    },
  );

  test("sign in, order, cancel at three gateways: always known", WITHIN, async () => {
    for (let run = 0; run < LOOPS; run++) {
      const [a, b, c] = [0, 1, 2].map((at) => cluster.gateway((run + at) % 3)) as [
        RunningGateway,
        RunningGateway,
        RunningGateway,
      ];
      const trader = new ProcessClient(a.url);
      expect(await answered(() => trader.signIn())).toMatchObject({ status: 200 });
      const placed = await answered(() => trader.at(b.url).place({ ...BID, price, nonce: 1 }));
      expect(placed, `run ${run}`).toMatchObject({ status: 200 });
      noteOrder(placed.body);
      const path = `/v1/orders/${placed.body.orderId}`;
      const canceled = await answered(() => trader.at(c.url).request("POST", `${path}/cancel`, {}));
      expect(canceled, `run ${run}`).toMatchObject({ status: 200, body: { status: "canceled" } });
      const position = canceled.headers.get("perpgate-position") ?? "";
      const known = { "perpgate-min-position": position };
      for (const { url } of [b, a]) {
        const { body } = await answered(() =>
          trader.at(url).request("GET", path, undefined, known),
        );
        expect(body, `run ${run}`).toMatchObject({ status: "canceled" });
      }
    }
  });

  test("one sign-in, one nonce at three gateways concurrently: one of each", WITHIN, async () => {
    for (let run = 0; run < RACES; run++) {
      const trader = new ProcessClient(cluster.gateway(0).url);
      const message = await trader.signInBody();
      const signIns = await Promise.all(
        cluster.urls.map((url) =>
          answered(() => trader.at(url).request("POST", "/v1/auth/siwe", message)),
        ),
      );
      const accepted = signIns.filter(({ status }) => status === 200);
      const refused = signIns.filter(({ status }) => status !== 200);
      expect(accepted, JSON.stringify(signIns)).toHaveLength(1);
      expect(refused.map(codeOf)).toEqual(["siwe_nonce_used", "siwe_nonce_used"]);
      trader.token = String(accepted[0]?.body.token);
      const order = { ...BID, price, nonce: 7 };
      const placed = await Promise.all(
        cluster.urls.map((url) => answered(() => trader.at(url).place(order))),
      );
      expect(placed.map(({ status }) => status)).toEqual([200, 200, 200]);
      for (const { body } of placed) noteOrder(body);
      const [one, ...others] = placed.map(acknowledgementOf);
      for (const other of others) expect(other).toEqual(one);
      const { body } = await trader.request("GET", "/v1/orders?nonce=7&status=all");
      expect(body).toHaveLength(1);
    }
  });

  test("a socket that moves cancels nothing; its last holder killed does", WITHIN, async () => {
    const client = closing(newClient(cluster.urls));
    const session = await signedIn(client);
    const { stream } = session;
    const streamed: string[] = [];
    await stream.watchPreconfirms(({ ackNonce }) => streamed.push(ackNonce)).ready;
    await stream.cancelOnDisconnect(true);
    const placed: string[] = [];
    const open: string[] = [];
    for (let move = 0; move < MOVES; move++) {
      const before = await waits.timed(() => stream.placeOrder({ ...BID, price }));
      const { url } = cluster.gateway(move % cluster.urls.length);
      client.useGateway(url);
      const after = await waits.timed(() => session.placeOrder({ ...BID, price }));
      await until(() => stream.gateway === url);
      for (const { ackNonce, orderId } of [before, after]) noteOrder({ ackNonce, orderId });
      placed.push(before.orderId, after.orderId);
      open.push(before.orderId, after.orderId);
      while (open.length > MOST_OPEN) {
        await waits.timed(() => session.cancelOrder(open.shift()!));
      }
    }
    const openIds = async () => (await session.openOrders()).map(({ orderId }) => orderId);
    expect(await openIds()).toEqual(open);
    await until(() => streamed.length >= placed.length);
    expect(streamed).toEqual(placed);
    // A socket that cannot move: this client has one address.
    const [last, other] = await standbys();
    if (last === undefined || other === undefined) throw new Error("two of three stand by");
    const lone = closing(newClient([last.url])).restore(session.save());
    await lone.stream.watchOrders(() => undefined).ready;
    client.useGateway(other.url);
    stream.close();
    await delay(500);
    expect(await openIds()).toEqual(open);
    const lateness = new Lateness(onTestFinished);
    const killed = performance.now();
    await last.kill();
    await until(async () => (await openIds()).length === 0);
    const canceledMs = performance.now() - killed;
    console.log(`orders canceled ${Math.round(canceledMs)} ms after the last holder was killed`);
    lateness.expectWithin(canceledMs, 6_500);
    await last.start();
    await cluster.ready();
  });

  test("afterwards: nothing lost, nothing twice; all agree", WITHIN, async () => {
    waits.stop();
    await cluster.stop();
    await auditMirrors(
      cluster.gateways.map(({ data }) => data),
      { acknowledged, notExecuted: [], expectShortWaits: () => waits.expectShort() },
    );
  });
});

function newClient(urls: readonly string[]): PerpgateClient {
  return new PerpgateClient({ url: urls });
}

function closing(client: PerpgateClient): PerpgateClient {
  onTestFinished(() => client.close());
  return client;
}

function signedIn(client: PerpgateClient): Promise<Session> {
  return client.signIn({ account: privateKeyAccount(newPrivateKey()) });
}

function codeOf({ body }: ClientAnswer): unknown {
  return body.code;
}

/** Without what differs by gateway and try. */
function acknowledgementOf({ body }: ClientAnswer): object {
  const { elapsedMs: _elapsed, receipt: _receipt, ...ack } = body;
  return ack;
}
