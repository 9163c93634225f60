/** What the client makes of answers: of the gateway's refusals, and of things in between. */

import { type FetchLike, type NewOrder, PerpgateError } from "@perpgate/sdk";
import { afterAll, describe, expect, test } from "vitest";
import { BID, newClient, newSession, startVenue } from "./venue.js";

const at = await startVenue({}, afterAll);

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
