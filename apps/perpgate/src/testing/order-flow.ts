/** Orders that are sent to a process until it ends; the next one has all that were acknowledged. */

import { expect } from "vitest";
import type { ProcessClient } from "./client.js";
import { expectKept } from "./judged-receipts.js";
import { SignedFlow } from "./signed-flow.js";

export class OrderFlow extends SignedFlow<ReturnType<typeof orderOf>> {
  constructor(clients: readonly ProcessClient[], inFlight: number) {
    super(clients, inFlight, "/v1/orders", orderOf);
  }
}

/** `status=all` lists at most this many orders, newest first. */
const LISTED = 1_000;

/**
 * Fails unless the process at `url` has every acknowledged order under the same id, and repeats the
 * acknowledgement of each client's last order, and keeps what its receipts promised.
 */
export async function expectAll(flow: OrderFlow, url: string): Promise<void> {
  const clients = new Set(flow.acknowledged.map(({ client }) => client));
  for (const client of clients) {
    client.url = url;
    const own = flow.acknowledged.filter((order) => order.client === client);
    const { body } = await client.request("GET", "/v1/orders?status=all");
    const listed = new Map(ordersIn(body).map(({ orderId, nonce }) => [nonce, orderId]));
    for (const { body, answer } of own.slice(-LISTED)) {
      expect(listed.get(body.nonce), `nonce ${body.nonce}`).toBe(answer.body.orderId);
    }
    const last = own.at(-1);
    if (last === undefined) continue;
    const { nonce } = last.body;
    const { orderId, ackNonce } = last.answer.body;
    const found = await client.request("GET", `/v1/orders?status=all&nonce=${nonce}`);
    expect(found).toMatchObject({ status: 200, body: [{ orderId }] });
    const again = await flow.post(last);
    expect(again.headers.get("idempotent-replay"), `nonce ${nonce}`).toBe("true");
    expect(again.body).toMatchObject({ orderId, ackNonce });
  }
  const given = flow.acknowledged.map(({ client, body, answer }) => {
    return { address: client.wallet.address, request: JSON.stringify(body), ack: answer.body };
  });
  await expectKept(given, url);
}

function ordersIn(body: unknown): { readonly orderId: unknown; readonly nonce: unknown }[] {
  return Array.isArray(body) ? body : [];
}

function orderOf(nonce: number) {
  return { symbol: "BTCUSD", side: "long", type: "market", margin: 10, leverage: 2, nonce };
}
