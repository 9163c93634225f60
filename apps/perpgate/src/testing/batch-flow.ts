/** Sends signed batches to a process until it ends; each is then there as a whole, or not at all. */

import { expect } from "vitest";
import type { ClientAnswer, ProcessClient } from "./client.js";
import { SignedFlow } from "./signed-flow.js";

export class BatchFlow extends SignedFlow<ReturnType<typeof batchOf>> {
  constructor(clients: readonly ProcessClient[], inFlight: number) {
    super(clients, inFlight, "/v1/orders/batch", batchOf);
  }
}

/** Fails unless every batch is whole or absent, and its body gets the results that it had. */
export async function expectWholeBatches(flow: BatchFlow, url: string): Promise<void> {
  for (const client of new Set(flow.sent.map((batch) => batch.client))) client.url = url;
  for (const batch of flow.sent) {
    const { nonce } = batch.body;
    const before = await ordersOf(batch.client, nonce);
    expect(before, `batch ${nonce}`).toBeOneOf([[], EXPECTED]);
    if (batch.answer !== undefined) expect(before, `batch ${nonce}`).toEqual(EXPECTED);
    const again = await flow.post(batch);
    const isReplay = again.headers.get("idempotent-replay") === "true";
    expect(isReplay, `batch ${nonce}`).toBe(before.length > 0);
    if (batch.answer !== undefined) expect(resultsOf(again)).toEqual(resultsOf(batch.answer));
    expect(await ordersOf(batch.client, nonce), `batch ${nonce}`).toEqual(EXPECTED);
  }
  // Otherwise the kill came too late to test anything.
  expect(flow.sent.some(({ answer }) => answer === undefined)).toBe(true);
}

/** What a batch did, without what belongs to one answer alone: how long it took, its receipt. */
function resultsOf({ body }: ClientAnswer): unknown {
  return JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    key === "elapsedMs" || key === "receipt" ? undefined : value,
  );
}

/** Status and price of the three orders of a batch. */
const EXPECTED = ["resting 60001", "resting 60000", "canceled 59000"];

function batchOf(nonce: number) {
  const bid = { op: "place", symbol: "BTCUSD", side: "long", type: "limit", size: 0.0001 };
  const place = (name: string, price: number) => {
    return { ...bid, leverage: 10, price, clientOrderId: `${name}-${nonce}` };
  };
  const operations = [
    place("a", 59_500),
    place("b", 60_000),
    place("c", 59_000),
    { op: "amend", clientOrderId: `a-${nonce}`, price: 60_001 },
    { op: "cancel", clientOrderId: `c-${nonce}` },
  ];
  return { nonce, operations };
}

/** The orders of a batch in the order of its operations; those that are not there are left out. */
async function ordersOf(client: ProcessClient, nonce: number): Promise<string[]> {
  const { body } = await client.request("GET", `/v1/orders?status=all&nonce=${nonce}`);
  const orders: { clientOrderId: string; status: string; price: number }[] = [];
  if (Array.isArray(body)) orders.push(...body);
  return orders
    .sort((a, b) => (a.clientOrderId < b.clientOrderId ? -1 : 1))
    .map(({ status, price }) => `${status} ${price}`);
}
