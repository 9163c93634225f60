/**
 * Cancel-on-disconnect over real sockets: every way a socket can close, and what races with it.
 */

import { until } from "@perpgate/journal/testing";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { HeldOrders } from "../venue/testing/held-orders.js";
import { newFolder, type RunningVenue, runVenue } from "../venue/testing/running-venue.js";
import { newSessionKey, Trader } from "../venue/testing/trader.js";
import { StreamClient } from "./testing/stream-client.js";

async function openOrders(trader: Trader): Promise<number> {
  return (await trader.list("/v1/orders")).length;
}

/** What became of the trader's orders, oldest first. */
async function fates(trader: Trader): Promise<unknown[]> {
  const orders = await trader.list("/v1/orders?status=all");
  return orders.map(({ status, reason }) => reason ?? status).reverse();
}

async function rest(trader: Trader, price = 64_000): Promise<void> {
  const { status, text } = await trader.place(trader.limit("long", price, { margin: 1 }));
  if (status !== 200) throw new Error(text);
}

/** A socket whose session has the option on. */
async function careful(at: RunningVenue, trader: Trader): Promise<StreamClient> {
  const client = await StreamClient.connect(at.url, trader.token);
  const answer = await client.ask({ op: "session", cancelOnDisconnect: true });
  expect(answer).toMatchObject({ t: "ok", d: { op: "session", cancelOnDisconnect: true } });
  return client;
}

const shared = await runVenue(
  { sockets: { messagesPerSecond: 1e6, messagesBurst: 1e6 } },
  afterAll,
);
// Sockets of the previous test may still be closing.
beforeEach(() => until(() => shared.streams.size === 0));

/** A trader with the option on, an order in the book and a stop. */
async function begin(at = shared) {
  const trader = await Trader.enter(at);
  const client = await careful(at, trader);
  await rest(trader);
  await trader.place(trader.order({ type: "stop", price: 70_000, symbol: "BTCUSD" }));
  expect(await openOrders(trader)).toBe(2);
  return { at, trader, client };
}

/** Two sockets of one session, the first with an order whose signature is still being checked. */
async function beginWithOrderInFlight() {
  const held = new HeldOrders();
  const { at, trader, client } = await begin(await runVenue({ held }));
  const second = await StreamClient.connect(at.url, trader.token);
  await second.settled();
  held.hold();
  const body = JSON.stringify(trader.limit("long", 63_000, { margin: 1 }));
  client.send({ op: "order", body, sig: trader.signatureOf(body)["x-service-sig"] });
  await until(() => held.waiting === 1);
  return { at, trader, client, second, held };
}

describe("the option", () => {
  test("session: off at first, shown by the account once it is on, and off again", async () => {
    const at = shared;
    const trader = await Trader.enter(at);
    const shown = async () => (await trader.get("/v1/account")).body.session;
    expect(await shown()).toMatchObject({ cancelOnDisconnect: false });
    const client = await careful(at, trader);
    expect(await shown()).toMatchObject({ cancelOnDisconnect: true });
    await rest(trader);
    const off = await client.ask({ op: "session", cancelOnDisconnect: false });
    expect(off.d).toMatchObject({ cancelOnDisconnect: false });
    await client.close();
    await until(() => at.streams.size === 0);
    await at.execute({ kind: "CancelAfter", stampMs: at.nowMs(), session: 0, afterMs: 0 });
    expect(await openOrders(trader)).toBe(1);
    expect(at.streamFaults).toEqual([]);
  });

  test("session: a token, a boolean and room under the cancels' limit are needed", async () => {
    const at = await runVenue({ limits: { cancelsPerSecond: 0.001, cancelsBurst: 1 } });
    const trader = await Trader.enter(at);
    const stranger = await StreamClient.connect(at.url);
    const refused = await stranger.ask({ op: "session", cancelOnDisconnect: true });
    expect(refused).toMatchObject({ t: "error", d: { code: "token_required" } });
    const client = await StreamClient.connect(at.url, trader.token);
    for (const wrong of [{}, { cancelOnDisconnect: 1 }, { cancelOnDisconnect: "true" }]) {
      const { t, d } = await client.ask({ op: "session", ...wrong });
      expect([t, d.code, d.field]).toEqual(["error", "invalid_request", "cancelOnDisconnect"]);
    }
    await client.ask({ op: "session", cancelOnDisconnect: true });
    const again = await client.ask({ op: "session", cancelOnDisconnect: false });
    expect(again.d).toMatchObject({ code: "rate_limited", details: { limit: "cancels" } });
  });
});

