/** The lane and the framework's route answer alike. What is not plain reaches the route. */

import { expect, test } from "vitest";
import { runVenue } from "../../venue/testing/running-venue.js";
import { Trader } from "../../venue/testing/trader.js";

const LANE = "application/json";
/** The same type to any server, and not the plain one that the lane takes. */
const ROUTE = "application/json; charset=utf-8";

const PER_CONNECTION = ["date", "connection", "keep-alive"];

interface Answered {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(
  url: string,
  contentType: string,
  text: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answered> {
  const response = await fetch(`${url}/v1/orders`, {
    method: "POST",
    headers: { "content-type": contentType, "x-request-id": "the-same", ...headers },
    body: text,
  });
  // The framework closes the connection after a body that it cannot parse; the lane need not.
  const names = [...response.headers.keys()].filter((name) => !PER_CONNECTION.includes(name));
  const body: Answered["body"] = JSON.parse(await response.text());
  return { status: response.status, headers: names.sort(), body };
}

test("every kind of order: the lane answers as the route does", async () => {
  const at = await runVenue();
  const [one, other] = [await Trader.enter(at), await Trader.enter(at)];
  const bearer = { authorization: `Bearer ${one.token}` };
  const order = (nonce: number, changes: Readonly<Record<string, unknown>> = {}) =>
    JSON.stringify({
      symbol: "BTCUSD",
      side: "long",
      type: "limit",
      margin: 100,
      leverage: 5,
      price: 64_000,
      nonce,
      ...changes,
    });
  const signed = (trader: Trader, text: string) => ({
    authorization: `Bearer ${trader.token}`,
    ...trader.signatureOf(text),
  });

  const unsigned: [string, string, Readonly<Record<string, string>>][] = [
    ["no token", order(1), {}],
    ["another scheme", order(1), { authorization: "Basic abc" }],
    ["a token nobody has", order(1), { authorization: `Bearer ${"x".repeat(43)}` }],
    ["no signature", order(1), bearer],
    ["a wrong signature", order(1), { ...bearer, "x-service-sig": "ab".repeat(64) }],
    ["no signature at all", order(1), { ...bearer, "x-service-sig": "?" }],
    ["not JSON", "{", bearer],
    ["a repeated key", '{"nonce":1,"nonce":1}', bearer],
    ["an unknown key", order(1, { iceberg: 1 }), bearer],
    ["an unknown symbol", order(1, { symbol: "DOGEUSD" }), bearer],
    ["a price off the tick", order(1, { price: 64_000.01 }), bearer],
    ["no price", order(1, { price: null }), bearer],
  ];
  for (const [kind, text, headers] of unsigned) {
    const lane = await post(at.url, LANE, text, headers);
    expect(lane, kind).toEqual(await post(at.url, ROUTE, text, headers));
    expect(lane.status, kind).toBeGreaterThanOrEqual(400);
  }

  const placed: [string, Readonly<Record<string, unknown>>][] = [
    ["resting", {}],
    ["an empty book", { type: "market", price: null }],
    ["a stop", { type: "stop", price: 70_000 }],
    ["too much margin", { margin: 1e7 }],
    ["outside the band", { price: 80_000 }],
  ];
  let nonce = 10;
  for (const [kind, changes] of placed) {
    nonce++;
    const text = order(nonce, changes);
    const lane = await post(at.url, LANE, text, signed(one, text));
    const route = await post(at.url, ROUTE, text, signed(other, text));
    expect(likeness(lane), kind).toEqual(likeness(route));
    // The same nonce again: a replay either way, of what the other way did.
    if (lane.status !== 200) continue;
    const replayed = await post(at.url, ROUTE, text, signed(one, text));
    expect(replayed.headers, kind).toContain("idempotent-replay");
    expect({ ...replayed.body, elapsedMs: 0 }, kind).toEqual({ ...lane.body, elapsedMs: 0 });
    const again = await post(at.url, LANE, text, signed(one, text));
    expect(again.headers).toEqual(replayed.headers);
  }
});

test("every read of a book: the lane answers as the route does", async () => {
  const at = await runVenue();
  const maker = await Trader.enter(at);
  await maker.place(maker.limit("short", 65_010, { margin: 1_000, leverage: 10 }));
  await maker.place(maker.limit("long", 64_990, { margin: 1_000, leverage: 10 }));
  const get = async (path: string) => {
    const response = await fetch(at.url + path, { headers: { "x-request-id": "the-same" } });
    const names = [...response.headers.keys()].filter((name) => !PER_CONNECTION.includes(name));
    const body: Answered["body"] = JSON.parse(await response.text());
    return { status: response.status, headers: names.sort(), body };
  };
  const lane = "/v1/markets/BTCUSD/book";
  for (const query of ["?depth=1", "?depth=50", "?depth=5000", "?depth=999999", "?depth=0", ""]) {
    // A second, unknown key leaves a request to the route.
    const other = `${query}${query === "" ? "?" : "&"}other=1`;
    const [one, two] = [await get(lane + query), await get(lane + other)];
    expect({ ...one, body: untimed(one.body) }, query).toEqual({
      ...two,
      body: untimed(two.body),
    });
    if (one.status === 200) expect(one.body.bids, query).toHaveLength(1);
  }
  const unknown = "/v1/markets/NOPEUSD/book";
  expect(await get(unknown)).toEqual(await get(`${unknown}?other=1`));
  expect((await get(unknown)).status).toBe(404);
});

function untimed({ seq: _, block: __, time: ___, ...rest }: Answered["body"]) {
  return rest;
}

/** What two accounts' answers to the same order have in common. */
function likeness({ status, headers, body }: Answered) {
  const { ackNonce: _, orderId: __, elapsedMs, expectedBlock, ...rest } = body;
  return { status, headers, rest, kinds: [typeof elapsedMs, typeof expectedBlock] };
}
