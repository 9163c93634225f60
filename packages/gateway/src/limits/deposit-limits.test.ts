import { expect, test } from "vitest";
import { DepositLimits } from "./deposit-limits.js";
import { DEFAULT_LIMITS } from "./limit-settings.js";

const LIMITED = expect.objectContaining({ code: "rate_limited", status: 429 });
const nowhere = (): void => undefined;

test("registrations: counted by address, whatever the accounts; a /64 of IPv6 is one", () => {
  let nowMs = 0;
  const limits = new DepositLimits({ ...DEFAULT_LIMITS, addressDepositsPerMinute: 3 }, () => nowMs);
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
  const limits = new DepositLimits(DEFAULT_LIMITS, () => nowMs);
  let granted = 0;
  const DAY_MS = 86_400_000;
  for (; nowMs < DAY_MS; nowMs += 1_000) {
    try {
      limits.takeNewAccount("192.0.2.1", nowhere);
      granted++;
    } catch (error) {
      expect(error).toEqual(LIMITED);
    }
  }
  const DOLLARS_EACH = 10_000;
  const BOUND_DOLLARS = 2 ** 52 / 1e6;
  expect(BOUND_DOLLARS / (granted * DOLLARS_EACH)).toBeGreaterThan(28);
});
