/** `perpgate attest` as a process whose venue does not answer. */

import { serve } from "@perpgate/protocol/testing/serve";
import { expect, test } from "vitest";
import {
  AttestedVenue,
  MEMBERS,
  SEEDS,
  USDC,
  VAULT,
} from "../serve/bridge/testing/attested-venue.js";
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
  const venue = await serve((_request, response) => void response.writeHead(502).end("{}"));
  const config = configurationFile(chainSettings(CHAIN, {}));
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
});

test("SIGTERM while the venue does not answer: code 0, and no further request", async () => {
  const { at } = await AttestedVenue.run();
  const asked: (string | undefined)[] = [];
  // Passes on the venue's terms; the queue is never answered.
  const venue = await serve((request, response) => {
    if (request.method !== "GET") asked.push(request.url);
    else void fetch(at.url + request.url).then(async (terms) => response.end(await terms.text()));
  });
  const ethereum = {
    rpc: [CHAIN.rpc],
    vault: VAULT,
    tokens: {
      USDC: { contract: USDC },
      USDT: { contract: "0xdAC17F958D2ee523a2206206994597C13D831ec7" },
    },
  };
  const bridge = { members: MEMBERS, quorum: 2, chains: { ethereum } };
  const config = configurationFile(chainSettings(CHAIN, bridge));
  const args = ["attest", "--venue", venue, "--config", config, "--metrics-port", "0"];
  const attestor = new PerpgateProcess(args, { PERPGATE_ATTESTOR_KEY: SEEDS[0] });
  await until(
    async () => asked.length,
    (count) => count > 0,
  );
  attestor.signal("SIGTERM");
  expect(await attestor.ended).toMatchObject({ code: 0, stderr: "" });
  expect(asked).toEqual(["/v1/bridge/queue"]);
});
