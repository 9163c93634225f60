/** `perpgate attest` as a process whose venue does not answer. */

import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { chainSettings, until } from "../serve/bridge/testing/chain-process.js";
import { configurationFile, PerpgateProcess } from "../testing/perpgate-process.js";

const SEED = "5e".repeat(32);
const CHAIN = {
  rpc: "http://127.0.0.1:1",
  vault: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
  usdc: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
} as const;

test("a venue that is down: failed polls are counted, and the log has one line and no stack", async () => {
  // Accepts connections and answers unlike a venue.
  const nobody = createServer((_request, response) => void response.writeHead(502).end("{}"));
  await new Promise<void>((resolve) => nobody.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void nobody.close());
  const address = nobody.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const config = configurationFile(chainSettings(CHAIN, {}));
  const venue = `http://127.0.0.1:${address.port}`;
  const args = ["attest", "--venue", venue, "--config", config, "--metrics-port", "0"];
  const attestor = new PerpgateProcess(args, { PERPGATE_ATTESTOR_KEY: SEED });
  const [, status = ""] = await attestor.line(/^metrics (http:\S+)\/metrics$/m);
  const failures = async (): Promise<number> => {
    const text = await (await fetch(`${status}/metrics`)).text();
    const found = /^perpgate_bridge_poll_failures_total\{chain="ethereum"\} (\d+)$/m.exec(text);
    return Number(found?.[1] ?? 0);
  };
  await until(failures, (count) => count >= 3);
  expect((await fetch(`${status}/healthz`)).status).toBe(200);
  // A minute of failures makes it unready; a few do not.
  expect((await fetch(`${status}/readyz`)).status).toBe(200);
  attestor.signal("SIGTERM");
  const { stderr, code } = await attestor.ended;
  expect(code).toBe(0);
  const lines = stderr.trim().split("\n");
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    chain: "ethereum",
    reason: "the venue responded 502: no code",
  });
}, 120_000);
