import { ApiError } from "@perpgate/protocol/core";
import { describe, expect, test } from "vitest";
import { Admission } from "./admission.js";
import { DEFAULT_LIMITS, type LimitSettings } from "./limit-settings.js";
import {
  AddressLimits,
  NewAccountLimit,
  rateLimited,
  showCounted,
  showRetryAfter,
} from "./limits.js";

function sink() {
  const headers = new Map<string, string>();
  return { headers, header: (name: string, value: string) => void headers.set(name, value) };
}

/** Limits whose time the test decides. */
function limitsWith(changes: Partial<LimitSettings> = {}) {
  const time = { nowMs: 0 };
  const settings = { ...DEFAULT_LIMITS, ...changes };
  const address = new AddressLimits(settings, () => time.nowMs);
  return { time, address, ...sink() };
}

const LIMITED = expect.objectContaining({ code: "rate_limited", status: 429 });
const nowhere = (): void => undefined;

test("a limit that the core has counted: the headers of the draft", () => {
  const { headers, header } = sink();
  showCounted(
    { limit: "orders", quota: 200, windowSeconds: 2, remaining: 199, fullInSeconds: 1 },
    header,
  );
  expect(Object.fromEntries(headers)).toEqual({
    "ratelimit-policy": '"orders";q=200;w=2',
    ratelimit: '"orders";r=199;t=1',
  });
  showRetryAfter(rateLimited("orders", 10), header);
  expect(headers.get("retry-after")).toBe("1");
});

describe("address limits", () => {
  test("reads: by address, a /64 of IPv6 as one", () => {
    const { address, header } = limitsWith({ readsBurst: 2 });
    address.takeRead("2001:db8::1", header);
    address.takeRead("2001:db8::2", header);
    expect(() => address.takeRead("2001:db8::3", header)).toThrow(LIMITED);
    address.takeRead("2001:db8:0:1::3", header);
  });

  test("sign-ins: ten good ones a second", async () => {
    const { address, header } = limitsWith();
    const attempt = () => address.signIn("192.0.2.1", header, async () => "token");
    for (let i = 0; i < 10; i++) expect(await attempt()).toBe("token");
    await expect(attempt()).rejects.toThrow(LIMITED);
  });

  test("sign-ins: ten failed ones a minute, and then not even a good one is tried", async () => {
    const { time, address, headers, header } = limitsWith();
    let tried = 0;
    const attempt = (isGood: boolean) =>
      address.signIn("192.0.2.1", header, async () => {
        tried++;
        if (!isGood) throw new ApiError("siwe_nonce_used", {});
        return "token";
      });
    for (let i = 0; i < 10; i++) {
      await expect(attempt(false)).rejects.toMatchObject({ code: "siwe_nonce_used" });
    }
    time.nowMs = 1_000;
    await expect(attempt(true)).rejects.toThrow(LIMITED);
    expect(tried).toBe(10);
    expect(headers.get("retry-after")).toBe("5");
    time.nowMs = 6_000;
    expect(await attempt(true)).toBe("token");
  });

  test("sign-ins: another limit's refusal is no failed sign-in", async () => {
    const { time, address, header } = limitsWith();
    const limited = () => Promise.reject(new ApiError("rate_limited", { retryAfterSeconds: 6 }));
    for (let i = 0; i < 30; i++) {
      await expect(address.signIn("192.0.2.1", header, limited)).rejects.toThrow(LIMITED);
      time.nowMs += 1_000;
    }
    expect(await address.signIn("192.0.2.1", header, async () => "token")).toBe("token");
  });

  test("sign-ins: a server error is not counted", async () => {
    const { time, address, header } = limitsWith();
    const failing = () => Promise.reject(new ApiError("not_ready", { reason: "no RPC" }));
    for (let i = 0; i < 30; i++) {
      await expect(address.signIn("192.0.2.1", header, failing)).rejects.toMatchObject({
        code: "not_ready",
      });
      time.nowMs += 1_000;
    }
  });
});

test("attestors' requests: counted apart from reads of the same address", () => {
  const { address, header } = limitsWith({ readsBurst: 1, attestorRequestsBurst: 2 });
  address.takeRead("192.0.2.1", header);
  expect(() => address.takeRead("192.0.2.1", header)).toThrow(LIMITED);
  address.takeAttestor("192.0.2.1", header);
  address.takeAttestor("192.0.2.1", header);
  expect(() => address.takeAttestor("192.0.2.1", header)).toThrow(LIMITED);
});

describe("admission", () => {
  test("above the bound: refused with Retry-After until an order leaves", () => {
    const admission = new Admission(2);
    const { headers, header } = sink();
    admission.enter(header);
    admission.enter(header);
    expect(() => admission.enter(header)).toThrow(
      expect.objectContaining({ code: "overloaded", status: 503 }),
    );
    expect(headers.get("retry-after")).toBe("1");
    expect(admission.inFlight).toBe(2);
    admission.leave();
    admission.enter(header);
    expect(admission.inFlight).toBe(2);
  });
});
test("registrations: counted by address, whatever the accounts; a /64 of IPv6 is one", () => {
  let nowMs = 0;
  const limits = new AddressLimits({ ...DEFAULT_LIMITS, addressDepositsPerMinute: 3 }, () => nowMs);
  for (const address of ["2001:db8::1", "2001:db8::2", "2001:db8::3"]) {
    limits.takeRegistration(address, nowhere);
  }
  expect(() => limits.takeRegistration("2001:db8::4", nowhere)).toThrow(LIMITED);
  limits.takeRegistration("192.0.2.1", nowhere);
  nowMs = 20_000;
  limits.takeRegistration("2001:db8::4", nowhere);
});

test("new accounts by the defaults: one address needs weeks to use up what all may hold", () => {
  let nowMs = 0;
  const limits = new NewAccountLimit(DEFAULT_LIMITS, () => nowMs);
  let granted = 0;
  const DAY_MS = 86_400_000;
  for (; nowMs < DAY_MS; nowMs += 1_000) {
    try {
      limits.take("192.0.2.1", nowhere);
      granted++;
    } catch (error) {
      expect(error).toEqual(LIMITED);
    }
  }
  const DOLLARS_EACH = 10_000;
  const BOUND_DOLLARS = 2 ** 52 / 1e6;
  expect(BOUND_DOLLARS / (granted * DOLLARS_EACH)).toBeGreaterThan(28);
});
