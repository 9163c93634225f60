/** Retries on a bad network, one failure at a time. */

import { createServer, type Server } from "node:http";
import { CuttingProxy, type Direction, type Fate } from "@perpgate/gateway/testing";
import { listening } from "@perpgate/protocol/testing";
import { ConnectionError, createSessionKey, type RequestLike, TimeoutError } from "@perpgate/sdk";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import {
  BID,
  BUY,
  eventually,
  newAccount,
  newClient,
  newSession,
  startVenue,
} from "./testing/venue.js";

const at = await startVenue({}, afterAll);
/** Long enough for any response, on a loaded machine too. */
const PATIENT = { timeoutMs: 50_000 };

/** Spoils the next chunk in one direction only. */
function once(direction: Direction, fate: Fate): (of: Direction) => Fate {
  let isDone = false;
  return (of) => {
    if (isDone || of !== direction) return "pass";
    isDone = true;
    return fate;
  };
}

describe("an order without a response", () => {
  test.each<[string, Direction, Fate, boolean]>([
    ["cut before the request arrives", "up", "cut before", false],
    ["cut before the answer", "down", "cut before", true],
    ["cut within the answer", "down", "cut within", true],
    ["the answer is swallowed", "down", "swallow", true],
  ])("%s: sent again, placed once", async (_, direction, fate, replayed) => {
    const proxy = await CuttingProxy.before(at.url);
    // A swallowed chunk is detected by the time-out only; the result is a replay in any case.
    const client = newClient(proxy, fate === "swallow" ? { timeoutMs: 1_500 } : PATIENT);
    const session = await newSession(client);
    for (const isByStream of [false, true]) {
      await session.cancelAll();
      // The socket is opened for its own order only: a frame about the other order might be the
      // spoiled chunk.
      if (isByStream) await session.stream.watchPreconfirms(() => undefined).ready;
      const place = () => (isByStream ? session.stream.placeOrder(BID) : session.placeOrder(BID));
      proxy.fate = once(direction, fate);
      const ack = await place();
      expect(ack).toMatchObject({ status: "resting", replayed });
      expect(await session.openOrders()).toMatchObject([{ orderId: ack.orderId }]);
      expect(await session.orders({ status: "all", nonce: ack.nonce })).toHaveLength(1);
    }
  });

  test("the network stays down: an error with the nonce, which places the same order later", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, { retries: 2, ...PATIENT }));
    proxy.fate = (direction) => (direction === "down" ? "cut before" : "pass");
    const error = await session.placeOrder(BID).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ outcome: "unknown", attempts: 3, nonce: expect.any(Number) });
    proxy.fate = () => "pass";
    const { nonce } = error instanceof ConnectionError ? error : {};
    // The fields in another order are the same order.
    const { price, symbol, ...rest } = BID;
    const ack = await session.placeOrder({ nonce, ...rest, symbol, price, postOnly: false });
    expect(ack).toMatchObject({ status: "resting", replayed: true, nonce });
    expect(await session.openOrders()).toHaveLength(1);
  });

  test("no listener: outcome not_sent", async () => {
    const server = createServer();
    const url = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const client = newClient({ url }, { retries: 1 });
    await expect(client.markets()).rejects.toMatchObject({
      name: "ConnectionError",
      outcome: "not_sent",
      attempts: 2,
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("a time-out: TimeoutError after the allowed tries", async () => {
    const proxy = await CuttingProxy.before(at.url);
    proxy.fate = (direction) => (direction === "down" ? "swallow" : "pass");
    const client = newClient(proxy);
    const error = await client.markets({ timeoutMs: 200, retries: 1 }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ name: "TimeoutError", attempts: 2, outcome: "unknown" });
  });

  test("a budget that is used up: no further try", async () => {
    const proxy = await CuttingProxy.before(at.url);
    proxy.isDown = true;
    const client = newClient(proxy);
    const error = await client.markets({ retries: 1e6, budgetMs: 300 }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.attempts).toBeLessThan(20);
  });

  test("aborted: ends immediately with the signal's reason", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, { timeoutMs: 3_600_000 }));
    proxy.fate = (direction) => (direction === "down" ? "swallow" : "pass");
    const reason = new Error("changed my mind");
    for (const place of [
      (signal: AbortSignal) => session.placeOrder(BID, { signal }),
      (signal: AbortSignal) => session.stream.placeOrder(BID, { signal }),
      (signal: AbortSignal) => session.positions({ signal }),
    ]) {
      const controller = new AbortController();
      const placing = place(controller.signal);
      controller.abort(reason);
      await expect(placing).rejects.toBe(reason);
      await expect(place(controller.signal)).rejects.toBe(reason);
      const later = new AbortController();
      const connections = proxy.chunks;
      const sent = place(later.signal);
      await eventually(() => proxy.chunks).toBeGreaterThan(connections);
      later.abort(reason);
      await expect(sent).rejects.toBe(reason);
    }
  });
});

