import { ERROR_CODES } from "@perpgate/protocol/core";
import { placeOrder } from "@perpgate/protocol/operations";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Answer, ask } from "../testing/running-gateway.js";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

/** Others in every run; a failure names its seed. */
const BODIES_PER_ENDPOINT = 300;
const SIGNED_BODIES = 1_000;
const CONCURRENT = 20;

/** Values that are almost right, mixed with anything JSON can say. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, "", "5", -1, 0, 0.1, 1e-9, 1e21, 2 ** 53, "BTCUSD", [], {}),
  fc.double({ noNaN: true }),
  fc.maxSafeInteger(),
  fc.string({ maxLength: 50 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** A good body with some of its values replaced, dropped, or joined by others. */
function mutated(good: Readonly<Record<string, unknown>>): fc.Arbitrary<string> {
  const keys = Object.keys(good);
  const changes = fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), odd, {
    minKeys: 1,
    maxKeys: 3,
  });
  const object = changes.map((change) => JSON.stringify({ ...good, ...change }));
  const cut = fc.tuple(object, fc.nat({ max: 200 })).map(([text, length]) => text.slice(0, length));
  return fc.oneof({ weight: 6, arbitrary: object }, cut, fc.json(), fc.string());
}

/** Every body's answer; none may be a fault, and every refusal has the one shape. */
async function askAll(
  bodies: readonly string[],
  send: (body: string) => Promise<Answer>,
  seed: number,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < bodies.length; from += CONCURRENT) {
    const batch = bodies.slice(from, from + CONCURRENT).map(async (body) => {
      const answer = await send(body);
      expect(answer.status, `seed ${seed}, body ${body}: ${answer.text}`).toBeLessThan(500);
      if (answer.status >= 400) {
        expect(answer.body, `seed ${seed}, body ${body}`).toMatchObject({
          code: expect.any(String),
          message: expect.any(String),
          requestId: expect.any(String),
        });
      }
      return answer;
    });
    answers.push(...(await Promise.all(batch)));
  }
  return answers;
}

test.each<[string, Readonly<Record<string, unknown>>]>([
  ["/v1/auth/siwe", { message: "m", signature: "0x00", sessionKey: "ab".repeat(32) }],
  ["/v1/auth/rotate", { newSessionKey: `01${"00".repeat(31)}` }],
  ["/v1/orders/1/cancel", { any: 1 }],
  ["/v1/orders/cancel-all", { symbol: "DOGEUSD" }],
  ["/v1/orders/cancel-after", { afterMs: 1 }],
  ["/v1/bridge/deposit", { chain: "ethereum", txHash: "zz", token: "USDC" }],
])("%s: generated bodies give no 5xx, never hang, change nothing", async (path, good) => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  // An empty body, or none, is a good request to cancel everything.
  const cancelsAll = path.endsWith("cancel-all");
  if (!cancelsAll) await trader.place(trader.limit("long", 60_000, { nonce: 77 }));
  const before = (await trader.get("/v1/account")).text;
  const seed = Math.floor(Math.random() * 2 ** 31);
  const bodies = fc.sample(mutated(good), { numRuns: BODIES_PER_ENDPOINT, seed });
  const answers = await askAll(
    bodies,
    (body) => {
      const headers = { ...trader.bearer(), "content-type": "application/json" };
      return ask(at.url + path, { method: "POST", headers, body });
    },
    seed,
  );
  // Some of what is generated is a good cancel; of everything else nothing may pass.
  if (!path.startsWith("/v1/orders/cancel-"))
    expect(answers.filter(({ status }) => status < 400)).toEqual([]);
  expect((await trader.get("/v1/account")).text, `seed ${seed}`).toBe(before);
});

/** Values at and around the bounds of the rules about prices, money and positions. */
const nearlyOrder = fc.record(
  {
    symbol: mostly(fc.constant("BTCUSD"), fc.constantFrom("ETHUSD", "DOGEUSD")),
    side: fc.constantFrom("long", "short"),
    type: mostly(fc.constant("limit"), fc.constantFrom("market", "stop")),
    margin: mostly(
      fc.integer({ min: 1, max: 100 }),
      fc.constantFrom(1e-6, 0.01, 9_990, 10_000, 1e7, 1e9, 1e300, Number.MIN_VALUE),
    ),
    leverage: mostly(
      fc.integer({ min: 1, max: 50 }),
      fc.constantFrom(0, 1.5, 51, 60, 2 ** 31, 2 ** 53),
    ),
    price: mostly(
      fc.integer({ min: 600_000, max: 700_000 }).map((ticks) => ticks / 10),
      fc.constantFrom<unknown>(null, 0.1, 1e-300, 1e300, 65_000.05, 65_000.1 + 1e-10, 651_000),
    ),
    reduceOnly: mostly(fc.constant(false), fc.constant(true)),
    postOnly: mostly(fc.constant(false), fc.constant(true)),
  },
  { requiredKeys: ["symbol", "side", "type", "margin", "leverage", "price"] },
);

