/** A session whose signatures fail: a few are checked, the next ones are refused without a check. */

import { generateKeyPairSync } from "node:crypto";
import { until } from "@perpgate/journal/testing";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { COST } from "../limits/costs.js";
import { StreamClient } from "../ws/testing/stream-client.js";
import { HeldOrders } from "./testing/held-orders.js";
import { runVenue } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

const WRONG = { header: "07".repeat(64) };
const ALLOWED = 3;

async function run(held?: HeldOrders) {
  const metrics = new Registry();
  const limits = { failedSignaturesPerMinute: 1, failedSignaturesBurst: ALLOWED };
  const at = await runVenue({ limits, metrics, ...(held && { held }) });
  const paidMicros = async (): Promise<number> => {
    const metric = await metrics.getSingleMetric("perpgate_cost_seconds_total")?.get();
    return 1e6 * (metric?.values[0]?.value ?? 0);
  };
  return { at, checks: () => at.edge.signatures.count, paidMicros };
}

async function failAll(trader: Trader): Promise<void> {
  for (let i = 0; i < ALLOWED; i++) {
    const { status, body } = await trader.place(trader.order(), WRONG);
    expect([status, body.code]).toEqual([401, "invalid_signature"]);
  }
}

describe("wrong signatures of a session", () => {
  test("past the limit: 429 with Retry-After, and nothing is checked", async () => {
    const { at, checks } = await run();
    const trader = await Trader.enter(at);
    await failAll(trader);
    expect(checks()).toBe(ALLOWED);
    const { status, body, headers } = await trader.place(trader.order(), WRONG);
    expect([status, body.code]).toEqual([429, "rate_limited"]);
    expect(body.details).toMatchObject({ limit: "failed-signatures" });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(checks()).toBe(ALLOWED);
  });

  test("in flight together: no more are checked than one after the other", async () => {
    const held = new HeldOrders();
    const { at, checks } = await run(held);
    const trader = await Trader.enter(at);
    held.hold(true);
    const sent = Array.from({ length: 4 * ALLOWED }, () => trader.place(trader.order(), WRONG));
    await until(() => held.waiting === sent.length);
    const checked = checks();
    held.release();
    const codes = (await Promise.all(sent)).map(({ body }) => body.code);
    expect(checked).toBe(ALLOWED);
    expect(codes.filter((code) => code === "invalid_signature")).toHaveLength(ALLOWED);
    expect(codes.filter((code) => code === "rate_limited")).toHaveLength(3 * ALLOWED);
  });

  test("what was executed before, sent again: answered, and not counted", async () => {
    const { at } = await run();
    const trader = await Trader.enter(at);
    const done = JSON.stringify(trader.limit("long", 60_000));
    const { orderId } = (await trader.placeText(done)).body;
    for (let i = 0; i < 2 * ALLOWED; i++) {
      const again = await trader.placeText(done, WRONG);
      expect(again).toMatchObject({ status: 200, body: { orderId } });
    }
    await failAll(trader);
    expect((await trader.place(trader.order(), WRONG)).status).toBe(429);
  });

  test("another session of the account, and another account: not refused", async () => {
    const { at } = await run();
    const trader = await Trader.enter(at);
    await failAll(trader);
    const [again, other] = [await trader.again(), await Trader.enter(at)];
    for (const each of [again, other]) expect((await each.place(each.order())).status).toBe(200);
  });

  test("over a socket, in a batch, in a rotation: counted together", async () => {
    const { at, checks } = await run();
    const trader = new Trader(at);
    await trader.signIn({ resources: [trader.resource()] });
    const client = await StreamClient.connect(at.url);
    await client.ask({ op: "auth", token: trader.token });
    const body = JSON.stringify(trader.order());
    expect((await client.ask({ op: "order", body, sig: WRONG.header })).t).toBe("error");
    const operations = [{ op: "cancel", orderId: "1" }];
    const batch = JSON.stringify({ nonce: 900, operations });
    expect((await client.ask({ op: "batch", body: batch, sig: WRONG.header })).t).toBe("error");
    expect((await trader.rotate(newSessionKey().publicHex, WRONG)).status).toBe(401);
    expect(checks()).toBe(ALLOWED);
    expect((await trader.rotate(newSessionKey().publicHex, WRONG)).status).toBe(429);
    expect((await trader.delete("/v1/auth/sessions", WRONG)).status).toBe(429);
    expect((await trader.place(trader.order(), WRONG)).status).toBe(429);
    expect(checks()).toBe(ALLOWED);
  });

  test("valid signatures: never counted", async () => {
    const { at } = await run();
    const trader = await Trader.enter(at);
    for (let i = 0; i < 3 * ALLOWED; i++) {
      expect((await trader.place(trader.limit("long", 60_000))).status).toBe(200);
    }
  });
});

test("a check of secp256k1: charged for what it costs beyond one of Ed25519", async () => {
  const { at, paidMicros } = await run();
  const costOf = async (trader: Trader): Promise<number> => {
    const body = trader.order();
    const before = await paidMicros();
    expect((await trader.place(body, WRONG)).status).toBe(401);
    return (await paidMicros()) - before;
  };
  const trader = await Trader.enter(at);
  const other = new Trader(at);
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const point = Buffer.concat([Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
  other.sessionKey = { publicHex: point.toString("hex"), raw: point, privateKey };
  await other.signIn();
  // The error names the key's kind, so the answers differ by a few bytes.
  expect((await costOf(other)) - (await costOf(trader))).toBeGreaterThan(COST.secp256k1 - 10);
});
