import { createHash } from "node:crypto";
import { join } from "node:path";
import { POLL } from "@perpgate/journal/testing";
import { judgeReceipt } from "@perpgate/sdk";
import { describe, expect, test } from "vitest";
import { BatchFlow, expectWholeBatches } from "../testing/batch-flow.js";
import { ProcessClient } from "../testing/client.js";
import {
  configurationFile,
  PerpgateProcess,
  temporaryFolder,
  UNLIMITED,
} from "../testing/perpgate-process.js";

const LIMIT = {
  symbol: "BTCUSD",
  side: "long",
  type: "limit",
  margin: 100,
  leverage: 5,
  price: 60_000,
  nonce: 1,
};

async function start(data: string, content: object = {}) {
  const config = configurationFile({ logLevel: "error", ...content });
  const child = new PerpgateProcess(["--port", "0", "--data", data, "--config", config]);
  return { child, url: await child.url() };
}

describe("a process that trades", () => {
  test("killed with batches in flight: the next process knows sessions, orders and whole batches", async () => {
    const data = join(temporaryFolder(), "data");
    const before = await start(data, { limits: UNLIMITED });
    const client = new ProcessClient(before.url);
    expect((await client.signIn()).status).toBe(200);
    const placed = await client.place(LIMIT);
    expect(placed.body).toMatchObject({ status: "resting", elapsedMs: expect.any(Number) });
    const others = [new ProcessClient(before.url), new ProcessClient(before.url)];
    for (const other of others) await other.signIn();
    const flow = new BatchFlow(others, 4);
    await flow.reached(20);
    before.child.killAll();
    await before.child.ended;
    await flow.over();

    const after = await start(data, { limits: UNLIMITED });
    client.url = after.url;
    await expectWholeBatches(flow, after.url);
    const again = await client.place(LIMIT);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    // Time and receipt are of the answering process.
    const own = { elapsedMs: expect.any(Number), receipt: expect.any(String) };
    expect(again.body).toEqual({ ...placed.body, ...own });
    expect((await client.request("GET", "/v1/orders")).body).toMatchObject([
      { orderId: placed.body.orderId, status: "resting" },
    ]);
    // What the killed process has signed, the next one keeps.
    const { logKey, venueId } = Object((await client.request("GET", "/v1/honesty")).body);
    const file = {
      ...{ format: "perpgate-receipt/1", logKey, venueId, address: client.wallet.address },
      position: Number(placed.body.ackNonce),
      block: placed.body.expectedBlock,
      requestHash: createHash("sha256").update(JSON.stringify(LIMIT)).digest("hex"),
      receipt: placed.body.receipt,
    };
    const verdictOf = async () => (await judgeReceipt(file, { url: after.url })).verdict;
    await expect.poll(verdictOf, POLL).toBe("kept");
    expect((await client.place({ ...LIMIT, nonce: 2 })).status).toBe(200);
    const canceled = await client.request("POST", `/v1/orders/${placed.body.orderId}/cancel`);
    expect(canceled.body).toMatchObject({ status: "canceled" });
  });
});
