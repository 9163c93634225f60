/**
 * The outcome of an order that may have been placed: "unknown" until a response proves what the try
 * that may have placed it did.
 */

import type { ErrorCode } from "@perpgate/protocol";
import { ERROR_TABLE } from "@perpgate/protocol/core";
import { type FetchLike, PerpgateClient, type SavedSession, type Session } from "@perpgate/sdk";
import { afterAll, describe, expect, test } from "vitest";
import { BID, eventually, newClient, newSession, startVenue } from "./testing/venue.js";

const at = await startVenue({}, afterAll);
const saved = (
  await newSession(
    newClient(at, {}, (close) => afterAll(close)),
    { saveable: true },
  )
).save();

type Step = () => Promise<Response>;

const refusal =
  (code: string, status: number): Step =>
  async () =>
    new Response(JSON.stringify({ code, message: "so it is", requestId: "r" }), { status });
/** A response of a gateway. */
const given = (code: ErrorCode): Step => refusal(code, ERROR_TABLE[code].status);
const page =
  (status: number): Step =>
  async () =>
    new Response("<h1>Forbidden</h1>", { status });
const cut: Step = async () => {
  throw new TypeError("fetch failed");
};
const nobodyListens: Step = async () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  throw new TypeError("fetch failed", { cause });
};

/** A session whose requests take one step each; the last step repeats. */
function meeting(steps: readonly Step[], session: SavedSession = saved): Session {
  let number = 0;
  const step: FetchLike = () => {
    const next = steps[Math.min(number++, steps.length - 1)];
    if (next === undefined) throw new RangeError("no step");
    return next();
  };
  return new PerpgateClient({ url: at.url, fetch: step, retries: 3 }).restore(session);
}

describe("stopped: the log may have the order, and the next start may execute it", () => {
  test("503 stopped, then no listener until the budget ends: unknown", async () => {
    const session = meeting([given("stopped"), nobodyListens]);
    await expect(session.placeOrder(BID, { budgetMs: 1_500, retries: 1e6 })).rejects.toMatchObject({
      name: "ConnectionError",
      outcome: "unknown",
      nonce: expect.any(Number),
    });
  });

  test("503 stopped and no more tries: unknown, over REST and over the socket", async () => {
    const stopping = await startVenue();
    const session = await newSession(newClient(stopping, { retries: 1 }));
    let isLive = false;
    await session.stream.watchPreconfirms(() => {
      isLive = true;
    }).ready;
    // A stream that is still being read when the venue stops takes its socket with it.
    await session.placeOrder(BID);
    await eventually(() => isLive).toBe(true);
    await stopping.venue.close();
    for (const place of [() => session.placeOrder(BID), () => session.stream.placeOrder(BID)]) {
      await expect(place()).rejects.toMatchObject({
        code: "stopped",
        status: 503,
        outcome: "unknown",
        attempts: 2,
      });
    }
  });

  test("503 stopped for a rotation: the key is read from the venue", async () => {
    const asked: string[] = [];
    const stopping: FetchLike = (url, init) => {
      if (!url.endsWith("/rotate")) asked.push(url);
      return url.endsWith("/rotate") ? given("stopped")() : fetch(url, init);
    };
    const client = new PerpgateClient({ url: at.url, fetch: stopping, retries: 0 });
    const session = client.restore(saved);
    await expect(session.rotate()).rejects.toMatchObject({ code: "stopped" });
    expect(asked).toEqual([`${at.url}/v1/account`]);
    expect(session.sessionKey).toBe(saved.sessionKey.publicKey);
  });

  test("503 overloaded: refused, nothing was done", async () => {
    await expect(meeting([given("overloaded")]).placeOrder(BID)).rejects.toMatchObject({
      outcome: "refused",
      attempts: 4,
    });
  });
});

describe("a response after a try without one", () => {
  test.each<[string, Step]>([
    [
      "401 invalid_token: the session ended meanwhile, judged before the nonce",
      given("invalid_token"),
    ],
    ["401 invalid_signature: the key changed meanwhile", given("invalid_signature")],
    ["403 page of a proxy", page(403)],
    ["404 page of a proxy", page(404)],
    ["404 not_found: a gateway that has no such path", given("not_found")],
    ["400 malformed_request: the connection was out of step", given("malformed_request")],
    ["400 nonce_too_old: it would be forgotten by now", given("nonce_too_old")],
    ["409 with a code of the future", refusal("newer_rule", 409)],
  ])("%s: does not settle it", async (_, answer) => {
    await expect(meeting([cut, answer]).placeOrder(BID)).rejects.toMatchObject({
      name: "PerpgateError",
      outcome: "unknown",
      attempts: 2,
    });
  });

  test("429 until the budget ends: sent before the nonce is looked up, does not settle it", async () => {
    const session = meeting([cut, given("rate_limited")]);
    await expect(session.placeOrder(BID, { budgetMs: 500 })).rejects.toMatchObject({
      code: "rate_limited",
      outcome: "unknown",
    });
  });

  test.each<ErrorCode>([
    "insufficient_margin",
    "invalid_request",
    "not_in_cohort",
    "session_symbol_not_allowed",
    "session_notional_cap_exceeded",
    "nonce_conflict",
    "price_outside_band",
  ])("%s: judged after the nonce, or of the bytes alone: settles it", async (code) => {
    await expect(meeting([cut, given(code)]).placeOrder(BID)).rejects.toMatchObject({
      code,
      outcome: "refused",
      attempts: 2,
    });
  });

  test("the same responses to the only try: refused", async () => {
    for (const answer of [given("invalid_token"), page(403), given("nonce_too_old")]) {
      await expect(meeting([answer]).placeOrder(BID)).rejects.toMatchObject({
        outcome: "refused",
        attempts: 1,
      });
    }
  });
});

