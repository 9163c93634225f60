/** Responses of a gateway and of proxies. */

import { type FetchLike, type NewOrder, PerpgateError } from "@perpgate/sdk";
import { afterAll, describe, expect, test } from "vitest";
import { ASK, BID, BUY, newClient, newSession, startVenue } from "../testing/venue.js";

const at = await startVenue({}, afterAll);

describe("responses of a proxy", () => {
  /** Returns the given responses, then those of the gateway. */
  function respondingWith(responses: readonly (() => Promise<Response>)[]): FetchLike {
    let number = 0;
    return (url, init) => responses[number++]?.() ?? fetch(url, init);
  }
  const html = (status: number) => async () =>
    new Response("<h1>Bad gateway</h1>", { status, headers: { "content-type": "text/html" } });

  test("502, 503, 504 without an error body: sent again", async () => {
    const client = newClient(at, { fetch: respondingWith([html(502), html(503), html(504)]) });
    expect(await client.markets()).toHaveLength(3);
  });

  test("404 without an error body: the error says that this is not a gateway", async () => {
    const client = newClient(at, { fetch: respondingWith([html(404)]) });
    await expect(client.markets()).rejects.toMatchObject({
      name: "PerpgateError",
      code: "unexpected_answer",
      status: 404,
      message: expect.stringContaining("address of a gateway"),
    });
  });

  test("200 with another body: an error", async () => {
    const json = (text: string) => async () => new Response(text);
    const client = newClient(at, { fetch: respondingWith([json('{"hello":1}')]) });
    await expect(client.markets()).rejects.toMatchObject({ code: "unexpected_answer" });
    const cut = newClient(at, { fetch: respondingWith([json('[{"symbol":"BTC')]) });
    expect(await cut.markets()).toHaveLength(3);
  });

  test("Retry-After: waited for, reported if beyond the budget", async () => {
    const busy = (seconds: string) => async () =>
      new Response(JSON.stringify({ code: "overloaded", message: "busy", requestId: "r" }), {
        status: 503,
        headers: { "retry-after": seconds },
      });
    const client = newClient(at, { fetch: respondingWith([busy("1")]) });
    const startedAt = performance.now();
    expect(await client.markets()).toHaveLength(3);
    expect(performance.now() - startedAt).toBeGreaterThan(990);
    const late = newClient(at, { fetch: respondingWith([busy("3600")]) });
    await expect(late.markets()).rejects.toMatchObject({
      code: "overloaded",
      retryAfterMs: 3_600_000,
      outcome: "refused",
    });
  });

  test("refused after a try without a response: a 503 does not hide that", async () => {
    const lost = async () => {
      throw new TypeError("fetch failed");
    };
    const { token } = await newSession(newClient(at));
    expect(token).not.toBe("");
    const busy = async () =>
      new Response(JSON.stringify({ code: "overloaded", message: "busy", requestId: "r" }), {
        status: 503,
      });
    const client = newClient(at, { fetch: respondingWith([lost, busy]), retries: 1 });
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

test("a list that ends where the venue's history begins: told, and not of one that goes on", async () => {
  const windowed = await startVenue({ retention: { hotMs: 60_000 }, outboxCommands: 4 });
  const told: number[] = [];
  const client = newClient(windowed, { onHistoryBefore: (position) => told.push(position) });
  const maker = await newSession(client);
  const taker = await newSession(client);
  const trade = async () => {
    await windowed.setIndex("BTCUSD", 65_000);
    await maker.placeOrder({ ...ASK, price: 65_010, margin: 1_000 });
    await taker.placeOrder(BUY);
  };
  await trade();
  expect(await taker.fills()).toHaveLength(1);
  expect(told).toEqual([]);
  await windowed.advance(90_000);
  await trade();
  expect(await taker.fills({ limit: 1 })).toHaveLength(1);
  expect(told).toEqual([]);
  expect(await taker.fills()).toHaveLength(1);
  expect(told).toEqual([windowed.venue.history.historyBefore]);
  const ofThisCall: number[] = [];
  const rows = await taker.fills({ onHistoryBefore: (position) => ofThisCall.push(position) });
  expect([rows.length, ofThisCall, told.length]).toEqual([1, told, 1]);
});
