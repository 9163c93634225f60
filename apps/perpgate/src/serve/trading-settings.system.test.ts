import { join } from "node:path";
import { serve } from "@perpgate/protocol/testing/serve";
import { describe, expect, test } from "vitest";
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

describe("the configuration of a process that trades", () => {
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
