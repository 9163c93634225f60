/** What the client makes of a bad network, one failure at a time. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  ConnectionError,
  type FetchLike,
  type NewOrder,
  PerpgateError,
  TimeoutError,
} from "@perpgate/sdk";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { CuttingProxy, type Direction, type Fate } from "./cutting-proxy.js";
import { BID, BUY, newClient, newSession, startVenue } from "./venue.js";

const at = await startVenue({}, afterAll);
/** A try that is answered at all is answered within this, on a loaded machine too. */
const SHORT = { timeoutMs: 2_000 };

/** Spoils the next chunk in a direction, and no other. */
function once(direction: Direction, fate: Fate): (of: Direction) => Fate {
  let isDone = false;
  return (of) => {
    if (isDone || of !== direction) return "pass";
    isDone = true;
    return fate;
  };
}

describe("an order whose answer does not come", () => {
  test.each<[string, Direction, Fate, boolean]>([
    ["cut before the request arrives", "up", "cut before", false],
    ["cut before the answer", "down", "cut before", true],
    ["cut within the answer", "down", "cut within", true],
    ["the answer is swallowed", "down", "swallow", true],
  ])("%s: sent again, placed once", async (_, direction, fate, replayed) => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, SHORT));
    for (const place of [
      () => session.placeOrder(BID),
      () => session.stream.placeOrder(BID),
    ] as const) {
      await session.cancelAll();
      if (session.stream.state === "idle")
        await session.stream.watchPreconfirms(() => undefined).ready;
      proxy.fate = once(direction, fate);
      const ack = await place();
      expect(ack).toMatchObject({ status: "resting", replayed });
      expect(await session.openOrders()).toMatchObject([{ orderId: ack.orderId }]);
      expect(await session.orders({ status: "all", nonce: ack.nonce })).toHaveLength(1);
    }
  });

  test("the network stays down: an error with the nonce, and by it the same order later", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, { retries: 2, ...SHORT }));
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

  test("nothing listens: not sent, and said so", async () => {
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

  test("a time-out: TimeoutError, after as many tries as were allowed", async () => {
    const proxy = await CuttingProxy.before(at.url);
    proxy.fate = (direction) => (direction === "down" ? "swallow" : "pass");
    const client = newClient(proxy);
    const error = await client.markets({ timeoutMs: 200, retries: 1 }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ name: "TimeoutError", attempts: 2, outcome: "unknown" });
  });

  test("a budget that is spent: no further try, however many are left", async () => {
    const proxy = await CuttingProxy.before(at.url);
    proxy.isDown = true;
    const client = newClient(proxy);
    const error = await client.markets({ retries: 1e6, budgetMs: 300 }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.attempts).toBeLessThan(20);
  });

  test("aborted: gives up at once, with the signal's reason", async () => {
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
      await expect.poll(() => proxy.chunks).toBeGreaterThan(connections);
      later.abort(reason);
      await expect(sent).rejects.toBe(reason);
    }
  });
});

describe("other requests whose answer does not come", () => {
  test("cancel: done once, and that is what is said", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, SHORT));
    await session.stream.watchPreconfirms(() => undefined).ready;
    for (const cancel of [
      (id: string) => session.cancelOrder(id),
      (id: string) => session.stream.cancelOrder(id),
    ]) {
      const { orderId, remainingSize } = await session.placeOrder(BID);
      proxy.fate = once("down", "cut before");
      expect(await cancel(orderId)).toEqual({ orderId, status: "canceled", remainingSize });
      // One that was canceled before is another matter.
      await expect(cancel(orderId)).rejects.toMatchObject({
        code: "order_not_cancelable",
        details: { status: "canceled" },
      });
    }
  });

  test("cancel of an order that was filled meanwhile: refused, whatever was lost", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const maker = await newSession(newClient(proxy, SHORT));
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

  test("rotate: the key that the venue has is the one that signs", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, SHORT));
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
    const session = await newSession(newClient(proxy, { retries: 1, ...SHORT }));
    const before = session.sessionKey;
    proxy.fate = (direction) => (direction === "down" ? "cut before" : "pass");
    await expect(session.rotate()).rejects.toBeInstanceOf(ConnectionError);
    proxy.fate = () => "pass";
    expect(await session.placeOrder(BID)).toMatchObject({ status: "resting" });
    expect(session.sessionKey).not.toBe(before);
    expect((await session.account()).session.sessionKey).toBe(session.sessionKey);
  });

  test("rotate while orders are under way: none is refused", async () => {
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

  test("signOut: ended, and a repetition does not complain", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, SHORT));
    proxy.fate = once("down", "cut before");
    await session.signOut();
    await expect(session.account()).rejects.toMatchObject({ code: "invalid_token" });
    await expect(session.signOut()).rejects.toMatchObject({ code: "invalid_token" });
  });

  test("deposit and reads: repeated", async () => {
    const proxy = await CuttingProxy.before(at.url);
    const session = await newSession(newClient(proxy, SHORT));
    proxy.fate = once("down", "cut within");
    const txHash = `0x${"17".repeat(32)}`;
    const { depositId } = await session.deposit({ chain: "ethereum", txHash, token: "USDT" });
    proxy.fate = once("up", "cut within");
    expect(await session.deposits()).toMatchObject([{ depositId }]);
  });
});