function mostly<T, U>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<U>): fc.Arbitrary<T | U> {
  return fc.oneof({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: other });
}

const ORDER_RULES = new Set<string>(placeOrder.errors);
/** Codes of bodies that are refused before the engine sees them. */
const BEFORE_THE_ENGINE: ReadonlySet<unknown> = new Set(
  ERROR_CODES.filter((code) => !ORDER_RULES.has(code)).concat([
    "signature_required",
    "invalid_signature",
    "unknown_symbol",
  ]),
);

test("/v1/orders: signed bodies reach the engine, give no 5xx, do what was acknowledged", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const before = (await trader.get("/v1/account")).body;
  const positionBefore = at.venue.seq;
  const seed = Math.floor(Math.random() * 2 ** 31);
  // A nonce each, or most would only meet the first.
  const orders = fc.sample(nearlyOrder, { numRuns: SIGNED_BODIES / 2, seed });
  const good = { ...trader.limit("long", 60_000), reduceOnly: false, postOnly: false };
  const odd = fc.sample(mutated(good), { numRuns: SIGNED_BODIES / 2, seed });
  const bodies = [
    ...orders.map((order, i) => JSON.stringify({ ...order, nonce: 100 + i })),
    ...odd,
  ];
  const answers = await askAll(bodies, (body) => trader.placeText(body), seed);

  const acknowledged = new Map<unknown, Answer["body"]>();
  const codes = new Map<unknown, number>();
  for (const [i, { status, body }] of answers.entries()) {
    if (status === 200) {
      acknowledged.set(body.orderId, body);
      const { symbol, side, nonce } = JSON.parse(bodies[i] ?? "");
      expect(body, `seed ${seed}`).toMatchObject({ symbol, side, nonce });
    } else {
      codes.set(body.code, (codes.get(body.code) ?? 0) + 1);
    }
  }
  const deep = [...codes].filter(([code]) => !BEFORE_THE_ENGINE.has(code));
  expect(deep.length, `seed ${seed}: ${[...codes]}`).toBeGreaterThanOrEqual(5);
  const refusedDeep = deep.reduce((sum, [, count]) => sum + count, 0);
  expect(refusedDeep, `seed ${seed}: ${[...codes]}`).toBeGreaterThanOrEqual(100);
  const executed = at.venue.seq - positionBefore;
  expect(executed - acknowledged.size, `seed ${seed}`).toBeGreaterThanOrEqual(20);
  expect(codes.get("signature_required")).toBeUndefined();
  expect(codes.get("invalid_signature")).toBeUndefined();
  expect(acknowledged.size, `seed ${seed}`).toBeGreaterThanOrEqual(10);

  // A single account trades with nobody: its orders are those acknowledged, and no money has moved.
  const listed = await trader.list("/v1/orders?status=all");
  const told = listed.map(({ orderId }) => orderId).sort();
  expect(told, `seed ${seed}`).toEqual([...acknowledged.keys()].sort());
  for (const { orderId, symbol, side, nonce, filledSize } of listed) {
    expect(acknowledged.get(orderId)).toMatchObject({ symbol, side, nonce, filledSize });
    expect(filledSize, `seed ${seed}`).toBe(0);
  }
  expect(await trader.list("/v1/positions")).toEqual([]);
  const { balance, equity, positionMargin } = (await trader.get("/v1/account")).body;
  const { balance: balanceBefore, equity: equityBefore } = before;
  expect({ balance, equity, positionMargin }, `seed ${seed}`).toEqual({
    balance: balanceBefore,
    equity: equityBefore,
    positionMargin: 0,
  });
  expect((await trader.send("/v1/orders/cancel-all")).status).toBe(200);
  expect((await trader.get("/v1/account")).text, `seed ${seed}`).toBe(JSON.stringify(before));
});