/** A socket that records the orders it sends. */
function countingSocket() {
  const sent: string[] = [];
  class Counting extends WebSocket {
    override send(text: string): void {
      if (text.includes('"op":"order"')) sent.push(text);
      super.send(text);
    }
  }
  return { Counting, sent };
}

describe("orders on a socket that is lost", () => {
  test("several in flight: each error has the nonce of its own order", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const { Counting, sent } = countingSocket();
    const client = newClient(proxy, { retries: 0, ...PATIENT, WebSocket: Counting });
    const session = await newSession(client);
    await session.stream.watchPreconfirms(() => undefined).ready;
    proxy.fate = (direction) => (direction === "down" ? "swallow" : "pass");
    const orders = [100, 101, 102].map((margin) => ({ ...BID, margin }));
    const placing = Promise.all(
      orders.map((order) => session.stream.placeOrder(order).catch((error: unknown) => error)),
    );
    await eventually(() => sent.length).toBe(3);
    proxy.cutAll();
    const errors = await placing;
    proxy.fate = () => "pass";
    for (const [number, error] of errors.entries()) {
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ outcome: "unknown", attempts: 1 });
      const { nonce } = error instanceof ConnectionError ? error : {};
      const ack = await session.placeOrder({ ...BID, ...orders[number], nonce });
      expect(ack).toMatchObject({ status: "resting", nonce });
    }
    expect(await session.openOrders()).toHaveLength(3);
  });

  test("closed on purpose: no retry, outcome unknown", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const client = newClient(proxy, { timeoutMs: 3_600_000, retries: 1e6, budgetMs: 3_600_000 });
    const session = await newSession(client);
    await session.stream.watchPreconfirms(() => undefined).ready;
    proxy.fate = (direction) => (direction === "down" ? "swallow" : "pass");
    const { chunks } = proxy;
    const placing = session.stream.placeOrder(BID);
    await eventually(() => proxy.chunks).toBeGreaterThan(chunks);
    client.close();
    await expect(placing).rejects.toMatchObject({
      name: "ConnectionError",
      outcome: "unknown",
      isFinal: true,
      nonce: expect.any(Number),
    });
    await expect(session.stream.placeOrder(BID)).rejects.toMatchObject({
      outcome: "not_sent",
      attempts: 1,
    });
  });

  test("aborted in the send queue: never sent", async () => {
    const { Counting, sent } = countingSocket();
    const session = await newSession(newClient(at, { messagesPerSecond: 2, WebSocket: Counting }));
    const controller = new AbortController();
    const { signal } = controller;
    // At two per second, more than can be sent before the first response, on a busy machine too.
    const count = 100;
    const placing = Array.from({ length: count }, () => session.stream.placeOrder(BID, { signal }));
    const settled = Promise.allSettled(placing);
    await placing[0];
    controller.abort(new Error("changed my mind"));
    await settled;
    const before = sent.length;
    expect(before).toBeLessThan(count);
    // It comes after everything in the queue.
    await session.stream.placeOrder(BID);
    expect(sent.length).toBe(before + 1);
  });
});

