import fc from "fast-check";
import { expect, test } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const BODIES_PER_ENDPOINT = 1_000;
const AT_ONCE = 20;

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

const ORDER = {
  symbol: "BTCUSD",
  side: "long",
  type: "limit",
  margin: 100,
  leverage: 5,
  price: 1,
  reduceOnly: false,
  postOnly: false,
  nonce: 1,
};

test.each<[string, Readonly<Record<string, unknown>>]>([
  ["/v1/auth/siwe", { message: "m", signature: "0x00", sessionKey: "ab".repeat(32) }],
  ["/v1/auth/rotate", { newSessionKey: `01${"00".repeat(31)}` }],
  ["/v1/orders", ORDER],
  ["/v1/orders/1/cancel", { any: 1 }],
  ["/v1/orders/cancel-all", { symbol: "DOGEUSD" }],
  ["/v1/orders/cancel-after", { afterMs: 1 }],
  ["/v1/bridge/deposit", { chain: "ethereum", txHash: "zz", token: "USDC" }],
])(
  "%s: a thousand generated bodies give no 5xx, never hang, change nothing",
  async (path, good) => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    // An empty body, or none, is a good request to cancel everything.
    const cancelsAll = path.endsWith("cancel-all");
    if (!cancelsAll) await trader.place(trader.limit("long", 60_000, { nonce: 77 }));
    const before = (await trader.get("/v1/account")).text;
    const seed = Math.floor(Math.random() * 2 ** 31);
    const bodies = fc.sample(mutated(good), { numRuns: BODIES_PER_ENDPOINT, seed });
    const statuses = new Map<number, number>();
    for (let from = 0; from < bodies.length; from += AT_ONCE) {
      const batch = bodies.slice(from, from + AT_ONCE).map(async (body) => {
        const headers = { ...trader.bearer(), "content-type": "application/json" };
        const answer = await ask(at.url + path, { method: "POST", headers, body });
        expect(answer.status, `seed ${seed}, body ${body}: ${answer.text}`).toBeLessThan(500);
        if (answer.status >= 400) {
          expect(answer.body, `seed ${seed}, body ${body}`).toMatchObject({
            code: expect.any(String),
            message: expect.any(String),
            requestId: expect.any(String),
          });
        }
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      });
      await Promise.all(batch);
    }
    // Some of what is generated is a good cancel; of everything else nothing may pass.
    if (!path.startsWith("/v1/orders/cancel-"))
      expect([...statuses.keys()].filter((status) => status < 400)).toEqual([]);
    expect((await trader.get("/v1/account")).text, `seed ${seed}`).toBe(before);
  },
  120_000,
);
