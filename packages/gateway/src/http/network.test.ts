import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../limits/limit-settings.js";
import { AddressLimits } from "../limits/limits.js";
import { ask, runGateway } from "../testing/running-gateway.js";
import type { TrustedProxies } from "./client-address.js";

const ORIGIN = { origin: "https://app.example" };
const PREFLIGHT = {
  ...ORIGIN,
  "access-control-request-method": "POST",
  "access-control-request-headers": "x-service-sig",
};

describe("cross-origin requests", () => {
  test("by default any page may call, and read the headers that matter", async () => {
    const { url } = await runGateway();
    const { headers } = await ask(`${url}/v1/markets`, { headers: ORIGIN });
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-expose-headers")).toContain("ratelimit");
    expect(headers.get("access-control-expose-headers")).toContain("perpgate-position");
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    const refused = await ask(`${url}/v1/nope`, { headers: ORIGIN });
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("a preflight: answered for any path, though no path offers OPTIONS", async () => {
    const { url } = await runGateway();
    const init = { method: "OPTIONS", headers: PREFLIGHT };
    const { status, headers, text } = await ask(`${url}/v1/orders`, init);
    expect({ status, text }).toEqual({ status: 204, text: "" });
    expect(headers.get("access-control-allow-headers")).toContain("x-service-sig");
    expect(headers.get("access-control-allow-headers")).toContain("perpgate-min-position");
    expect(headers.get("access-control-allow-methods")).toContain("POST");
  });

  test("with a list: only those pages, each by its name", async () => {
    const { url } = await runGateway({ origins: ["https://app.example"] });
    const good = await ask(`${url}/v1/markets`, { headers: ORIGIN });
    expect(good.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(good.headers.get("vary")).toBe("origin");
    // Also without an origin: a cache may store that response.
    const book = `${url}/v1/markets/BTCUSD/book`;
    for (const nameless of [`${url}/v1/markets`, book, `${book}?other=1`]) {
      expect((await ask(nameless)).headers.get("vary"), nameless).toBe("origin");
    }
    const unlisted = await ask(book, { headers: { "x-unlisted": "1" } });
    expect(unlisted.headers.get("vary")).toBe("origin");
    const headers = { ...PREFLIGHT, origin: "https://evil.example" };
    const bad = await ask(`${url}/v1/orders`, { method: "OPTIONS", headers });
    expect(bad.status).toBe(405);
    expect(bad.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("client addresses", () => {
  /** Two reads and no more, by each address. */
  async function readsAllowed(trustProxy: TrustedProxies, forwarded: readonly string[]) {
    const addressLimits = new AddressLimits({
      ...DEFAULT_LIMITS,
      readsBurst: 2,
      readsPerSecond: 0.001,
    });
    const { url } = await runGateway({ trustProxy, addressLimits });
    const statuses: number[] = [];
    for (const address of forwarded) {
      const headers = { "x-forwarded-for": address };
      statuses.push((await ask(`${url}/v1/markets`, { headers })).status);
    }
    return statuses;
  }

  test("no proxy is trusted: forwarding headers count for nothing", async () => {
    expect(await readsAllowed(false, ["1.1.1.1", "2.2.2.2", "3.3.3.3"])).toEqual([200, 200, 429]);
  });

  test("one hop is trusted: the address it names counts, what the client wrote before it does not", async () => {
    expect(await readsAllowed(1, ["9.9.9.9, 1.1.1.1", "8.8.8.8, 1.1.1.1", "1.1.1.1"])).toEqual([
      200, 200, 429,
    ]);
    expect(await readsAllowed(1, ["1.1.1.1", "2.2.2.2", "3.3.3.3"])).toEqual([200, 200, 200]);
  });

  test("listed proxies are trusted: others are taken for clients", async () => {
    expect(await readsAllowed(["127.0.0.0/8"], ["1.1.1.1", "2.2.2.2", "3.3.3.3"])).toEqual([
      200, 200, 200,
    ]);
    expect(await readsAllowed(["10.0.0.1"], ["1.1.1.1", "2.2.2.2", "3.3.3.3"])).toEqual([
      200, 200, 429,
    ]);
  });

  test("a limited read: the headers of the draft, and Retry-After on the 429", async () => {
    const addressLimits = new AddressLimits({
      ...DEFAULT_LIMITS,
      readsBurst: 1,
      readsPerSecond: 0.01,
    });
    const { url } = await runGateway({ addressLimits });
    const good = await ask(`${url}/v1/markets`);
    expect(good.headers.get("ratelimit-policy")).toBe('"reads";q=1;w=100');
    const limited = await ask(`${url}/v1/markets`);
    expect(limited.status).toBe(429);
    expect(limited.headers.get("retry-after")).toBe("100");
    expect(limited.body).toMatchObject({ code: "rate_limited", details: { limit: "reads" } });
    for (const path of ["/healthz", "/readyz"]) {
      expect((await ask(url + path)).status).toBe(200);
    }
  });
});