describe("several gateways", () => {
  const GATEWAYS = ["http://a.test", "http://b.test"];
  const margin = { code: "insufficient_margin" };

  /** A session whose orders take one step each; `asked` gets the gateway of each. */
  function meetingAt(steps: readonly Step[], asked: string[] = []): Session {
    const step: FetchLike = async (url) => {
      const next = steps[Math.min(asked.length, steps.length - 1)];
      if (!url.endsWith("/orders") || next === undefined) return Response.json({ status: "ready" });
      asked.push(new URL(url).origin);
      return next();
    };
    return new PerpgateClient({ url: GATEWAYS, fetch: step }).restore(saved);
  }

  test("a refusal by the next gateway does not settle a try that the first one may still publish", async () => {
    const asked: string[] = [];
    const session = meetingAt([cut, given("insufficient_margin")], asked);
    const unknown = { ...margin, outcome: "unknown", attempts: 2, nonce: expect.any(Number) };
    await expect(session.placeOrder(BID)).rejects.toMatchObject(unknown);
    expect(new Set(asked).size).toBe(2);
  });

  test.each<ErrorCode>(["too_late", "nonce_conflict"])(
    "%s holds at every gateway: settles it",
    async (code) => {
      const placed = meetingAt([cut, given(code)]).placeOrder(BID);
      await expect(placed).rejects.toMatchObject({ code, outcome: "refused", attempts: 2 });
    },
  );

  test("a refusal of the only try, or after one that was not executed: refused", async () => {
    for (const steps of [[], [given("not_executed")], [nobodyListens]]) {
      const placed = meetingAt([...steps, given("insufficient_margin")]).placeOrder(BID);
      await expect(placed).rejects.toMatchObject({ ...margin, outcome: "refused" });
    }
  });

  test("an order repeated with its nonce: any gateway may have the earlier try", async () => {
    const repeated = meetingAt([given("insufficient_margin")]).placeOrder({ ...BID, nonce: 7 });
    await expect(repeated).rejects.toMatchObject({ ...margin, outcome: "unknown", nonce: 7 });
  });
});

describe("an order with a given nonce", () => {
  const ANSWERS: readonly Step[] = [
    given("rate_limited"),
    given("invalid_token"),
    given("nonce_too_old"),
    given("not_executed"),
    given("overloaded"),
    nobodyListens,
  ];
  const call = { budgetMs: 300, retries: 0 };

  test("an order repeated with its nonce: 429, 401, nonce_too_old, not_executed leave it unknown", async () => {
    for (const answer of ANSWERS) {
      const session = meeting([answer]);
      const nonce = 7;
      for (const repeat of [
        () => session.placeOrder({ ...BID, nonce }, call),
        () => session.amendOrder({ orderId: "1", price: 60_000, nonce }, call),
        () => session.batch([{ op: "cancel", orderId: "1" }], { nonce, ...call }),
        () => session.changeMargin("BTCUSD", 5, { nonce, ...call }),
      ]) {
        await expect(repeat()).rejects.toMatchObject({ outcome: "unknown", nonce });
      }
    }
    await expect(
      meeting([given("insufficient_margin")]).placeOrder({ ...BID, nonce: 7 }),
    ).rejects.toMatchObject({ outcome: "refused" });
  });

  test("a nonce of the caller's own that was not sent before: refused, as with a new one", async () => {
    for (const answer of ANSWERS) {
      const placed = meeting([answer]).placeOrder(
        { ...BID, nonce: 7 },
        { ...call, isRepeat: false },
      );
      await expect(placed).rejects.toMatchObject({
        outcome: expect.stringMatching(/^(refused|not_sent)$/),
      });
    }
  });
});

test("cancelOrder with validUntil: refused after it, and the order stays open", async () => {
  const session = await newSession(newClient(at));
  const { orderId } = await session.placeOrder(BID);
  await expect(session.cancelOrder(orderId, { validUntil: 1 })).rejects.toMatchObject({
    code: "too_late",
  });
  const [open] = await session.openOrders();
  expect(open?.orderId).toBe(orderId);
  const validUntil = open!.createdAt + 3_600_000;
  expect(await session.cancelOrder(orderId, { validUntil })).toMatchObject({ status: "canceled" });
});
