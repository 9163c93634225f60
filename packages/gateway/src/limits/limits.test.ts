import { Refusal } from "@perpgate/protocol";
import { describe, expect, test } from "vitest";
import { Admission } from "./admission.js";
import { AccountLimits, AddressLimits, DEFAULT_LIMITS } from "./limits.js";

function sink() {
  const headers = new Map<string, string>();
  return { headers, header: (name: string, value: string) => void headers.set(name, value) };
}

function codeOf(act: () => void): string {
  try {
    act();
    return "passed";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "another error";
  }
}

const LIMITED = expect.objectContaining({ code: "rate_limited", status: 429 });

describe("account limits", () => {
  test("orders: a burst of 200, then 100 a second, with the headers of the draft", () => {
    const { orders } = new AccountLimits(DEFAULT_LIMITS);
    const { headers, header } = sink();
    orders.take(1, 0, header);
    expect(Object.fromEntries(headers)).toEqual({
      "ratelimit-policy": '"orders";q=200;w=2',
      ratelimit: '"orders";r=199;t=1',
    });
    for (let i = 1; i < 200; i++) orders.take(1, 0, header);
    expect(headers.get("ratelimit")).toBe('"orders";r=0;t=2');
    expect(() => orders.take(1, 0, header)).toThrow(LIMITED);
    expect(headers.get("retry-after")).toBe("1");
    expect(codeOf(() => orders.take(1, 10, header))).toBe("passed");
    expect(codeOf(() => orders.take(1, 10, header))).toBe("rate_limited");
    expect(codeOf(() => orders.take(2, 10, header))).toBe("passed");
  });

  test("cancels: counted apart", () => {
    const { orders, cancels } = new AccountLimits({ ...DEFAULT_LIMITS, ordersBurst: 1 });
    const { header } = sink();
    orders.take(1, 0, header);
    expect(() => orders.take(1, 0, header)).toThrow(LIMITED);
    for (let i = 0; i < 200; i++) cancels.take(1, 0, header);
    expect(() => cancels.take(1, 0, header)).toThrow(LIMITED);
  });

  test("deposits: ten a minute", () => {
    const { deposits } = new AccountLimits(DEFAULT_LIMITS);
    const { headers, header } = sink();
    for (let i = 0; i < 10; i++) deposits.take(1, 0, header);
    expect(headers.get("ratelimit-policy")).toBe('"deposits";q=10;w=60');
    expect(() => deposits.take(1, 0, header)).toThrow(LIMITED);
    expect(headers.get("retry-after")).toBe("6");
    expect(codeOf(() => deposits.take(1, 6_000, header))).toBe("passed");
  });
});

describe("address limits", () => {
  test("reads: by address, a /64 of IPv6 as one", () => {
    const limits = new AddressLimits({ ...DEFAULT_LIMITS, readsBurst: 2 });
    const { header } = sink();
    limits.takeRead("2001:db8::1", 0, header);
    limits.takeRead("2001:db8::2", 0, header);
    expect(() => limits.takeRead("2001:db8::3", 0, header)).toThrow(LIMITED);
    expect(codeOf(() => limits.takeRead("2001:db8:0:1::3", 0, header))).toBe("passed");
  });

  test("sign-ins: ten good ones a second", async () => {
    const limits = new AddressLimits(DEFAULT_LIMITS);
    const { header } = sink();
    const attempt = () =>
      limits.signIn(
        "192.0.2.1",
        () => 0,
        header,
        async () => "token",
      );
    for (let i = 0; i < 10; i++) expect(await attempt()).toBe("token");
    await expect(attempt()).rejects.toThrow(LIMITED);
  });

  test("sign-ins: ten failed ones a minute, and then not even a good one is tried", async () => {
    const limits = new AddressLimits(DEFAULT_LIMITS);
    const { headers, header } = sink();
    let now = 0;
    let tried = 0;
    const attempt = (isGood: boolean) =>
      limits.signIn(
        "192.0.2.1",
        () => now,
        header,
        async () => {
          tried++;
          if (!isGood) throw new Refusal("siwe_nonce_used", {});
          return "token";
        },
      );
    for (let i = 0; i < 10; i++) {
      await expect(attempt(false)).rejects.toMatchObject({ code: "siwe_nonce_used" });
    }
    now = 1_000;
    await expect(attempt(true)).rejects.toThrow(LIMITED);
    expect(tried).toBe(10);
    expect(headers.get("retry-after")).toBe("5");
    now = 6_000;
    expect(await attempt(true)).toBe("token");
  });
});

test("sign-ins: what fails on our side is not counted against the client", async () => {
  const limits = new AddressLimits(DEFAULT_LIMITS);
  const { header } = sink();
  for (let i = 0; i < 30; i++) {
    const failing = () => Promise.reject(new Refusal("not_ready", { reason: "no RPC" }));
    await expect(
      limits.signIn("192.0.2.1", () => i * 1_000, header, failing),
    ).rejects.toMatchObject({ code: "not_ready" });
  }
});

describe("admission", () => {
  test("past the bound: refused with Retry-After until somebody leaves", () => {
    const admission = new Admission(2);
    const { headers, header } = sink();
    admission.enter(header);
    admission.enter(header);
    expect(() => admission.enter(header)).toThrow(
      expect.objectContaining({ code: "overloaded", status: 503 }),
    );
    expect(headers.get("retry-after")).toBe("1");
    expect(admission.underWay).toBe(2);
    admission.leave();
    admission.enter(header);
    expect(admission.underWay).toBe(2);
  });
});
