import type { Market } from "@perpgate/protocol";
import { expect, test } from "vitest";
import { NonceIssuer } from "../auth/nonce-issuer.js";
import { DEFAULT_LIMITS } from "../limits/limit-settings.js";
import { AddressLimits } from "../limits/limits.js";
import { ask, runGateway } from "../testing/running-gateway.js";
import { sampleVenue } from "../testing/sample-venue.js";

const MARKET: Market = {
  symbol: "BTCUSD",
  base: "BTC",
  quote: "USD",
  maxLeverage: 50,
  tickSize: 0.1,
  lotSize: 0.00001,
  markPrice: null,
  indexPrice: 65000.1,
  fundingRate: null,
  nextFundingAt: null,
  makerFee: 0.0002,
  takerFee: 0.0005,
  tiers: [{ notionalUpTo: 1_000_000, maxLeverage: 50, maintenanceRate: 0.01 }],
  minNotional: 1,
  minSize: 0.00001,
  maxSize: null,
  maxOpenInterest: 200_000_000,
  status: "active",
};

test("getMarkets: the catalog as it is now, in listing order", async () => {
  const listed = [MARKET];
  const { url } = await runGateway(await sampleVenue({ getMarkets: () => ({ result: listed }) }));
  expect((await ask(`${url}/v1/markets`)).body).toEqual([MARKET]);
  listed.push({ ...MARKET, symbol: "ETHUSD", status: "halted" });
  expect((await ask(`${url}/v1/markets`)).body).toMatchObject([
    { symbol: "BTCUSD" },
    { symbol: "ETHUSD", status: "halted" },
  ]);
});

test("getNonce: an authenticated nonce that any gateway with the key recognises", async () => {
  const key = new Uint8Array(32).fill(9);
  const { url } = await runGateway({ nonces: new NonceIssuer(key) });
  const { status, body } = await ask(`${url}/v1/auth/nonce`);
  expect(status).toBe(200);
  expect(body).toEqual({
    nonce: expect.stringMatching(/^[a-zA-Z0-9]{8,}$/),
    expiresAt: 1_700_000_600_000,
  });
  const elsewhere = new NonceIssuer(key);
  expect(elsewhere.recognises(String(body.nonce), 1_700_000_599_999)).toBe(true);
});

test("healthz and readyz: the process answers; readiness waits for every probe", async () => {
  let reason: string | undefined = "no index price for BTCUSD yet";
  const probe = { name: "index", notReadyReason: () => reason };
  const { url } = await runGateway({ readiness: [probe] });
  expect((await ask(`${url}/healthz`)).body).toEqual({ status: "ok", version: "0.0.0-test" });
  const waiting = await ask(`${url}/readyz`);
  expect(waiting.status).toBe(503);
  expect(waiting.body).toMatchObject({
    code: "not_ready",
    message: "Not ready: no index price for BTCUSD yet.",
    details: { probe: "index" },
  });
  reason = undefined;
  expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200, body: { status: "ready" } });
});

test("metrics: requests by route pattern and status, no path of a client", async () => {
  const { url } = await runGateway();
  await ask(`${url}/v1/markets/BTCUSD/book`);
  await ask(`${url}/secret-path`);
  const { status, headers, text } = await ask(`${url}/metrics`);
  expect(status).toBe(200);
  expect(headers.get("content-type")).toContain("text/plain");
  expect(text).toContain(
    'perpgate_http_request_seconds_count{route="/v1/markets/:symbol/book",method="GET",status="503"} 1',
  );
  expect(text).toContain('route="unknown",method="GET",status="404"');
  expect(text).not.toContain("secret-path");
});

test("HEAD: the headers of GET without its body", async () => {
  const { url } = await runGateway();
  const { status, text } = await ask(`${url}/v1/markets`, { method: "HEAD" });
  expect({ status, text }).toEqual({ status: 200, text: "" });
});

test("metrics on the main port: for this machine alone, within the limit of reads", async () => {
  const limits = { ...DEFAULT_LIMITS, readsPerSecond: 0.001, readsBurst: 3 };
  const { url } = await runGateway({ addressLimits: new AddressLimits(limits) });
  expect((await ask(`${url}/metrics`)).status).toBe(200);
  for (const name of ["x-forwarded-for", "forwarded"]) {
    const forwarded = await ask(`${url}/metrics`, { headers: { [name]: "for=192.0.2.1" } });
    expect(forwarded).toMatchObject({ status: 404, body: { code: "not_found" } });
  }
  expect((await ask(`${url}/metrics`)).status).toBe(429);
});
