import { createHash } from "node:crypto";
import { join } from "node:path";
import { POLL } from "@perpgate/journal/testing";
import { serve } from "@perpgate/protocol/testing/serve";
import { judgeReceipt } from "@perpgate/sdk";
import { describe, expect, test } from "vitest";
import { BatchFlow, expectWholeBatches } from "../testing/batch-flow.js";
import { ProcessClient } from "../testing/client.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
  UNLIMITED,
} from "../testing/perpgate-process.js";

const LIMIT = {
  symbol: "BTCUSD",
  side: "long",
  type: "limit",
  margin: 100,
  leverage: 5,
  price: 60_000,
  nonce: 1,
};

async function start(data: string, content: object = {}) {
  const config = configurationFile({ logLevel: "error", ...content });
  const child = new PerpgateProcess(["--port", "0", "--data", data, "--config", config]);
  return { child, url: await child.url() };
}

describe("a process that trades", () => {
  test("killed with batches in flight: the next process knows sessions, orders and whole batches", async () => {
    const data = join(temporaryFolder(), "data");
    const before = await start(data, { limits: UNLIMITED });
    const client = new ProcessClient(before.url);
    expect((await client.signIn()).status).toBe(200);
    const placed = await client.place(LIMIT);
    expect(placed.body).toMatchObject({ status: "resting", elapsedMs: expect.any(Number) });
    const others = [new ProcessClient(before.url), new ProcessClient(before.url)];
    for (const other of others) await other.signIn();
    const flow = new BatchFlow(others, 4);
    await flow.reached(20);
    before.child.killAll();
    await before.child.ended;
    await flow.over();

    const after = await start(data, { limits: UNLIMITED });
    client.url = after.url;
    await expectWholeBatches(flow, after.url);
    const again = await client.place(LIMIT);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    // Time and receipt are of the answering process.
    const own = { elapsedMs: expect.any(Number), receipt: expect.any(String) };
    expect(again.body).toEqual({ ...placed.body, ...own });
    expect((await client.request("GET", "/v1/orders")).body).toMatchObject([
      { orderId: placed.body.orderId, status: "resting" },
    ]);
    // What the killed process has signed, the next one keeps.
    const { logKey, venueId } = Object((await client.request("GET", "/v1/honesty")).body);
    const file = {
      ...{ format: "perpgate-receipt/1", logKey, venueId, address: client.wallet.address },
      position: Number(placed.body.ackNonce),
      block: placed.body.expectedBlock,
      requestHash: createHash("sha256").update(JSON.stringify(LIMIT)).digest("hex"),
      receipt: placed.body.receipt,
    };
    const verdictOf = async () => (await judgeReceipt(file, { url: after.url })).verdict;
    await expect.poll(verdictOf, POLL).toBe("kept");
    expect((await client.place({ ...LIMIT, nonce: 2 })).status).toBe(200);
    const canceled = await client.request("POST", `/v1/orders/${placed.body.orderId}/cancel`);
    expect(canceled.body).toMatchObject({ status: "canceled" });
  });

  test("limits of the configuration file: enforced", async () => {
    const limits = { ordersPerSecond: 0.01, ordersBurst: 1, failedSignInsPerMinute: 1 };
    const { url } = await start(join(temporaryFolder(), "data"), { limits });
    const client = new ProcessClient(url);
    await client.signIn();
    expect((await client.place(LIMIT)).status).toBe(200);
    const limited = await client.place({ ...LIMIT, nonce: 2 });
    expect(limited).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    const bad = { message: "x", signature: "0x", sessionKey: "ab".repeat(32) };
    expect((await client.request("POST", "/v1/auth/siwe", bad)).status).not.toBe(429);
    expect((await client.request("POST", "/v1/auth/siwe", bad)).status).toBe(429);
  });

  test("cohort: changed while it runs, kept after a restart", async () => {
    const data = join(temporaryFolder(), "data");
    const first = await start(data);
    const client = new ProcessClient(first.url);
    await client.signIn();
    const change = (...args: string[]) =>
      new PerpgateProcess(["cohort", ...args, "--data", data]).ended;
    expect(await change("allowlist")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^stage allowlist, in the log\n {2}an order of anyone else/),
    });
    const refused = await client.place(LIMIT);
    expect(refused).toMatchObject({ status: 403, body: { code: "not_in_cohort" } });
    expect((await client.request("GET", "/v1/account")).body).toMatchObject({ cohort: false });
    await change("allowlist", "--allow", client.wallet.address);
    expect((await client.place(LIMIT)).status).toBe(200);
    first.child.signal("SIGTERM");
    expect(await first.child.ended).toMatchObject({ code: 0 });
    expect(await change("open")).toMatchObject({ code: 1 });

    const second = await start(data, { cohort: { stage: "open" } });
    const stranger = new ProcessClient(second.url);
    await stranger.signIn();
    expect((await stranger.place(LIMIT)).body.code).toBe("not_in_cohort");
    client.url = second.url;
    expect((await client.place({ ...LIMIT, nonce: 2 })).status).toBe(200);
  });

  test("an index from web feeds: the median, and not ready while they are down", async () => {
    let price = 50_000;
    const feed = await serve((_request, reply) => {
      reply.setHeader("content-type", "application/json").end(JSON.stringify({ usd: price }));
    });
    const market = { url: `${feed}/`, price: "/usd" };
    const markets = { BTCUSD: market, ETHUSD: market, SOLUSD: market };
    const feeds = ["a", "b"].map((name) => ({ name, markets }));
    const { url } = await start(join(temporaryFolder(), "data"), {
      index: { source: "http", feeds, pollMs: 20, intervalMs: 10 },
      limits: UNLIMITED,
    });
    const indexOf = async (): Promise<number> => {
      const answer = await fetch(`${url}/v1/markets`);
      const [listed]: { indexPrice: number }[] = JSON.parse(await answer.text());
      return listed?.indexPrice ?? 0;
    };
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await indexOf()).toBe(50_000);
    price = 50_100;
    while ((await indexOf()) !== 50_100);
  });
});