describe("the last socket closes", () => {
  const ways: Readonly<Record<string, (client: StreamClient) => void>> = {
    "closed by the client": (client) => client.socket.close(),
    "cut without a word": (client) => client.socket.terminate(),
    "closed for a malformed message": (client) => client.socket.send("x".repeat(70_000)),
  };
  for (const [way, go] of Object.entries(ways)) {
    test(`${way}: the session's orders are canceled, others' stay`, async () => {
      const { at, trader, client } = await begin();
      const other = await Trader.enter(at);
      await rest(other);
      // A second sign-in of the same account.
      const first = trader.token;
      await trader.signIn();
      await rest(trader, 63_000);
      go(client);
      await until(async () => (await openOrders(trader)) === 1);
      expect(await fates(trader)).toEqual(["disconnected", "disconnected", "resting"]);
      expect(await openOrders(other)).toBe(1);
      // The session goes on, and so does the option: back again, and gone again.
      trader.token = first;
      const back = await StreamClient.connect(at.url, first);
      await back.close();
      await until(() => at.streams.size === 0);
      expect(await openOrders(trader)).toBe(1);
      expect(at.streamFaults).toEqual([]);
    });
  }

  test("heartbeat: a socket that answers no ping is destroyed, and its orders are canceled", async () => {
    // Long enough for its messages to arrive on a busy machine.
    const { trader, client } = await begin(await runVenue({ sockets: { pingIntervalMs: 3_000 } }));
    client.socket.pause();
    await until(async () => (await openOrders(trader)) === 0);
    expect(await fates(trader)).toEqual(["disconnected", "disconnected"]);
  });

  test("too slow: closed above its cap, and its orders are canceled", async () => {
    const sockets = {
      roomBytes: 65_536,
      maxBufferedBytes: 65_536,
      closeTimeoutMs: 100,
      messagesPerSecond: 1e6,
      messagesBurst: 1e6,
    };
    const { at, trader, client } = await begin(await runVenue({ sockets }));
    client.socket.pause();
    // Each is answered by as many errors, which fill the pipe sooner than anything else.
    const streams = Array.from({ length: 256 }, (_, i) => `none.${i}`);
    await until(() => {
      if (at.streams.size > 0) client.send({ op: "subscribe", streams });
      return at.streams.size === 0;
    });
    await until(async () => (await openOrders(trader)) === 0);
  });

  test("another token on the same socket: the first session is left", async () => {
    const { at, trader, client } = await begin();
    const other = await Trader.enter(at);
    await rest(other);
    expect((await client.ask({ op: "auth", token: other.token })).t).toBe("ok");
    await until(async () => (await openOrders(trader)) === 0);
    expect(await openOrders(other)).toBe(1);
    expect((await client.ask({ op: "subscribe", streams: ["orders"] })).t).toBe("ok");
  });

  test("two sockets: nothing happens until both are gone; rotation changes nothing", async () => {
    const { at, trader, client } = await begin();
    const second = await StreamClient.connect(at.url, trader.token);
    await second.settled();
    const before = at.venue.seq;
    await client.close();
    await until(() => at.streams.size === 1);
    await second.settled();
    expect([await openOrders(trader), at.venue.seq]).toEqual([2, before]);
    trader.sessionKey = newSessionKey();
    expect((await trader.rotate(trader.sessionKey.publicHex)).status).toBe(200);
    second.socket.terminate();
    await until(async () => (await openOrders(trader)) === 0);
  });
});

