import { expect, test } from "vitest";
import {
  CONTRACT_CHECKS_PER_MINUTE,
  ContractChecks,
  MAX_CONTRACT_CHECKS_IN_FLIGHT,
} from "./sign-ins.js";

function client(address: string) {
  return { address, header: () => undefined };
}

const done = async () => true;

test("ten checks a minute for one address: the next is 429, other addresses go on", async () => {
  const time = { nowMs: 0 };
  const checks = new ContractChecks(() => time.nowMs);
  for (let i = 0; i < CONTRACT_CHECKS_PER_MINUTE; i++) await checks.run(client("192.0.2.1"), done);
  await expect(checks.run(client("192.0.2.1"), done)).rejects.toMatchObject({
    code: "rate_limited",
    details: { limit: "contract-checks", retryAfterMs: 6_000 },
  });
  expect(await checks.run(client("192.0.2.2"), done)).toBe(true);
  time.nowMs = 6_000;
  expect(await checks.run(client("192.0.2.1"), done)).toBe(true);
});

test("sixteen checks in flight: one more is 503 until one has ended, whatever its end", async () => {
  const checks = new ContractChecks();
  const ends: ((error: Error) => void)[] = [];
  const held = Array.from({ length: MAX_CONTRACT_CHECKS_IN_FLIGHT }, (_, i) =>
    checks.run(client(`192.0.2.${i}`), () => new Promise((_, reject) => ends.push(reject))),
  );
  await expect(checks.run(client("198.51.100.1"), done)).rejects.toMatchObject({
    code: "overloaded",
  });
  ends[0]?.(new Error("the chain is gone"));
  await expect(held[0]).rejects.toThrow("the chain is gone");
  expect(await checks.run(client("198.51.100.1"), done)).toBe(true);
});