describe("answers of something in between", () => {
  /** Answers as told, then passes on to the gateway. */
  function answering(answers: readonly (() => Promise<Response>)[]): FetchLike {
    let number = 0;
    return (url, init) => answers[number++]?.() ?? fetch(url, init);
  }
  const html = (status: number) => async () =>
    new Response("<h1>Bad gateway</h1>", { status, headers: { "content-type": "text/html" } });

  test("502, 503, 504 without a body of ours: sent again", async () => {
    const client = newClient(at, { fetch: answering([html(502), html(503), html(504)]) });
    expect(await client.markets()).toHaveLength(3);
  });

  test("404 without a body of ours: says that this is no gateway", async () => {
    const client = newClient(at, { fetch: answering([html(404)]) });
    await expect(client.markets()).rejects.toMatchObject({
      name: "PerpgateError",
      code: "unexpected_answer",
      status: 404,
      message: expect.stringContaining("address of a gateway"),
    });
  });

  test("200 with something else: an error, not a surprise later", async () => {
    const json = (text: string) => async () => new Response(text);
    const client = newClient(at, { fetch: answering([json('{"hello":1}')]) });
    await expect(client.markets()).rejects.toMatchObject({ code: "unexpected_answer" });
    const cut = newClient(at, { fetch: answering([json('[{"symbol":"BTC')]) });
    expect(await cut.markets()).toHaveLength(3);
  });

  test("Retry-After: waited for, and beyond the budget reported", async () => {
    const busy = (seconds: string) => async () =>
      new Response(JSON.stringify({ code: "overloaded", message: "busy", requestId: "r" }), {
        status: 503,
        headers: { "retry-after": seconds },
      });
    const client = newClient(at, { fetch: answering([busy("1")]) });
    const startedAt = performance.now();
    expect(await client.markets()).toHaveLength(3);
    expect(performance.now() - startedAt).toBeGreaterThan(990);
    const late = newClient(at, { fetch: answering([busy("3600")]) });
    await expect(late.markets()).rejects.toMatchObject({
      code: "overloaded",
      retryAfterMs: 3_600_000,
      outcome: "refused",
    });
  });

  test("refused for good after a try without an answer: a 503 does not hide that", async () => {
    const lost = async () => {
      throw new TypeError("fetch failed");
    };
    const { token } = await newSession(newClient(at));
    expect(token).not.toBe("");
    const busy = async () =>
      new Response(JSON.stringify({ code: "overloaded", message: "busy", requestId: "r" }), {
        status: 503,
      });
    const client = newClient(at, { fetch: answering([lost, busy]), retries: 1 });
    await expect(client.markets()).rejects.toMatchObject({
      code: "overloaded",
      outcome: "unknown",
    });
  });
});

describe("errors", () => {
  test("carry code, status, field, details, request id and nonce, over REST and socket", async () => {
    const session = await newSession(newClient(at));
    for (const place of [
      session.placeOrder.bind(session),
      (order: NewOrder) => session.stream.placeOrder(order),
    ]) {
      const error = await place({ ...BID, margin: 1e6 }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(PerpgateError);
      expect(error).toMatchObject({
        name: "PerpgateError",
        code: "insufficient_margin",
        status: 400,
        field: "margin",
        requestId: expect.stringMatching(/./),
        message: expect.stringContaining("largest margin"),
        outcome: "refused",
        attempts: 1,
        nonce: expect.any(Number),
      });
    }
    await expect(session.placeOrder({ ...BID, leverage: 1.5 })).rejects.toMatchObject({
      code: "invalid_request",
      field: "leverage",
    });
    await expect(session.order("999999")).rejects.toMatchObject({
      code: "order_not_found",
      status: 404,
    });
    await expect(session.stream.cancelOrder("999999")).rejects.toMatchObject({
      code: "order_not_found",
      status: 404,
    });
    await expect(newClient(at).book("NOPE")).rejects.toMatchObject({ code: "market_not_found" });
    await expect(newClient(at).block(1e9)).rejects.toMatchObject({ code: "block_not_found" });
  });

  test("a nonce used by another body: nonce_conflict, with the acknowledgement it has", async () => {
    const session = await newSession(newClient(at));
    const { nonce, ackNonce } = await session.placeOrder(BID);
    await expect(session.placeOrder({ ...BID, margin: 50, nonce })).rejects.toMatchObject({
      code: "nonce_conflict",
      status: 409,
      message: expect.stringContaining(ackNonce),
    });
    for (const wrong of [-1, 0.5, 2 ** 53]) {
      await expect(session.placeOrder({ ...BID, nonce: wrong })).rejects.toThrow(RangeError);
    }
  });
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
