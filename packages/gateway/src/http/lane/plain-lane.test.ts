/**
 * Three ways to an answer, the front's, the lane's and the framework's route, and one answer. What is
 * not plain enough for one of them goes to the next.
 */

import { expect, test } from "vitest";
import { type RunningVenue, runVenue } from "../../venue/testing/running-venue.js";
import { Trader } from "../../venue/testing/trader.js";
import { type RawAnswer, RawClient, rawGet, rawOrder } from "../front/testing/raw-http.js";

type Fields = Readonly<Record<string, string>>;

interface Way {
  readonly name: string;
  order(body: string, headers: Fields): Promise<Answered>;
  book(symbol: string, query: string): Promise<Answered>;
}

interface Answered {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** A header that no plain request has: the front leaves its connection to Node, and so to the lane. */
const UNLISTED = { "x-unlisted": "1" };
/** The same type to any server, and not the plain one that front and lane take. */
const WITH_CHARSET = "application/json; charset=utf-8";
const SAME_ID = { "x-request-id": "the-same" };

/** The framework closes the connection after a body that it cannot parse; the others need not. */
const PER_CONNECTION = ["date", "connection", "keep-alive"];

function answered({ status, headers, body }: RawAnswer): Answered {
  const names = headers.map(([name]) => name.toLowerCase());
  const lasting = names.filter((name) => !PER_CONNECTION.includes(name)).sort();
  return { status, headers: lasting, body: JSON.parse(body) };
}

/** A connection for each request of the route, which closes some; one for all of the others. */
async function threeWays({ dial }: RunningVenue): Promise<[front: Way, lane: Way, route: Way]> {
  const [front, lane] = [await RawClient.open(dial), await RawClient.open(dial)];
  const overRoute = async (request: string) => (await RawClient.open(dial)).ask(request);
  return [
    {
      name: "front",
      order: async (body, headers) =>
        answered(await front.ask(rawOrder(body, { ...SAME_ID, ...headers }))),
      book: async (symbol, query) =>
        answered(await front.ask(rawGet(`/v1/markets/${symbol}/book${query}`, SAME_ID))),
    },
    {
      name: "lane",
      order: async (body, headers) =>
        answered(await lane.ask(rawOrder(body, { ...SAME_ID, ...UNLISTED, ...headers }))),
      book: async (symbol, query) => {
        const headers = { ...SAME_ID, ...UNLISTED };
        return answered(await lane.ask(rawGet(`/v1/markets/${symbol}/book${query}`, headers)));
      },
    },
    {
      name: "route",
      order: async (body, headers) =>
        answered(await overRoute(rawOrder(body, { ...SAME_ID, ...headers }, WITH_CHARSET))),
      book: async (symbol, query) => {
        // A second, unknown key leaves a request to the route.
        const other = `${query}${query === "" ? "?" : "&"}other=1`;
        return answered(await overRoute(rawGet(`/v1/markets/${symbol}/book${other}`, SAME_ID)));
      },
    },
  ];
}

/** How many connections have left the front, the one that asks not counted. */
async function handedOver({ dial }: RunningVenue): Promise<number> {
  const { body } = await (await RawClient.open(dial)).ask(rawGet("/metrics"));
  return Number(/^perpgate_http_connections_handed_over_total (\d+)$/m.exec(body)?.[1]) - 1;
}

test("every kind of order: front, lane and route answer alike", async () => {
  const at = await runVenue();
  const [front, lane, route] = await threeWays(at);
  const ways = [front, lane, route];
  const traders = [await Trader.enter(at), await Trader.enter(at), await Trader.enter(at)];
  const bearer = { authorization: `Bearer ${traders[0]!.token}` };
  const before = await handedOver(at);
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
    const expected = await route.order(bytes, headers);
    expect(expected.status, kind).toBeGreaterThanOrEqual(400);
    for (const way of [front, lane]) {
      expect(await way.order(bytes, headers), `${way.name}: ${kind}`).toEqual(expected);
    }
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
    const answers: Answered[] = [];
    for (const [index, way] of ways.entries()) {
      answers.push(await way.order(text, signed(traders[index]!, text)));
    }
    for (const answer of answers) expect(likeness(answer), kind).toEqual(likeness(answers[0]!));
    // The same nonce again: a replay by every way, of what another way did.
    if (answers[0]!.status !== 200) continue;
    for (const way of ways) {
      const replayed = await way.order(text, signed(traders[0]!, text));
      expect(replayed.headers, `${way.name}: ${kind}`).toContain("idempotent-replay");
      expect({ ...replayed.body, elapsedMs: 0 }).toEqual({ ...answers[0]!.body, elapsedMs: 0 });
    }
  }
  // What was to come by the front did: of its connections none was left to Node.
  const overRoute = unsigned.length + placed.length + 3;
  expect(await handedOver(at)).toBe(before + overRoute + 2);
});

test("every read of a book: front, lane and route answer alike", async () => {
  const at = await runVenue();
  const maker = await Trader.enter(at);
  await maker.place(maker.limit("short", 65_010, { margin: 1_000, leverage: 10 }));
  await maker.place(maker.limit("long", 64_990, { margin: 1_000, leverage: 10 }));
  const [front, lane, route] = await threeWays(at);
  for (const query of ["?depth=1", "?depth=50", "?depth=5000", "?depth=999999", "?depth=0", ""]) {
    const expected = untimed(await route.book("BTCUSD", query));
    if (expected.status === 200) expect(expected.body.bids, query).toHaveLength(1);
    for (const way of [front, lane]) {
      expect(untimed(await way.book("BTCUSD", query)), `${way.name}: ${query}`).toEqual(expected);
    }
  }
  const unknown = await route.book("NOPEUSD", "");
  expect(unknown.status).toBe(404);
  expect(await front.book("NOPEUSD", "")).toEqual(unknown);
  expect(await lane.book("NOPEUSD", "")).toEqual(unknown);
});

function untimed({ body: { seq: _, block: __, time: ___, ...body }, ...rest }: Answered): Answered {
  return { ...rest, body };
}

/** What two accounts' answers to the same order have in common. */
function likeness({ status, headers, body }: Answered) {
  const { ackNonce: _, orderId: __, elapsedMs, expectedBlock, ...rest } = body;
  return { status, headers, rest, kinds: [typeof elapsedMs, typeof expectedBlock] };
}
