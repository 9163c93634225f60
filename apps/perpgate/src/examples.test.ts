/** The examples as a reader runs them: against a real gateway, each in a process of its own. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { PerpgateProcess, temporaryFolder } from "./testing/perpgate-process.js";

const EXAMPLES = fileURLToPath(new URL("../../../examples/", import.meta.url));

async function untilReady(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/readyz`);
    await response.arrayBuffer();
    if (response.ok) return;
  }
}

test("first-trade: two fresh wallets sign in, and one takes what the other quotes", async () => {
  const gateway = new PerpgateProcess(["--port", "0", "--data", temporaryFolder(), "--no-bots"]);
  const url = await gateway.url();
  await untilReady(url);
  const { stdout } = await promisify(execFile)(process.execPath, [
    `${EXAMPLES}first-trade.mjs`,
    url,
  ]);
  expect(stdout).toMatch(/^BTCUSD mark \d/);
  expect(stdout).toMatch(/maker 0x\w{40}: resting, order \d+/);
  expect(stdout).toMatch(/taker 0x\w{40}: filled\n {2}0\.01538 BTC at 6\d{4}/);
  expect(stdout).toMatch(/preconfirmed in [\d.]+ ms, for block \d+/);
});