describe("other requests without a response", () => {
  test("cancel: done once, reported as success", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, PATIENT));
    await session.stream.watchPreconfirms(() => undefined).ready;
    for (const cancel of [
      (id: string) => session.cancelOrder(id),
      (id: string) => session.stream.cancelOrder(id),
    ]) {
      const { orderId, remainingSize } = await session.placeOrder(BID);
      proxy.fate = once("down", "cut before");
      // With its receipt, unless only the refusal of the second request told that the first was executed.
      const {
        ackNonce: _ackNonce,
        expectedBlock: _expectedBlock,
        time: _time,
        receipt: _receipt,
        leaf: _leaf,
        ...rest
      } = await cancel(orderId);
      expect(rest).toEqual({ orderId, status: "canceled", remainingSize });
      // An order that was canceled before the call is an error.
      await expect(cancel(orderId)).rejects.toMatchObject({
        code: "order_not_cancelable",
        details: { status: "canceled" },
      });
    }
  });

  test("cancel of an order that was filled meanwhile: refused", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const maker = await newSession(newClient(proxy, PATIENT));
    const taker = await newSession(newClient(at));
    const { orderId } = await maker.placeOrder({ ...BID, price: 64_990 });
    proxy.fate = once("up", "cut before");
    const filled = taker.placeOrder({ ...BUY, side: "short" });
    await filled;
    await expect(maker.cancelOrder(orderId)).rejects.toMatchObject({
      code: "order_not_cancelable",
      details: { status: "filled" },
    });
  });

  test("rotate: the venue's key signs", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, PATIENT));
    const before = session.sessionKey;
    proxy.fate = once("down", "cut before");
    const { sessionKey } = await session.rotate();
    expect(sessionKey).not.toBe(before);
    expect((await session.account()).session.sessionKey).toBe(sessionKey);
    expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
    proxy.fate = once("up", "cut before");
    await session.rotate();
    expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
  });

  test("rotate, and the network stays down: settled before the next order", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, { retries: 1, ...PATIENT }));
    const before = session.sessionKey;
    proxy.fate = (direction) => (direction === "down" ? "cut before" : "pass");
    await expect(session.rotate()).rejects.toBeInstanceOf(ConnectionError);
    proxy.fate = () => "pass";
    expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
    expect(session.sessionKey).not.toBe(before);
    expect((await session.account()).session.sessionKey).toBe(session.sessionKey);
  });

  test("rotate, and the network stays down: saved with both keys, a restored session settles it", async () => {
    for (const cut of ["up", "down"]) {
      const proxy = await CuttingProxy.before(at.url);
      const session = await newSession(newClient(proxy, { retries: 1, ...PATIENT }));
      proxy.fate = (direction) => (direction === cut ? "cut before" : "pass");
      await expect(session.rotate()).rejects.toBeInstanceOf(ConnectionError);
      const restored = newClient(at).restore(JSON.parse(JSON.stringify(session.save())));
      expect(await restored.placeOrder(BID)).toMatchObject({ status: "resting" });
      expect((await restored.account()).session.sessionKey).toBe(restored.sessionKey);
      // One that was not executed may still be, by a gateway that is stalled.
      expect(restored.save().nextSessionKey === undefined).toBe(cut === "down");
    }
  });

  test("rotate lands after it was given up: the next request is signed with the new key", async () => {
    for (const way of ["rest", "socket", "other"] as const) {
      const held: (() => Promise<unknown>)[] = [];
      const fetch = async (url: string, init: RequestLike) => {
        if (!url.endsWith("/rotate") || held.length > 0) return globalThis.fetch(url, init);
        const { signal: _, ...rest } = init;
        held.push(() => globalThis.fetch(url, rest));
        throw new TypeError("fetch failed");
      };
      const session = await newSession(newClient(at, { fetch, retries: 0 }));
      const before = session.sessionKey;
      await expect(session.rotate()).rejects.toBeInstanceOf(ConnectionError);
      expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
      expect(session.sessionKey).toBe(before);
      expect(session.save()).toHaveProperty("nextSessionKey");
      await held[0]?.();
      if (way === "other") await session.rotate();
      const sender = way === "socket" ? session.stream : session;
      expect(await sender.placeOrder(BID)).toMatchObject({ status: "resting" });
      expect(session.sessionKey).not.toBe(before);
      expect((await session.account()).session.sessionKey).toBe(session.sessionKey);
      expect(session.save()).not.toHaveProperty("nextSessionKey");
    }
  });

  test("rotate while orders are in flight: none is refused", async () => {
    const session = await newSession(newClient(at));
    const placing = Array.from({ length: 20 }, () => session.placeOrder(BID));
    const rotating = session.rotate();
    const later = Array.from({ length: 20 }, () => session.stream.placeOrder(BID));
    const again = session.rotate();
    const acks = await Promise.all([...placing, ...later]);
    await Promise.all([rotating, again]);
    expect(new Set(acks.map(({ orderId }) => orderId)).size).toBe(40);
    expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
  });

  test("rotate by another holder of the session, whose keys are learned: no order is refused", async () => {
    const session = await newSession(newClient(at));
    const other = newClient(at).restore(session.save());
    const next = await createSessionKey({ saveable: true });
    const saved = other.save();
    const { kind, publicKey, secret = "" } = next;
    session.learnKeys({ ...saved, nextSessionKey: { kind, publicKey, secret } });
    // The venue still has the old key.
    expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
    await other.rotate({ sessionKey: next });
    const acks = await Promise.all([session.placeOrder(BID), session.stream.placeOrder(BID)]);
    expect(acks).toMatchObject([{ status: "resting" }, { status: "resting" }]);
    expect(session.sessionKey).toBe(next.publicKey);
    await session.rotate();
    other.learnKeys(session.save());
    expect(await other.placeOrder(BID)).toMatchObject({ status: "resting" });
    expect(() => session.learnKeys({ ...saved, token: "other.1" })).toThrow(TypeError);
  });

  test("signOut: ended, a repeat succeeds", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, PATIENT));
    proxy.fate = once("down", "cut before");
    await session.signOut();
    await expect(session.account()).rejects.toMatchObject({ code: "invalid_token" });
    await expect(session.signOut()).rejects.toMatchObject({ code: "invalid_token" });
  });

  test("endSession: ended, a repeat succeeds", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const account = newAccount();
    await newClient(at).signIn({ account });
    const session = await newClient(proxy, PATIENT).signIn({ account });
    const other = (await session.sessions()).find(({ current }) => !current);
    const id = other?.id ?? "";
    proxy.fate = once("down", "cut before");
    await session.endSession(id);
    expect(await session.sessions()).toMatchObject([{ current: true }]);
    // One that had ended before the call is an error.
    await expect(session.endSession(id)).rejects.toMatchObject({ code: "session_not_found" });
  });

  test("ended or canceled before the call, and only the first try is refused: an error", async () => {
    let limited = "";
    const fetch = async (url: string, init: RequestLike) => {
      if (limited === "" || !url.includes(limited)) return globalThis.fetch(url, init);
      limited = "";
      const body = { code: "rate_limited", message: "too many requests", requestId: "1" };
      return Response.json({ ...body, details: { retryAfterMs: 1 } }, { status: 429 });
    };
    const account = newAccount();
    await newClient(at).signIn({ account });
    const session = await newClient(at, { ...PATIENT, fetch }).signIn({ account });
    const id = (await session.sessions()).find(({ current }) => !current)?.id ?? "";
    await session.endSession(id);
    limited = id;
    const ended = session.endSession(id);
    await expect(ended).rejects.toMatchObject({ code: "session_not_found", attempts: 2 });
    const { orderId } = await session.placeOrder(BID);
    await session.cancelOrder(orderId);
    limited = orderId;
    const canceled = session.cancelOrder(orderId);
    await expect(canceled).rejects.toMatchObject({ code: "order_not_cancelable", attempts: 2 });
  });

  test("deposit and reads: repeated", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, PATIENT));
    proxy.fate = once("down", "cut within");
    const txHash = `0x${"17".repeat(32)}`;
    const { depositId } = await session.deposit({ chain: "ethereum", txHash, token: "USDT" });
    proxy.fate = once("up", "cut within");
    expect(await session.deposits()).toMatchObject([{ depositId }]);
  });
});

async function listen(server: Server): Promise<string> {
  onTestFinished(() => {
    server.close();
  });
  return `http://127.0.0.1:${await listening(server)}`;
}
