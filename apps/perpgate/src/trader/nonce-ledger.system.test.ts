import { execFile } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { clockNonce } from "@perpgate/protocol/core";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { claimNonce, isClaimed } from "./signed-request.js";

const BUILT = fileURLToPath(new URL("../../dist/trader/signed-request.js", import.meta.url));
const NOW_MS = 1_794_722_400_000;

function ledger(): string {
  return join(temporaryFolder(), "nonces");
}

describe("claimNonce", () => {
  test("rises, also while the clock stands still or goes back", () => {
    const path = ledger();
    const first = claimNonce(path, NOW_MS);
    expect(claimNonce(path, NOW_MS)).toBe(first + 1);
    expect(claimNonce(path, NOW_MS - 60_000)).toBe(first + 2);
    expect(claimNonce(path, NOW_MS + 1)).toBe(first + 8_192);
  });

  test("a safe integer as long as the SDK's nonces", () => {
    expect(claimNonce(ledger(), Date.UTC(2057, 0))).toBeLessThan(Number.MAX_SAFE_INTEGER);
    expect(claimNonce(ledger(), 0)).toBeGreaterThanOrEqual(0);
  });

  test("a line cut short by a full disk: the next claims are intact and new", () => {
    const path = ledger();
    const before = claimNonce(path, NOW_MS);
    appendFileSync(path, "7421");
    const after = claimNonce(path, NOW_MS);
    expect(after).toBeGreaterThan(before);
    expect(claimNonce(path, NOW_MS)).toBeGreaterThan(after);
  });

  test("concurrent processes: no nonce twice", async () => {
    const path = ledger();
    const script = `
      import { claimNonce } from ${JSON.stringify(BUILT)};
      const claimed = [];
      for (let n = 0; n < 100; n++) claimed.push(claimNonce(${JSON.stringify(path)}, ${NOW_MS}));
      console.log(JSON.stringify(claimed));`;
    const run = () => promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    const claimed = await Promise.all([run(), run(), run(), run()]);
    const all = claimed.flatMap(({ stdout }): number[] => JSON.parse(stdout));
    expect(new Set(all).size).toBe(400);
  });
});

test("isClaimed: the nonces that were given out, not the times of their lines", () => {
  const path = ledger();
  expect(isClaimed(path, 0)).toBe(false);
  const first = claimNonce(path, NOW_MS);
  const second = claimNonce(path, NOW_MS - 60_000);
  expect([first, second].map((nonce) => isClaimed(path, nonce))).toEqual([true, true]);
  expect(isClaimed(path, second + 1)).toBe(false);
  expect(isClaimed(path, clockNonce(NOW_MS - 60_000))).toBe(false);
});