describe("what races with the loss", () => {
  test("reconnected immediately: orders of the new socket stay, earlier ones are canceled", async () => {
    const { at, trader, client } = await begin();
    client.socket.terminate();
    await until(() => at.streams.size === 0);
    const back = await StreamClient.connect(at.url, trader.token);
    const body = JSON.stringify(trader.limit("long", 63_000, { margin: 1 }));
    const { "x-service-sig": sig } = trader.signatureOf(body);
    expect((await back.ask({ op: "order", body, sig })).t).toBe("ok");
    expect(await fates(trader)).toEqual(["disconnected", "disconnected", "resting"]);
  });

  test("back before the old socket is gone: nothing is canceled", async () => {
    const { at, trader, client } = await begin();
    const back = await StreamClient.connect(at.url, trader.token);
    await back.settled();
    client.socket.terminate();
    await until(() => at.streams.size === 1);
    await back.settled();
    expect(await openOrders(trader)).toBe(2);
  });

  test("orders that the lost socket sent last: none outlives it", async () => {
    const held = new HeldOrders();
    const { at, trader, client } = await begin(await runVenue({ held }));
    held.hold();
    for (let i = 0; i < 5; i++) {
      const body = JSON.stringify(trader.limit("long", 63_000, { margin: 1 }));
      client.send({ op: "order", body, sig: trader.signatureOf(body)["x-service-sig"] });
    }
    await until(() => held.waiting === 5);
    client.socket.terminate();
    await until(async () => (await openOrders(trader)) === 0);
    held.release();
    await until(async () => (await fates(trader)).length === 7);
    await until(async () => (await openOrders(trader)) === 0);
    expect(new Set(await fates(trader))).toEqual(new Set(["disconnected"]));
    expect(at.streamFaults).toEqual([]);
  });

  test("orders that one of two lost sockets sent last: none outlives the session's sockets", async () => {
    const { at, trader, client, second, held } = await beginWithOrderInFlight();
    // The socket with the order in flight closes first, while the other is still bound to the session.
    client.socket.terminate();
    await until(() => at.streams.size === 1);
    second.socket.terminate();
    await until(async () => (await openOrders(trader)) === 0);
    held.release();
    await until(async () => (await fates(trader)).length === 3);
    await until(async () => (await openOrders(trader)) === 0);
    expect(await fates(trader)).toEqual(["disconnected", "disconnected", "disconnected"]);
    expect(at.streamFaults).toEqual([]);
  });

  test("orders that a lost socket sent last: they stay while another socket is bound to the session", async () => {
    const { at, trader, client, second, held } = await beginWithOrderInFlight();
    client.socket.terminate();
    await until(() => at.streams.size === 1);
    const before = at.venue.seq;
    held.release();
    await until(async () => (await openOrders(trader)) === 3);
    await second.settled();
    // The order, and no SessionDisconnected.
    expect(at.venue.seq).toBe(before + 1);
  });

  test("the option itself was sent last: it counts", async () => {
    const at = shared;
    const trader = await Trader.enter(at);
    await rest(trader);
    const client = await StreamClient.connect(at.url, trader.token);
    client.socket.send('{"op":"session","cancelOnDisconnect":true}', () => {
      client.socket.terminate();
    });
    await until(async () => (await openOrders(trader)) === 0);
  });

  test("signing out: the orders go with the session, before the answer", async () => {
    const { trader, client } = await begin();
    const first = trader.token;
    await trader.signIn();
    const second = trader.token;
    trader.token = first;
    expect((await trader.signOut()).status).toBe(200);
    trader.token = second;
    expect(await fates(trader)).toEqual(["disconnected", "disconnected"]);
    expect((await client.closed).code).toBe(4401);
  });

  test("expiry: the orders go with the session", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at, {
      expirationTime: new Date(at.nowMs() + 5_000).toISOString(),
    });
    const client = await careful(at, trader);
    await rest(trader);
    await at.advance(5_000);
    expect((await client.closed).code).toBe(4401);
    await trader.signIn();
    expect(await fates(trader)).toEqual(["disconnected"]);
  });

  test("reconnecting all the time: limited before it can fill the log", async () => {
    const { at, trader, client } = await begin();
    const other = await Trader.enter(at);
    const before = at.venue.seq;
    // Far more than the bucket refills meanwhile, even on a slow machine.
    for (let i = 0; i < 2_000; i++) {
      client.send({ op: "auth", token: other.token });
      client.send({ op: "auth", token: trader.token });
    }
    const { d } = await client.next("error");
    expect(d).toMatchObject({ code: "rate_limited", details: { limit: "sockets" } });
    await client.settled();
    expect(at.venue.seq - before).toBeLessThan(1_000);
    expect(at.streamFaults).toEqual([]);
  });
});

describe("the gateway stops", () => {
  test("an orderly stop: the orders are canceled before the venue stops", async () => {
    const { at, trader, client } = await begin(await runVenue());
    expect(at.venue.views.openOrders(1)).toHaveLength(2);
    const { seq: position } = at.venue;
    await at.gateway.drain(5_000);
    expect((await client.closed).code).toBe(1001);
    expect(at.venue.views.openOrders(1)).toEqual([]);
    expect(at.venue.seq).toBe(position + 1);
    await at.stop();
    const after = await runVenue({ directory: at.directory });
    expect(await fates(trader.movedTo(after))).toEqual(["disconnected", "disconnected"]);
  });

  test("a stop that has to destroy sockets: the same", async () => {
    const { at, client } = await begin(await runVenue());
    expect(at.venue.views.openOrders(1)).toHaveLength(2);
    client.socket.pause();
    await at.gateway.drain(1);
    expect(at.venue.views.openOrders(1)).toEqual([]);
  });

  test("a venue that ends first: the next start cancels, and keeps the option", async () => {
    const directory = newFolder();
    const { at, trader } = await begin(await runVenue({ directory }));
    // Nothing can be submitted any more: for the orders this is a crash.
    await at.venue.close();
    const after = await runVenue({ directory });
    const back = trader.movedTo(after);
    expect(await fates(back)).toEqual(["disconnected", "disconnected"]);
    expect((await back.get("/v1/account")).body.session).toMatchObject({
      cancelOnDisconnect: true,
    });
    await rest(back);
    const client = await StreamClient.connect(after.url, back.token);
    await client.close();
    await until(async () => (await openOrders(back)) === 0);
    expect(at.streamFaults).toEqual([]);
  });
});
