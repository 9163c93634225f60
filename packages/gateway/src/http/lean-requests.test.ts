/**
 * The lean path and Fastify's routes give the same responses.
 */

import { expect, test } from "vitest";
import { type RunningVenue, runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { type RawAnswer, RawClient, rawOrder } from "./testing/raw-http.js";

type Fields = Readonly<Record<string, string>>;
type Place = (body: string, headers: Fields) => Promise<Answered>;

interface Answered {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** The same media type in a form that the lean path leaves to Fastify. */
const WITH_CHARSET = "application/json; charset=utf-8";
const SAME_ID = { "x-request-id": "the-same" };
/** Fastify closes the connection after a body that it cannot parse; the lean path does not. */
const PER_CONNECTION = ["date", "connection", "keep-alive"];

function answered({ status, headers, body }: RawAnswer): Answered {
  const names = headers.map(([name]) => name.toLowerCase());
  const lasting = names.filter((name) => !PER_CONNECTION.includes(name)).sort();
  return { status, headers: lasting, body: JSON.parse(body) };
}

async function bothPaths({ dial }: RunningVenue): Promise<{ lean: Place; route: Place }> {
  const client = await RawClient.open(dial);
  return {
    lean: async (body, headers) =>
      answered(await client.ask(rawOrder(body, { ...SAME_ID, ...headers }))),
    // A connection per request: Fastify closes some.
    route: async (body, headers) => {
      const request = rawOrder(body, { ...SAME_ID, ...headers }, WITH_CHARSET);
      return answered(await (await RawClient.open(dial)).ask(request));
    },
  };
}

test("every kind of order: lean path and route respond alike", async () => {
  const at = await runVenue();
  const { lean, route } = await bothPaths(at);
  const [first, second] = [await Trader.enter(at), await Trader.enter(at)];
  const bearer = { authorization: `Bearer ${first.token}` };
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

  const unsigned: [string, string, Fields][] = [
    ["no token", order(1), {}],
    ["no token and no JSON", "{", {}],
    ["longer than an order may be", order(1, { pad: "x".repeat(5_000) }), bearer],
    ["another scheme", order(1), { authorization: "Basic abc" }],
    ["a token nobody has", order(1), { authorization: `Bearer ${"x".repeat(43)}` }],
    ["no signature", order(1), bearer],
    ["a wrong signature", order(1), { ...bearer, "x-service-sig": "ab".repeat(64) }],
    ["no signature at all", order(1), { ...bearer, "x-service-sig": "?" }],
    ["not JSON", "{", bearer],
    ["a repeated key", '{"nonce":1,"nonce":1}', bearer],
    ["an unknown key", order(1, { iceberg: 1 }), bearer],
    ["an unknown key that is not ASCII", order(1, { é: 1 }), bearer],
    ["an unknown symbol", order(1, { symbol: "DOGEUSD" }), bearer],
    ["a price off the tick", order(1, { price: 64_000.01 }), bearer],
    ["no price", order(1, { price: null }), bearer],
  ];
  for (const [kind, text, headers] of unsigned) {
    const bytes = Buffer.from(text).toString("latin1");
    const expected = await route(bytes, headers);
    expect(expected.status, kind).toBeGreaterThanOrEqual(400);
    expect(await lean(bytes, headers), kind).toEqual(expected);
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
    const byLean = await lean(text, signed(first, text));
    const byRoute = await route(text, signed(second, text));
    expect(likeness(byLean), kind).toEqual(likeness(byRoute));
    if (byLean.status !== 200) continue;
    // The same nonce again: each path replays what the lean path did.
    for (const place of [lean, route]) {
      const replayed = await place(text, signed(first, text));
      expect(replayed.headers, kind).toContain("idempotent-replay");
      expect({ ...replayed.body, elapsedMs: 0 }).toEqual({ ...byLean.body, elapsedMs: 0 });
    }
  }
});

/** What the responses of two accounts to the same order have in common. */
function likeness({ status, headers, body }: Answered) {
  const { ackNonce: _, orderId: __, elapsedMs, expectedBlock, ...rest } = body;
  return { status, headers, rest, kinds: [typeof elapsedMs, typeof expectedBlock] };
}

test("reads: lean path and route respond alike, errors included", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const client = await RawClient.open(at.dial);
  const bearer = `Authorization: Bearer ${trader.token}\r\n`;
  const ask = (path: string, lines: string) =>
    client.ask(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: the-same\r\n${lines}\r\n`);
  const paths: [string, string?][] = [
    ["/healthz"],
    ["/v1/markets"],
    ["/v1/markets/BTCUSD/book"],
    ["/v1/markets/BTCUSD/book?depth=3"],
    ["/v1/markets/BTCUSD/book?depth=x"],
    ["/v1/markets/BTCUSD/book?deep=3"],
    ["/v1/markets/DOGEUSD/ticker"],
    ["/v1/markets/btcusd/ticker"],
    ["/v1/markets/BTCUSD/candles?resolution=1m&limit=5"],
    ["/v1/markets/BTCUSD/candles"],
    ["/v1/blocks/latest"],
    ["/v1/blocks/999999"],
    ["/v1/account", bearer],
    ["/v1/account"],
    ["/v1/orders?status=all&limit=5", bearer],
    ["/v1/orders/7", bearer],
    ["/v1/positions?limit=5", bearer],
  ];
  for (const [path, lines = ""] of paths) {
    const lean = likenessOfRead(await ask(path, lines));
    // Fastify serves requests that say how long their body is.
    const route = likenessOfRead(await ask(path, `${lines}Content-Length: 0\r\n`));
    expect(lean, path).toEqual(route);
  }
  const { body } = await client.ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const counted = 'perpgate_http_request_seconds_count{route="/v1/markets/:symbol/book",';
  expect(body).toContain(`${counted}method="GET",status="200"} 4`);
});

function likenessOfRead({ status, headers, body }: RawAnswer) {
  const kept = headers.filter(([name]) => !PER_CONNECTION.includes(name.toLowerCase()));
  const parsed = JSON.parse(body);
  return {
    status,
    headers: kept.map(([name]) => name.toLowerCase()).sort(),
    body: { ...parsed, time: 0, uptimeSeconds: 0 },
  };
}
