/** Sends signed orders to a process until it ends, and records what it acknowledged. */

import { expect } from "vitest";
import type { ProcessClient } from "./client.js";
import { expectKept, type GivenReceipt } from "./judged-receipts.js";

interface Acknowledged {
  readonly client: ProcessClient;
  readonly nonce: number;
  readonly orderId: unknown;
  readonly ackNonce: unknown;
  readonly given: GivenReceipt;
}

export class OrderFlow {
  readonly acknowledged: Acknowledged[] = [];
  private readonly ended: Promise<unknown>;
  private onAcknowledged: () => void = () => undefined;

  /** Every client keeps `inFlight` orders in flight. */
  constructor(clients: readonly ProcessClient[], firstNonce: number, inFlight: number) {
    const senders = clients.flatMap((client) =>
      Array.from({ length: inFlight }, (_, at) => this.send(client, firstNonce + at, inFlight)),
    );
    this.ended = Promise.all(senders);
  }

  /** Resolves once `count` orders are acknowledged. */
  async reached(count: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.onAcknowledged = () => {
        if (this.acknowledged.length >= count) resolve();
      };
      this.onAcknowledged();
    });
  }

  /** Resolves once the process takes no more orders. */
  async over(): Promise<void> {
    await this.ended;
  }

  private async send(client: ProcessClient, first: number, step: number): Promise<void> {
    for (let nonce = first; ; nonce += step) {
      const order = orderOf(nonce);
      const answer = await client.place(order).catch(() => undefined);
      if (answer === undefined || answer.status >= 500) return;
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      const { orderId, ackNonce } = answer.body;
      const given = {
        address: client.wallet.address,
        request: JSON.stringify(order),
        ack: answer.body,
      };
      this.acknowledged.push({ client, nonce, orderId, ackNonce, given });
      this.onAcknowledged();
    }
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
    for (const { nonce, orderId } of own.slice(-LISTED)) {
      expect(listed.get(nonce), `nonce ${nonce}`).toBe(orderId);
    }
    const last = own.at(-1);
    if (last === undefined) continue;
    const { nonce, orderId, ackNonce } = last;
    const found = await client.request("GET", `/v1/orders?status=all&nonce=${nonce}`);
    expect(found).toMatchObject({ status: 200, body: [{ orderId }] });
    const again = await client.place(orderOf(nonce));
    expect(again.headers.get("idempotent-replay"), `nonce ${nonce}`).toBe("true");
    expect(again.body).toMatchObject({ orderId, ackNonce });
  }
  await expectKept(
    flow.acknowledged.map(({ given }) => given),
    url,
  );
}

function ordersIn(body: unknown): { readonly orderId: unknown; readonly nonce: unknown }[] {
  return Array.isArray(body) ? body : [];
}

function orderOf(nonce: number): object {
  return { symbol: "BTCUSD", side: "long", type: "market", margin: 10, leverage: 2, nonce };
}
